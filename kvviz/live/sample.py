"""What a run tells: how it began, one sample a step, how it ended. All of it goes through JSON and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kvviz.text import Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The device's memory at one moment, in bytes; None: not to be known here."""

    total_bytes: int | None = None
    free_bytes: int | None = None
    """For anybody, as the driver or the kernel says."""
    allocated_bytes: int | None = None
    """CUDA: what tensors hold, each rounded up by the allocator."""
    requested_bytes: int | None = None
    """CUDA: the same before rounding."""
    reserved_bytes: int | None = None
    """CUDA: segments that PyTorch has taken from the driver, full or not."""
    peak_bytes: int | None = None
    """CUDA: most that was allocated during the step."""
    resident_bytes: int | None = None
    """CPU: resident set of the process."""

    def json(self) -> dict[str, int]:
        """Only what is known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What is about to run."""

    model: str
    random_weights: bool
    why_random: str
    """``no-hub``, ``no-weights``, or empty."""
    device: str
    """``cpu`` or ``cuda``, and which."""
    dtype: str
    cache: str
    batch: int
    layers: int
    parameters: int
    weights_bytes: int
    """Storages behind parameters and buffers, each once."""
    prompt_tokens: int
    new_tokens: int
    encoder_tokens: int
    """Of the encoder's output; 0 where there is no encoder."""
    predicted_bytes: tuple[int, ...] | None
    """Of every sample to come; None: kvviz has no rule for this cache."""
    why_not_predicted: Mapping[str, str] | None
    """The same sentence by language, where it has none."""
    load_s: float
    before_load: Memory
    after_load: Memory
    versions: Mapping[str, str]

    def json(self) -> dict[str, Any]:
        """As JSON carries it."""
        memories = {"before_load": self.before_load.json(), "after_load": self.after_load.json()}
        return asdict(self) | memories


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One moment at rest: after the prompt, and after every further token."""

    tokens: int
    """In the cache, of one sequence."""
    new_tokens: int
    """Generated so far, of one sequence."""
    predicted_bytes: int | None
    measured_bytes: int
    """Storages behind the cache's tensors, each once."""
    used_bytes: int | None
    """Of a paged pool: blocks that are handed out; None for other caches."""
    counter_bytes: int
    """Whole numbers that the cache keeps beside keys and values; not in ``measured_bytes``."""
    rounding_bytes: int | None
    """What the allocator adds to the cache's storages; None: not to be known here."""
    seconds: float
    """Of the step."""
    text: str
    """What the step added to the first sequence."""
    memory: Memory

    @property
    def residual_bytes(self) -> int | None:
        """Measured less predicted."""
        return None if self.predicted_bytes is None else self.measured_bytes - self.predicted_bytes

    def json(self) -> dict[str, Any]:
        """As JSON carries it."""
        return {
            "tokens": self.tokens,
            "new_tokens": self.new_tokens,
            "predicted_bytes": self.predicted_bytes,
            "measured_bytes": self.measured_bytes,
            "residual_bytes": self.residual_bytes,
            "used_bytes": self.used_bytes,
            "counter_bytes": self.counter_bytes,
            "rounding_bytes": self.rounding_bytes,
            "seconds": self.seconds,
            "text": self.text,
            "memory": self.memory.json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run that gave an answer ended."""

    stopped: str
    """``tokens``: all were generated; ``seconds``: time was up; ``cancelled``."""
    seconds: float
    """From the first step to the last."""
    after: Memory
    """Once the run's cache was given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a run gave no answer, in both languages: it comes from another process."""

    code: str
    en: str
    ja: str

    def __call__(self, lang: Lang) -> str:
        """The sentence."""
        return self.ja if lang == "ja" else self.en


def started_from(values: Mapping[str, Any]) -> Started:
    """What ``Started.json`` wrote."""
    predicted = values["predicted_bytes"]
    more = {
        "predicted_bytes": None if predicted is None else tuple(predicted),
        "before_load": Memory(**values["before_load"]),
        "after_load": Memory(**values["after_load"]),
    }
    return Started(**{**values, **more})


def sample_from(values: Mapping[str, Any]) -> Sample:
    """What ``Sample.json`` wrote."""
    kept = {name: value for name, value in values.items() if name != "residual_bytes"}
    return Sample(**{**kept, "memory": Memory(**values["memory"])})


def ended_from(values: Mapping[str, Any]) -> Ended:
    """What ``asdict`` made of an ``Ended``."""
    return Ended(**{**values, "after": Memory(**values["after"])})


def summary(started: Started, samples: Sequence[Sample], ended: Ended) -> dict[str, Any]:
    """A run in a few figures: a stable contract of ``kvviz live --json``."""
    last = samples[-1]
    return {
        "predicted_bytes": last.predicted_bytes,
        "measured_bytes": last.measured_bytes,
        "residual_bytes": last.residual_bytes,
        "largest_residual_bytes": _largest(s.residual_bytes for s in samples),
        "rounding_bytes": last.rounding_bytes,
        "tokens": last.tokens,
        "new_tokens": last.new_tokens,
        "seconds": ended.seconds,
        "tokens_per_s": speed(samples),
        "stopped": ended.stopped,
        "device": started.device,
        "model": started.model,
        "random_weights": started.random_weights,
        "dtype": started.dtype,
        "cache": started.cache,
        "batch": started.batch,
        "weights_bytes": started.weights_bytes,
        "versions": dict(started.versions),
    }


def speed(samples: Sequence[Sample]) -> float | None:
    """Tokens a second of one sequence after the prompt; None until there are some."""
    seconds = sum(s.seconds for s in samples[1:])
    return (len(samples) - 1) / seconds if seconds > 0 else None


def _largest(residuals: Iterable[int | None]) -> int | None:
    known = [r for r in residuals if r is not None]
    return max(known, key=abs) if known else None
