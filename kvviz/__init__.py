"""kvviz: how much memory a language model's KV cache takes, why, and what to do about it."""

__version__ = "0.1.0"
