"""A scenario under review: what it rests on, and how it differs from another, one setting after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.devices import device
from kvviz.estimate import Basis
from kvviz.export import fraction_taken, settings_in_use
from kvviz.planning import name_of
from kvviz.scenario import DEFAULTS, FIELDS, Scenario, Value
from kvviz.sizing import Sizing
from kvviz.text import Message, Text
from kvviz.text import charts as parts
from kvviz.text import dispute as text
from kvviz.text import sizing as labels
from kvviz.verdict import short_name

Badge = Literal["default", "changed", "estimate"]

_MODEL: Final = ("model", "revision", "config")
"""One setting to a person."""
_FAMILIES: Final[tuple[tuple[str, ...], ...]] = (
    ("model", "weight_dtype", "weights_gib"),
    (
        "engine",
        "engine_version",
        "kv_dtype",
        "v_dtype",
        "unified",
        "block_tokens",
        "prefix_caching",
        "full_windows",
        "draft_layers",
        "draft_tokens",
        "batched_tokens",
        "in_flight_tokens",
        "memory_fraction",
    ),
    ("gpu", "gpus", "tp", "pp", "dp", "attention_dp", "dcp"),
    ("input", "output", "passages", "passage_tokens", "max_model_len", "shared_tokens", "typical"),
    ("activations_gib", "non_torch_gib", "graphs_gib", "headroom"),
    ("users", "answer_s", "seconds_between", "sequences"),
)
"""What is changed first, and which settings may work only together: the model, how it is stored, where it runs, how
long the requests are, what is left for them, how many there are."""
_MOST_TOGETHER: Final = 3
"""Settings of one family that are tried together before the whole family is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One thing an answer rests on."""

    label: Text
    value: str | Message
    badge: Badge
    source: Message | None = None
    """Of an estimate, where it comes from; of a changed setting, what it is by default."""
    basis: Basis | None = None
    """Of an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting that differs."""

    field: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Settings that change at once, and the answer before and after."""

    changes: tuple[Change, ...]
    before: Sizing
    after: Sizing

    @property
    def requests_more(self) -> int | None:
        """Requests at once that the step adds; None where either side has no number."""
        before, after = self.before.max_sequences_counted, self.after.max_sequences_counted
        return None if before is None or after is None else after - before

    @property
    def bytes_more(self) -> int:
        """Bytes of one request that the step adds."""
        return bytes_of(self.after) - bytes_of(self.before)

    @property
    def pool_more(self) -> int:
        """Bytes of one GPU's pool that the step adds."""
        return (pool_of(self.after) or 0) - (pool_of(self.before) or 0)

    @property
    def counts(self) -> bool:
        """Whether it changes anything of the answer."""
        same_fit = self.before.fits == self.after.fits and self.before.short_bytes == self.after.short_bytes
        return bool(self.requests_more or self.bytes_more or self.pool_more) or not same_fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two answers, and the way from one to the other."""

    a: Sizing
    b: Sizing
    steps: tuple[Step, ...]

    @property
    def requests_more(self) -> int | None:
        """Requests at once that B has more than A: exactly the sum over the steps."""
        if self.a.max_sequences_counted is None or self.b.max_sequences_counted is None:
            return None
        return self.b.max_sequences_counted - self.a.max_sequences_counted


def bytes_of(sizing: Sizing) -> int:
    """One request as the engine counts it on the fullest GPU; its content where the engine has no count."""
    return sizing.content_bytes if sizing.request_bytes is None else sizing.request_bytes


def pool_of(sizing: Sizing) -> int | None:
    """The pool on one GPU; None where there is no budget."""
    return None if sizing.budget is None else sizing.budget.pool_bytes


def assumptions(sizing: Sizing) -> tuple[Assumption, ...]:
    """Everything the answer rests on: what was changed, what was estimated, what was left as it is."""
    made = [*_settings(sizing), *_estimates(sizing)]
    order: tuple[Badge, ...] = ("changed", "estimate", "default")
    return tuple(sorted(made, key=lambda assumption: order.index(assumption.badge)))


def _settings(sizing: Sizing) -> Iterator[Assumption]:
    scenario = sizing.scenario
    for name in ("engine", *settings_in_use(scenario)):
        value, default = getattr(scenario, name), DEFAULTS[name]
        said = written(name, value)
        if name == "kv_dtype" and value != sizing.kv_dtype.name:
            said = f"{value} → {sizing.kv_dtype.name}"
        if name == "memory_fraction":
            said = fraction_taken(sizing) or said
        changed = value != default
        source = Message(text.DEFAULT_IS, {"value": written(name, default)}) if changed else None
        if name == "kv_dtype" and not changed:
            source = sizing.kv_dtype_reason
        yield Assumption(label=label(name), value=said, badge="changed" if changed else "default", source=source)


def _estimates(sizing: Sizing) -> Iterator[Assumption]:
    if sizing.budget is None:
        return
    typed = sizing.scenario
    terms = (
        (parts.HIDDEN, sizing.budget.hidden, None),
        (parts.WEIGHTS, sizing.budget.weights, typed.weights_gib),
        (parts.ACTIVATIONS, sizing.budget.activations, typed.activations_gib),
        (parts.GRAPHS, sizing.budget.graphs, typed.graphs_gib),
        (parts.NON_TORCH, sizing.budget.non_torch, typed.non_torch_gib),
    )
    for label, term, entered in terms:
        if term.basis != "exact" and entered is None:
            value = Message(text.PER_GPU, {"bytes": format_bytes(term.value_bytes)})
            yield Assumption(label=label, value=value, badge="estimate", source=term.source, basis=term.basis)


def label(field: str) -> Text:
    """What a setting is called where nothing stands beside it."""
    return text.GPUS if field == "gpus" else labels.LABELS[field]


def written(field: str, value: Value) -> str | Message:
    """A setting's value as it is shown."""
    if value is None:
        return Message(labels.AUTO)
    if field == "gpu":
        return short_name(device(str(value)).name) if value else Message(labels.NO_GPU)
    if field == "engine":
        return name_of(str(value))
    return format_count(value) if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else value


def differing(a: Scenario, b: Scenario) -> tuple[Change, ...]:
    """The settings that differ, in the order in which they are changed."""
    ordered = [field for family in _FAMILIES for field in family]
    known = {*ordered, *_MODEL}
    ordered += [field for field in FIELDS if field not in known]
    changes = []
    for field in ordered:
        before, after = getattr(a, field), getattr(b, field)
        if field == "model" and before == after and (a.revision, a.config) != (b.revision, b.config):
            before, after = (f"{s.model} @ {s.revision[:12] or labels.AUTO('en')}" for s in (a, b))
        if before != after or (field == "model" and a.config != b.config):
            changes.append(Change(field=field, before=before, after=after))
    return tuple(changes)


def dispute(a: Scenario, b: Scenario, sized: Callable[[Scenario], Sizing]) -> Dispute:
    """The way from ``a`` to ``b``: one differing setting at a time, several at once where they work only together.

    ``sized`` answers a scenario and raises KvvizError where it cannot be run, which ``a`` and ``b`` themselves must be.
    """
    first, last = sized(a), sized(b)
    a, b = first.scenario, last.scenario  # with the revisions that were read
    counted = first.max_sequences_counted is not None and last.max_sequences_counted is not None

    def tried(scenario: Scenario, changes: tuple[Change, ...]) -> Sizing | None:
        """The answer with these changes made; None where there is none, or no number where both ends have one."""
        try:
            answered = sized(_changed(scenario, b, changes))
        except KvvizError:
            return None
        return None if counted and answered.max_sequences_counted is None else answered

    left, at, now = list(differing(a, b)), a, first
    steps: list[Step] = []
    while left:
        for changes in _groups(left):
            after = last if len(changes) == len(left) else tried(at, changes)
            if after is not None:
                break
        steps.append(Step(changes=changes, before=now, after=after or last))
        left = [change for change in left if change not in changes]
        now = after or last
        at = _changed(at, b, changes) if left else b
    return Dispute(a=first, b=last, steps=tuple(steps))


def _changed(scenario: Scenario, like: Scenario, changes: tuple[Change, ...]) -> Scenario:
    """``scenario`` with these settings as in ``like``."""
    names = [name for c in changes for name in (_MODEL if c.field == "model" else (c.field,))]
    return scenario.with_changes(**{name: getattr(like, name) for name in names})


def _groups(left: list[Change]) -> Iterator[tuple[Change, ...]]:
    """What can be changed next: one setting, a few of one family, a whole family, two families, all that is left."""
    for change in left:
        yield (change,)
    families = [tuple(c for c in left if c.field in family) for family in _FAMILIES]
    families = [family for family in families if family]
    for size in range(2, _MOST_TOGETHER + 1):
        for family in families:
            yield from combinations(family, size)
    yield from families
    for pair in combinations(families, 2):
        yield pair[0] + pair[1]
    yield tuple(left)
