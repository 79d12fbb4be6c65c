"""Engines that run elsewhere: vLLM, SGLang and llama.cpp's server, read through their metrics."""

from kvviz.serving.ask import EngineError
from kvviz.serving.history import Hits, Sample, hits_in_all, hits_lately, restarted, with_look
from kvviz.serving.prediction import Line, Prediction, predict
from kvviz.serving.reading import Identity, Rank, Reading, poll, published_names, served_name, usage_of
from kvviz.serving.settings import VARIABLE, Address, read_addresses
from kvviz.serving.totals import Total, answering, totals
from kvviz.serving.watch import Look, look

__all__ = [
    "VARIABLE",
    "Address",
    "EngineError",
    "Hits",
    "Identity",
    "Line",
    "Look",
    "Prediction",
    "Rank",
    "Reading",
    "Sample",
    "Total",
    "answering",
    "hits_in_all",
    "hits_lately",
    "look",
    "poll",
    "predict",
    "published_names",
    "read_addresses",
    "restarted",
    "served_name",
    "totals",
    "usage_of",
    "with_look",
]
