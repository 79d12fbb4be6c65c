"""A scenario's model -> its cache layout and weights: the bundled config, or the one the scenario carries."""

from dataclasses import dataclass

from kvviz.catalogue import Loaded, load, revision_of
from kvviz.core.architecture import Architecture, Note, read_config
from kvviz.estimate import Estimate
from kvviz.links import unpack_config
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import Message
from kvviz.text import catalogue as text
from kvviz.weights import typed_weights, weights, what_if, why_unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What sizing needs to know about the model."""

    scenario: Scenario
    """With the model as the Hub spells it and the revision of the config that was read."""
    architecture: Architecture
    weights: Estimate | None
    """Of the whole model; None where nobody counted them and none were typed."""
    notes: tuple[Note, ...]

    def size(self) -> Sizing:
        """The answer to the scenario."""
        return size(self.architecture, self.scenario, weights=self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A model that is neither bundled nor carried by the scenario, with what is known of its weights as published."""

    loaded: Loaded
    weights: Estimate | None
    weights_unknown: Message | None


def resolve(scenario: Scenario, *, given: Loaded | Given | None = None) -> Resolved:
    """Read the scenario's model: ``given`` (a file, or what a Hub said), else the scenario's config, else the bundled.

    Raises KvvizError where there is none, or where it cannot be read.
    """
    published: Given | None = None
    if isinstance(given, Given):
        published, given = given, given.loaded
    of_file = given is not None
    bundled = given is None and not scenario.config
    if given is None:
        given = _carried(scenario) if scenario.config else load(scenario.model)
    notes = given.notes
    # A link to a file's answer pins the file and carries only its fields: those two cannot be compared.
    if (bundled or of_file) and scenario.revision not in ("", given.revision):
        values = {"linked": scenario.revision, "current": given.revision}
        sentence = text.REVISION_OF_FILE if of_file else text.REVISION_DIFFERS
        if bundled and not scenario.revision.startswith("sha256:"):  # one of the Hub, which was not read
            sentence = text.REVISION_NOT_READ
        notes = (*notes, Note(code="revision-differs", message=Message(sentence, values)))
    estimate = None
    if scenario.weights_gib is not None:
        estimate = typed_weights(scenario.weights_gib)
    elif bundled:  # a name someone gave to a config says nothing about its weights
        estimate = weights(given.model, weight_dtype=scenario.weight_dtype, dtype=given.architecture.dtype)
        if estimate is None and scenario.gpu:
            why = why_unknown(given.model, weight_dtype=scenario.weight_dtype)
            notes = (*notes, Note(code="weights-not-counted", message=why))
    elif published is not None:
        estimate = published.weights
        if estimate is not None and scenario.weight_dtype != "auto":
            parameters = estimate.parameters
            estimate = None if parameters is None else what_if(parameters, scenario.weight_dtype)
        if estimate is None and scenario.gpu:
            why = published.weights_unknown or Message(text.WEIGHTS_AS_STORED_ONLY, {"dtype": scenario.weight_dtype})
            notes = (*notes, Note(code="weights-not-counted", message=why))
    return Resolved(
        scenario=scenario.with_changes(model=given.model, config=scenario.config, revision=given.revision),
        architecture=given.architecture,
        weights=estimate,
        notes=notes,
    )


def _carried(scenario: Scenario) -> Loaded:
    config = unpack_config(scenario.config)
    return Loaded(model=scenario.model, config=config, architecture=read_config(config), revision=revision_of(config))
