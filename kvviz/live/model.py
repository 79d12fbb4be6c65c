"""Getting a model: from a folder, a GGUF file, the Hub; without a network its real architecture with random weights."""

import errno
import json
import logging
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import kvviz
from kvviz import catalogue, hub
from kvviz.core.architecture import Architecture, parse_config, read_config
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes
from kvviz.live.measure import is_out_of_memory, machine_memory, probe, storages
from kvviz.live.request import is_id, shown
from kvviz.live.sample import Memory
from kvviz.text import Message
from kvviz.text import live as text

if TYPE_CHECKING:
    import torch
    import transformers

_LOG: Final = logging.getLogger(__name__)
_HUB_SECONDS: Final = 5.0
"""The Hub's answer is waited for so long: its own client would try for most of a minute."""
_SHARD: Final = re.compile(r"-\d{5}-of-\d{5}\.safetensors$")
_NO_HUB: Final = frozenset({"hub-down", "hub-timeout", "hub-offline"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model in memory."""

    name: str
    model: "transformers.PreTrainedModel"
    tokenizer: "transformers.PreTrainedTokenizerBase | None"
    """None where there is none: then there is no text either."""
    architecture: Architecture | KvvizError
    """As kvviz reads its config, or why it cannot."""
    device: "torch.device"
    dtype: str
    why_random: str
    """``no-hub``, ``no-weights``, or empty: the weights are its own."""
    weights_bytes: int
    parameters: int
    load_s: float
    before_load: Memory
    after_load: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where a model's parts are."""

    name: str
    config: dict[str, object] | None
    """None: Transformers makes it from the file itself (GGUF)."""
    place: str
    """For ``from_pretrained``; empty: there are no weights."""
    more: dict[str, Any]
    """Arguments of ``from_pretrained``."""
    why_random: str = ""


def use_threads(wanted: int) -> None:
    """So many threads on a CPU; 0: all cores but one, for more than there are make every step many times slower."""
    import torch

    torch.set_num_threads(wanted or max(1, (os.cpu_count() or 2) - 1))


def device_of(name: str) -> "torch.device":
    """The torch device. Raises KvvizError where CUDA is asked for and there is none."""
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        raise KvvizError(Message(text.NO_CUDA), code="no-cuda")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name, torch.cuda.current_device()) if name == "cuda" else torch.device(name)


def device_name(device: "torch.device") -> str:
    """``cpu`` or ``cuda``, and which."""
    import torch

    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else f"cpu ({platform.machine()})"


def versions() -> dict[str, str]:
    """Of all that has a part in the figures."""
    import torch
    import transformers

    found = {
        "kvviz": kvviz.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    return found | ({"cuda": torch.version.cuda} if torch.version.cuda else {})


def load(name: str, *, device: str, dtype: str) -> Loaded:
    """One model on one device. Raises KvvizError for what a person can do something about."""
    hub.check_endpoint()  # Transformers cannot even be imported with one that is no address
    from torch import manual_seed

    on = device_of(device)
    probed = probe(on)
    probed.give_back()
    before, begun = probed.memory(), perf_counter()
    source = _find(name)
    manual_seed(0)
    model = _build(source, on, dtype)
    config = source.config or _config_of(model)
    return Loaded(
        name=source.name,
        model=model.eval(),
        tokenizer=_tokenizer(source),
        architecture=_architecture(config),
        device=on,
        dtype=dtype,
        why_random=source.why_random,
        weights_bytes=sum(storages([*model.parameters(), *model.buffers()])),
        parameters=sum(p.numel() for p in model.parameters()),
        load_s=perf_counter() - begun,
        before_load=before,
        after_load=probed.memory(),
    )


def _find(name: str) -> _Source:
    if is_id(name):
        return _on_hub(name)
    path = Path(name).expanduser()
    if path.suffix == ".gguf" and path.is_file():
        more = {"gguf_file": path.name}
        return _Source(name=shown(name), config=None, place=str(path.parent), more=more)
    if not (path / "config.json").is_file():
        raise KvvizError(Message(text.NO_SUCH_MODEL, {"model": shown(name)}), code="no-model")
    config = parse_config((path / "config.json").read_bytes())
    weights = any(path.glob("*.safetensors"))
    place = str(path) if weights else ""
    return _Source(name=shown(name), config=config, place=place, more={}, why_random="" if weights else "no-weights")


def _on_hub(name: str) -> _Source:
    """What lies in the Hub's cache on this machine first; then the Hub; then the bundled config."""
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(name, "config.json")
    if isinstance(cached, str) and _is_complete(Path(cached).parent):
        config = parse_config(Path(cached).read_bytes())
        return _Source(name=name, config=config, place=name, more={"local_files_only": True})
    try:
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
            raise hub.HubError(Message(text.RANDOM_NO_HUB, {"model": name}), code="hub-offline")
        found = hub.fetch_config(hub.ModelReference(repo_id=name), token=None, timeout_s=_HUB_SECONDS)
    except hub.HubError as error:
        if error.code not in _NO_HUB or name not in catalogue.models():
            raise
        config = dict(catalogue.load(name).config)
        return _Source(name=name, config=config, place="", more={}, why_random="no-hub")
    more = {"revision": found.commit_sha} if found.commit_sha else {}
    return _Source(name=found.repo_id, config=found.config, place=found.repo_id, more=more)


def _is_complete(snapshot: Path) -> bool:
    """All weights are there: what was cut off half way must be fetched on, not be taken for the model."""
    try:
        index = json.loads((snapshot / "model.safetensors.index.json").read_bytes())
        shards = set(index["weight_map"].values())
        return bool(shards) and all((snapshot / shard).is_file() for shard in shards)
    except FileNotFoundError:  # files of a sharded model are numbered: one of those without the index is a part
        return any(not _SHARD.search(file.name) for file in snapshot.glob("*.safetensors"))
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return False


def _build(source: _Source, device: "torch.device", dtype: str) -> "transformers.PreTrainedModel":
    import torch
    import transformers

    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[dtype]
    try:
        if source.place:
            how: dict[str, Any] = {"use_safetensors": True}
            if "gguf_file" in source.more:  # weights in the type that was asked for, as those of other files
                how = {"quantization_config": transformers.GgufConfig(dequantize=True)}
            auto = _auto_class(source.config or {})
            return auto.from_pretrained(source.place, dtype=kind, **how, **source.more).to(device)
        written = dict(source.config or {})
        config = transformers.CONFIG_MAPPING[str(written.get("model_type"))].from_dict(written)
        config.quantization_config = None
        auto = _auto_class(written | {"is_encoder_decoder": config.is_encoder_decoder})
        with torch.device("meta"):
            empty = auto.from_config(config, dtype=kind)
        _must_fit(source.name, sum(p.numel() * p.element_size() for p in empty.parameters()), device)
        return auto.from_config(config, dtype=kind).to(device)
    except KvvizError:
        raise
    except Exception as error:  # a config can be wrong in any way, and Transformers then raises whatever it likes
        if is_out_of_memory(error):
            raise
        # Only there: a library's words may name a mirror or a folder that is no visitor's business.
        _LOG.warning("%s was not loaded: %s: %s", source.name, type(error).__name__, " ".join(str(error).split()))
        is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        said = text.DISK_FULL if is_full else text.CANNOT_BUILD
        values = {"version": transformers.__version__, "model": source.name}
        raise KvvizError(Message(said, values), code="cannot-build") from error


def _auto_class(config: Mapping[str, object]) -> "type[transformers.AutoModelForCausalLM]":
    import transformers

    auto: type[transformers.AutoModelForCausalLM] = transformers.AutoModelForCausalLM
    if config.get("is_encoder_decoder"):
        hears = "num_mel_bins" in config
        auto = transformers.AutoModelForSpeechSeq2Seq if hears else transformers.AutoModelForSeq2SeqLM
    return auto


def _must_fit(name: str, needed: int, device: "torch.device") -> None:
    """Random weights are made in main memory, and only then moved."""
    free = machine_memory()[1]
    on_device = probe(device).memory().free_bytes
    least = min((f for f in (free, on_device) if f is not None), default=None)
    if least is not None and needed > least:
        raise too_large(name, needed, least)


def too_large(name: str, needed: int, free: int) -> KvvizError:
    """What a model or a run takes and what there is."""
    values = {"model": name, "needed": format_bytes(needed), "free": format_bytes(free)}
    return KvvizError(Message(text.TOO_LARGE, values), code="too-large")


def _tokenizer(source: _Source) -> "transformers.PreTrainedTokenizerBase | None":
    import transformers

    if not source.place:
        return None
    try:
        return transformers.AutoTokenizer.from_pretrained(source.place, **source.more)
    except (OSError, ValueError, KeyError, ImportError):  # weights without a tokenizer: numbers stand in for words
        return None


def _config_of(model: "transformers.PreTrainedModel") -> dict[str, object]:
    config: dict[str, object] = json.loads(model.config.to_json_string(use_diff=False))
    return config | {"architectures": [type(model).__name__]}


def _architecture(config: dict[str, object]) -> Architecture | KvvizError:
    try:
        return read_config(config)
    except KvvizError as error:
        return error
