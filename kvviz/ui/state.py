"""The Scenario of this session: read once from the link, kept in the widgets, written back to the address bar.

Widget key = Scenario field = URL parameter. Widget state is read *before* the widgets are drawn, so that the answer and
the messages beside the controls can be drawn in any order.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import streamlit as st

from kvviz import catalogue
from kvviz.core.architecture import parse_config, read_config
from kvviz.core.errors import KvvizError, ScenarioError, UnknownArchitectureError
from kvviz.links import pack_config, pack_scenarios, unpack_scenarios
from kvviz.resolve import resolve
from kvviz.scenario import (
    CHOICES,
    DEFAULTS,
    FIELDS,
    LINK_VERSION,
    MORE_SETTINGS,
    Scenario,
    Value,
    from_query,
    parse_value,
    to_query,
    under_engine,
)
from kvviz.text import LANGUAGES, Lang, Message
from kvviz.text import sizing as text
from kvviz.ui import browser, models

HIDDEN_FIELDS = frozenset({"revision", "config"})
"""Not widgets."""
MEASURED_FIELDS = ("weights_gib", "activations_gib", "graphs_gib", "non_torch_gib")
"""Figures somebody typed for one model: they do not outlive a change of model."""
MOST_UNDO = 20
CHOSEN_FIELDS = frozenset({"model", "gpu", "tp"}) | CHOICES.keys()
"""Chosen from a list."""
TYPED_FIELDS = frozenset(FIELDS) - HIDDEN_FIELDS - CHOSEN_FIELDS
"""Typed as text: 128k and 131,072 are accepted, and what is no number stays in the box with a message beside it. A
number input would put its minimum in the place of what it does not understand, and say nothing."""


def begin() -> None:
    """On the first run of a session, take the link over into the widgets' state."""
    if "valid" in st.session_state:
        return
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    scenario, rejected = from_query({n: values[0] if len(values) == 1 else values for n, values in query.items()})
    messages = [r.message for r in rejected]
    packed = query.get("set", [""])[-1]
    together, refused = unpack_scenarios(packed) if packed else ((), ())
    messages += [r.message for r in refused]
    st.session_state["set"] = together
    if scenario.config:
        try:
            resolve(scenario)
        except KvvizError as error:
            messages.append(error.message)
            scenario = scenario.with_changes(model=Scenario().model, config="", revision="")
    st.session_state["pasted"] = {scenario.model: scenario.config} if scenario.config else {}
    linked_model, linked_revision = scenario.model, scenario.revision
    if not models.known(scenario.model):
        # A link pins the commit it was computed from.
        asked = f"{scenario.model}@{scenario.revision}" if scenario.revision else scenario.model
        found = models.ask_hub(asked) if "/" in asked else None
        scenario = scenario.with_changes(model=found or Scenario().model, revision=scenario.revision if found else "")
        linked_model = found or linked_model
    st.session_state["rejected"] = messages
    st.session_state["opened"] = scenario
    st.session_state["linked_revision"] = (linked_model, linked_revision)
    linked = st.query_params.get("lang")
    preferred = (st.context.locale or "en")[:2]
    fallback = preferred if preferred in LANGUAGES else LANGUAGES[0]
    if linked is not None and linked not in LANGUAGES:
        messages.append(Message(text.NO_SUCH_LANGUAGE, {"shown": linked[:12], "used": fallback}))
    st.session_state["lang"] = linked if linked in LANGUAGES else fallback
    put(scenario)
    st.session_state["model"] = linked_model  # what the link says stays in the box, with the message beside it


def lang() -> Lang:
    """The language of this session."""
    return "ja" if st.session_state.get("lang") == "ja" else "en"


def put(scenario: Scenario) -> None:
    """Make ``scenario`` what the widgets show. Only before they are drawn: at the start or in a callback."""
    st.session_state["valid"] = scenario
    for name in FIELDS:
        if name not in HIDDEN_FIELDS:
            st.session_state[name] = _shown(name, getattr(scenario, name))


def read() -> tuple[Scenario, Mapping[str, Message]]:
    """The scenario the widgets show, and what is wrong beside which widget (there the last usable value stands in)."""
    scenario: Scenario = st.session_state["valid"]
    errors: dict[str, Message] = {}
    for name in FIELDS:
        if name in HIDDEN_FIELDS or name not in st.session_state:
            continue
        shown = st.session_state[name]
        if name == "model" and not models.known(shown):
            errors[name] = models.problem(shown)
            continue
        try:
            scenario = scenario.with_changes(**{name: _meant(name, shown)})
        except ScenarioError as error:
            errors[name] = error.message
    if scenario.from_users:  # the box shows what it comes to
        scenario = scenario.with_changes(sequences=scenario.requests)
        st.session_state["sequences"] = f"{scenario.requests:,}"
    config = st.session_state["pasted"].get(scenario.model, "")
    linked_model, revision = st.session_state["linked_revision"]
    scenario = scenario.with_changes(config=config, revision=revision if scenario.model == linked_model else "")
    st.session_state["valid"] = scenario
    return scenario, errors


def rejected() -> tuple[Message, ...]:
    """What the link says and cannot be used, as long as nothing else was asked since."""
    asked: Scenario = st.session_state["valid"]
    if asked != st.session_state["opened"]:
        st.session_state["rejected"] = []
    return tuple(st.session_state["rejected"])


def model_chosen() -> None:
    """Callback: what names one bundled model is that model; anything else unknown is looked for on the Hub."""
    asked = str(st.session_state["model"]).strip()
    if asked.startswith("@"):  # typed behind the name, which the box takes away
        asked = st.session_state["valid"].model + asked
    st.session_state["model"] = asked
    if not models.known(asked):
        meant = catalogue.named(asked) or models.ask_hub(asked)
        if meant is None:
            return
        st.session_state["model"] = meant
    st.session_state.pop("unknown", None)
    _forget_measured()


def model_typed() -> None:
    """Callback: the typing of a model's name has paused."""
    models.suggest(browser.typed())


def engine_chosen() -> None:
    """Callback: what the new engine has not got goes back to its default."""
    put(under_engine(st.session_state["valid"], st.session_state["engine"]))


def hit_chosen() -> None:
    """Callback: one of the models that a search found."""
    if chosen := st.session_state.get("hub_hit"):
        st.session_state["model"] = chosen
        model_chosen()


def read_with_token() -> None:
    """Callback: read the model that was asked for with the token typed for this session."""
    asked, _ = st.session_state.get("model_problem") or ("", None)
    meant = models.ask_hub(asked, token=st.session_state.get("hub_token") or None)
    if meant is not None:
        st.session_state["model"] = meant
        _forget_measured()


def _forget_measured() -> None:
    for name in MEASURED_FIELDS:
        st.session_state[name] = ""


def apply(scenario: Scenario) -> None:
    """Callback: ask this instead. ``undo`` goes back."""
    st.session_state["undo"] = [*st.session_state.get("undo", []), st.session_state["valid"]][-MOST_UNDO:]
    put(scenario)


def undo() -> None:
    """Callback: ask what was asked before the last ``apply``."""
    if steps := st.session_state.get("undo"):
        put(steps[-1])
        st.session_state["undo"] = steps[:-1]


def reset_more() -> None:
    """Put the folded settings back to their defaults."""
    put(st.session_state["valid"].with_changes(**{name: DEFAULTS[name] for name in MORE_SETTINGS}))


def use_pasted_config() -> None:
    """Callback: read the pasted config.json and make it the model. What was pasted stays in the box if it cannot be."""
    st.session_state["paste_problem"] = None
    pasted = (st.session_state.get("paste_box") or "").strip()
    if not pasted:
        st.session_state["paste_problem"] = (text.PASTE_EMPTY(lang()),)
        return
    name = (st.session_state.get("paste_name") or "").strip()
    config: dict[str, object] = {}
    try:
        config = parse_config(pasted)
        architecture = read_config(config, name=name)
        # Not the file's own _name_or_path: that is often a path of somebody's machine, and the name goes into links.
        name = catalogue.safe_name(name or architecture.class_name or text.PASTED_NAME(lang()))
        packed = pack_config(config)
        scenario = st.session_state["valid"].with_changes(model=name, config=packed, revision="")
    except KvvizError as error:
        st.session_state["paste_problem"] = error.lines(lang())
        if isinstance(error, UnknownArchitectureError):
            st.session_state["unknown"] = (name or text.PASTED_NAME(lang()), config)
        return
    st.session_state.pop("unknown", None)
    st.session_state["pasted"][name] = packed
    st.session_state["pastes"] = st.session_state.get("pastes", 0) + 1  # another popover, which is closed
    put(scenario.with_changes(**dict.fromkeys(MEASURED_FIELDS)))
    st.toast(text.PASTE_DONE(lang(), name=name))


def publish(scenario: Scenario, *, asked: bool = True, **more: str) -> Scenario:
    """Say which scenario the page shows, its revision filled in: the address bar will say so too.

    Not ``asked``: another model stands in for the one that was, so the address stays as it is. ``more``: parameters
    besides.
    """
    if more and asked:
        st.session_state["published_query"] = query(scenario, **more)
    st.session_state["published"] = scenario if asked else None
    return scenario


def publish_set(scenarios: Sequence[Scenario], **more: str) -> str:
    """Say which scenarios the page shows side by side; returns its link. The address bar will say so too.

    ``more``: parameters besides.
    Raises ScenarioError where they do not fit into a link.
    """
    st.session_state["set"] = tuple(scenarios)
    packed = urlencode({"v": LINK_VERSION, "set": pack_scenarios(scenarios), **more, "lang": lang()})
    st.session_state["published_query"] = packed
    return f"{base()}?{packed}"


def together() -> tuple[Scenario, ...]:
    """The scenarios of the link or of the page last shown; empty: none yet."""
    scenarios: tuple[Scenario, ...] = st.session_state["set"]
    return scenarios


def published() -> Scenario | None:
    """What the page shows; None where the address must not follow."""
    scenario: Scenario | None = st.session_state.pop("published", st.session_state["valid"])
    return scenario


def published_query() -> str:
    """What the address bar is to say; empty: as it is."""
    query_of_set: str = st.session_state.pop("published_query", "")
    scenario = published()
    return query_of_set or ("" if scenario is None else query(scenario))


def query(scenario: Scenario, **more: str) -> str:
    """The full link's query string: every field, the language and the version of the format."""
    return urlencode({**to_query(scenario), **more, "lang": lang()})


def link(scenario: Scenario) -> str:
    """The full link; relative where the address is not known."""
    return f"{base()}?{query(scenario)}"


def link_to(page: str, scenario: Scenario) -> str:
    """The full link to another page, by its path, as seen from the default page, which has none of its own."""
    return f"{base().rstrip('/')}/{page}?{query(scenario)}"


def base() -> str:
    """The page's address without its parameters; empty where it is not known."""
    return (st.context.url or "").split("?")[0]


def _shown(name: str, value: Value) -> Value:
    """What a widget shows for a setting."""
    if name == "tp":
        return "auto" if value is None else str(value)
    if name in TYPED_FIELDS:
        return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return value


def _meant(name: str, shown: Value) -> Value:
    """What the widget's content means as a setting. Raises ScenarioError."""
    if name in TYPED_FIELDS or name == "tp":
        return parse_value(name, str(shown))
    return shown
