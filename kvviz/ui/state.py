"""The Scenario of this session: read once from the link, kept in the widgets, written back to the address bar.

Widget key = Scenario field = URL parameter. Widget state is read *before* the widgets are drawn, so that the answer and
the messages beside the controls can be drawn in any order.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlencode

import streamlit as st

from kvviz import build, catalogue
from kvviz.core.architecture import parse_config, read_config
from kvviz.core.errors import KvvizError, ScenarioError, UnknownArchitectureError
from kvviz.core.units import format_count
from kvviz.devices import meant, named
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
from kvviz.scenario import shown as one_line
from kvviz.text import LANGUAGES, Lang, Message
from kvviz.text import sizing as text
from kvviz.ui import browser, models
from kvviz.ui.session import session

HIDDEN_FIELDS = frozenset({"revision", "config"})
"""Not widgets."""
MEASURED_FIELDS = ("weights_gib", "activations_gib", "graphs_gib", "non_torch_gib")
"""Figures somebody typed for one model: they do not outlive a change of model."""
MOST_UNDO = 20
_SHORT = 100
_TYPED_CHARACTERS = 500
"""Of a model's name, as far as a link says it."""
CHOSEN_FIELDS = frozenset({"model", "gpu", "tp"}) | CHOICES.keys()
"""Chosen from a list."""
TYPED_FIELDS = frozenset(FIELDS) - HIDDEN_FIELDS - CHOSEN_FIELDS
"""Typed as text: 128k and 131,072 are accepted, and what is no number stays in the box with a message beside it. A
number input would put its minimum in the place of what it does not understand, and say nothing."""


def begin() -> None:
    """On the first run of a session, take the link over into the widgets' state."""
    if "valid" in session():
        return
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    asked = _asked_model(query)
    if len(written := query.get("gpu", [])) == 1 and (gpu := named(written[0][:_TYPED_CHARACTERS])):
        query["gpu"] = [gpu]  # as in its box
    scenario, rejected = from_query({n: values[0] if len(values) == 1 else values for n, values in query.items()})
    messages = [r.message for r in rejected]
    packed = query.get("set", [""])[-1]
    together, refused = unpack_scenarios(packed) if packed else ((), ())
    messages += [r.message for r in refused]
    session()["set"] = together
    if scenario.users and scenario.sequences not in (scenario.requests, DEFAULTS["sequences"]):
        counts = {"sequences": scenario.sequences, "users": scenario.users, "requests": scenario.requests}
        counts_shown = {name: format_count(count) for name, count in counts.items()}
        messages.append(Message(text.SEQUENCES_UNUSED, counts_shown))
    scenario = scenario.with_changes(sequences=scenario.requests)
    if scenario.config:
        try:
            resolve(scenario)
        except KvvizError as error:
            messages.append(error.message)
            scenario = scenario.with_changes(model=Scenario().model, config="", revision="")
    if scenario.config and scenario.model in catalogue.models():
        scenario = scenario.with_changes(model=text.PASTED_AS(lang(), name=scenario.model), config=scenario.config)
    session()["pasted"] = {scenario.model: scenario.config} if scenario.config else {}
    choice = (models.named(asked) or asked) if asked else scenario.model
    # A link pins the commit it was computed from, or the content of a config that comes from elsewhere.
    if scenario.revision and not scenario.config and not scenario.revision.startswith("sha256:"):
        choice = f"{choice}@{scenario.revision}"
    if not models.known(choice):
        choice = (models.ask_hub(choice) if "/" in choice else None) or choice
    session()["linked_revision"] = (choice, scenario.revision)
    scenario = scenario.with_changes(model=Scenario().model, config="", revision="")
    scenario = with_model(scenario, choice) if models.known(choice) else _stand_in(scenario, choice)
    session()["unread"] = "" if models.known(choice) or models.parts(choice)[0] in catalogue.models() else choice
    session()["rejected"] = messages
    session()["opened"] = scenario
    if refused and not together:
        messages.append(Message(text.NOT_OF_THE_LINK, {"model": scenario.model}))
    linked = st.query_params.get("lang")
    preferred = (st.context.locale or "en")[:2]
    fallback = preferred if preferred in LANGUAGES else LANGUAGES[0]
    if linked is not None and linked not in LANGUAGES:
        messages.append(Message(text.NO_SUCH_LANGUAGE, {"shown": linked[:12], "used": fallback}))
    st.session_state["lang"] = linked if linked in LANGUAGES else fallback
    put(scenario)
    set_shown("model", choice)  # what the link says stays in the box, with the message beside it


def _asked_model(query: dict[str, list[str]]) -> str:
    """What a link says of the model where that is no setting as it is: what somebody typed, or a revision with it.

    It is taken out of ``query`` then.
    """
    given = query.get("model", [])
    if len(given) != 1 or not given[0].strip() or query.get("config", [""])[-1]:
        return ""
    asked = given[0][:_TYPED_CHARACTERS].strip()
    if (named := _named(asked)) is None:
        del query["model"]
        query.pop("revision", None)
        return asked
    query["model"] = [named[0]]
    if named[1]:
        query["revision"] = [named[1]]
    return ""


def _named(asked: str) -> tuple[str, str] | None:
    """Model and revision as settings; None where what was asked is none."""
    name, revision = models.parts(asked)
    try:
        parse_value("model", name)
        parse_value("revision", revision)
    except ScenarioError:
        return None
    return name, revision


def with_model(scenario: Scenario, choice: str) -> Scenario:
    """``scenario`` of what the model box calls ``choice``, which is known."""
    model, revision = models.meant(choice)
    linked, pinned = session()["linked_revision"]
    if choice == linked and pinned.startswith("sha256:"):
        revision = pinned  # whoever reads it may say what else it is
    config = session()["pasted"].get(model, "")
    return scenario.with_changes(model=model, config=config, revision=revision)


def _stand_in(scenario: Scenario, asked: str) -> Scenario:
    """What answers while the model asked for cannot be read: the bundled one of this name, else what there was."""
    name, revision = models.parts(asked)
    if name not in catalogue.models():
        return scenario
    try:
        return scenario.with_changes(model=name, config="", revision=revision)
    except ScenarioError:
        return scenario.with_changes(model=name, config="", revision="")


def lang() -> Lang:
    """The language of this session."""
    return "ja" if st.session_state.get("lang") == "ja" else "en"


def put(scenario: Scenario) -> None:
    """Make ``scenario`` what the widgets show. Only before they are drawn: at the start or in a callback."""
    session()["valid"] = scenario
    for name in FIELDS:
        if name not in HIDDEN_FIELDS:
            set_shown(name, _shown(name, getattr(scenario, name)))
    set_shown("model", models.choice_of(scenario))


def shown(name: str) -> Value:
    """What the widget of a setting shows, or would if it were drawn."""
    kept = session()
    value: Value = kept["shown"][name]
    return st.session_state.get(name, value) if name in kept["drawn"] else value


def said(name: str) -> str:
    """The same as text; empty where the box is."""
    return str(shown(name) or "")


def set_shown(name: str, value: Value) -> None:
    """Make the widget of a setting show this. Only before it is drawn."""
    kept = session()
    kept["shown"][name] = value
    if name in kept["drawn"]:
        st.session_state[name] = value


def draws(name: str) -> None:
    """Right before the widget of a setting is drawn; one that never was is none of Streamlit's business."""
    kept = session()
    if name not in kept["drawn"]:
        kept["drawn"].add(name)
        st.session_state[name] = kept["shown"][name]


def read() -> tuple[Scenario, Mapping[str, Message]]:
    """The scenario the widgets show, and what is wrong beside which widget (there the last usable value stands in)."""
    kept = session()
    scenario: Scenario = kept["valid"]
    errors: dict[str, Message] = {}
    for name, shown_before in kept["shown"].items():
        now = st.session_state.get(name, shown_before) if name in kept["drawn"] else shown_before
        if name == "model":
            kept["model_before"] = now
            if models.known(now):
                scenario = with_model(scenario, now)
            else:
                errors[name] = models.problem(now)
                scenario = _stand_in(scenario, now)
            continue
        try:
            if (asked := _meant(name, now)) != getattr(scenario, name):
                scenario = scenario.with_changes(**{name: asked})
        except ScenarioError as error:
            errors[name] = error.message if name != "gpu" else _no_such_gpu(str(now))
    if scenario.from_users:  # the box shows what it comes to
        scenario = scenario.with_changes(sequences=scenario.requests)
        set_shown("sequences", f"{scenario.requests:,}")
    kept["valid"] = scenario
    return scenario, errors


def is_unread() -> bool:
    """Whether the model box still says what the link says, which could not be read: nothing of it was ever answered."""
    return bool(session()["unread"]) and shown("model") == session()["unread"]


def rejected() -> tuple[Message, ...]:
    """What the link says and cannot be used, as long as nothing else was asked since."""
    asked: Scenario = session()["valid"]
    if asked != session()["opened"]:
        session()["rejected"] = []
    return tuple(session()["rejected"])


def model_chosen() -> None:
    """Callback: what names one bundled model is that model; anything else unknown is looked for on the Hub."""
    before = str(session().get("model_before") or session()["valid"].model)
    asked = _whole(before, said("model").strip())
    set_shown("model", asked)
    if not models.known(asked):
        found = models.named(asked) or models.ask_hub(asked)
        if found is None:
            if models.parts(asked)[0] in catalogue.models():  # which stands in
                _forget_measured_of_another(asked)
            return
        set_shown("model", found)
    session().pop("unknown", None)
    if asked != before and models.meant(said("model")) == models.meant(before) and "@" in asked:
        st.toast(text.SAME_COMMIT(lang(), asked=asked))
    _forget_measured_of_another(said("model"))


def _whole(before: str, arrived: str) -> str:
    """What was typed, where the box takes away what stood there before it (Streamlit 1.67)."""
    if not arrived:
        return before
    if arrived.startswith("@"):
        return models.parts(before)[0] + arrived
    # Nothing begins with these.
    joined = before + arrived
    return joined if arrived[0] in "-._" or (models.known(joined) and not models.known(arrived)) else arrived


def model_typed() -> None:
    """Callback: the typing of a model's name has paused."""
    models.suggest(browser.typed())


def _no_such_gpu(typed: str) -> Message:
    """Beside the box, where a list of all ids would help nobody."""
    return Message(text.SEVERAL_GPUS if meant(typed) else text.NO_SUCH_GPU, {"typed": one_line(typed)})


def gpu_chosen() -> None:
    """Callback: a number of GiB is a GPU of one's own; a name that means one GPU is that."""
    chosen = said("gpu")
    set_shown("gpu", named(chosen) or chosen)


def gpu_hit_chosen() -> None:
    """Callback: one of the GPUs that what was typed may mean."""
    if chosen := st.session_state.get("gpu_hit"):
        set_shown("gpu", chosen)


def engine_chosen() -> None:
    """Callback: what the new engine has not got goes back to its default."""
    put(under_engine(session()["valid"], said("engine")))


def hit_chosen() -> None:
    """Callback: one of the models that a search found."""
    if chosen := st.session_state.get("hub_hit"):
        set_shown("model", chosen)
        model_chosen()


def read_with_token() -> None:
    """Callback: read the model that was asked for with the token typed for this session."""
    asked, _ = session().get("model_problem") or ("", None)
    meant = models.ask_hub(asked, token=st.session_state.get("hub_token") or None)
    if meant is not None:
        set_shown("model", meant)
        _forget_measured_of_another(meant)


def ask_again() -> None:
    """Callback: what the Hub could not answer just now is asked once more."""
    choice = said("model")
    asked, _ = session().get("model_problem") or (choice, None)
    if models.known(choice):  # only its weights are missing
        asked = models.reference(choice)
    found = models.ask_hub(asked)
    if found is None or models.lacks_weights(found):
        st.toast(text.STILL_NOT(lang()))
    if found is not None:
        set_shown("model", found)
        _forget_measured_of_another(found)


def _forget_measured_of_another(choice: str) -> None:
    """Figures of the model before; those in a link that could not be read at first are of the model it asks for."""
    linked, _ = session()["linked_revision"]
    if models.parts(choice)[0] in (session()["valid"].model, models.parts(linked)[0]):
        return
    for name in MEASURED_FIELDS:
        set_shown(name, "")


def apply(scenario: Scenario, what: Message | None = None) -> None:
    """Callback: ask this instead, ``what`` in words; what else is being typed stays. ``undo`` takes it back."""
    changed = {name: getattr(scenario, name) for name in FIELDS if name not in HIDDEN_FIELDS}
    answered: Scenario = session().get("good", session()["valid"])
    changed = {name: value for name, value in changed.items() if value != getattr(answered, name)}
    before = {name: shown(name) for name in changed}
    if before:
        session()["undo"] = [*session().get("undo", []), (what, before)][-MOST_UNDO:]
    for name, value in changed.items():
        set_shown(name, _shown(name, value) if name != "model" else models.choice_of(scenario))


def undoable() -> Message | None:
    """What ``undo`` would take back, in words; None where there is nothing left of it."""
    steps = session().get("undo", [])
    while steps and all(shown(name) == value for name, value in steps[-1][1].items()):
        steps = steps[:-1]  # by hand
    session()["undo"] = steps
    return steps[-1][0] or Message(text.LABELS[next(iter(steps[-1][1]))]) if steps else None


def undo() -> None:
    """Callback: take back what the last ``apply`` changed, and nothing else."""
    if steps := session().get("undo"):
        for name, value in steps[-1][1].items():
            set_shown(name, value)
        session()["undo"] = steps[:-1]


def reset_more() -> None:
    """Put the folded settings back to their defaults."""
    put(session()["valid"].with_changes(**{name: DEFAULTS[name] for name in MORE_SETTINGS}))


def use_pasted_config() -> None:
    """Callback: read the pasted config.json and make it the model. What was pasted stays in the box if it cannot be."""
    session()["paste_problem"] = None
    pasted = (st.session_state.get("paste_box") or "").strip()
    if not pasted:
        session()["paste_problem"] = (text.PASTE_EMPTY(lang()),)
        return
    name = (st.session_state.get("paste_name") or "").strip()
    config: dict[str, object] = {}
    try:
        config = parse_config(pasted)
        architecture = read_config(config, name=name)
        # Not the file's own _name_or_path: that is often a path of somebody's machine, and the name goes into links.
        name = catalogue.safe_name(name or architecture.class_name or text.PASTED_NAME(lang()))
        if name in catalogue.models() or models.meant(name)[1]:  # a name means one model
            name = text.PASTED_AS(lang(), name=name)
        packed = pack_config(config)
        scenario = session()["valid"].with_changes(model=name, config=packed, revision="")
    except KvvizError as error:
        session()["paste_problem"] = error.lines(lang())
        if isinstance(error, UnknownArchitectureError):
            session()["unknown"] = (name or text.PASTED_NAME(lang()), config)
        return
    session().pop("unknown", None)
    session()["pasted"][name] = packed
    session()["pastes"] = session().get("pastes", 0) + 1  # another popover, which is closed
    put(scenario.with_changes(**dict.fromkeys(MEASURED_FIELDS)))
    st.toast(text.PASTE_DONE(lang(), name=name))


def publish(scenario: Scenario, *, asked: bool = True, **more: str) -> Scenario:
    """Say which scenario the page shows, its revision filled in: the address bar will say so too.

    Not ``asked``: another model stands in for the one that was, which stays in the address beside all that was asked.
    ``more``: parameters besides.
    """
    if more:
        session()["published_query"] = query(scenario, **more) if asked else query_asked(**more)
    session()["published"] = scenario if asked else None
    return scenario


def publish_set(scenarios: Sequence[Scenario], **more: str) -> str:
    """Say which scenarios the page shows side by side; returns its link. The address bar will say so too.

    ``more``: parameters besides.
    Raises ScenarioError where they do not fit into a link.
    """
    session()["set"] = tuple(scenarios)
    packed = urlencode({"v": LINK_VERSION, "set": pack_scenarios(scenarios), **more, **about()})
    session()["published_query"] = packed
    return f"{base()}?{packed}"


def together() -> tuple[Scenario, ...]:
    """The scenarios of the link or of the page last shown; empty: none yet."""
    scenarios: tuple[Scenario, ...] = session()["set"]
    return scenarios


def published() -> Scenario | None:
    """What the page shows; None where it is not what was asked."""
    scenario: Scenario | None = session().pop("published", session()["valid"])
    return scenario


def published_query() -> str:
    """What the address bar is to say."""
    query_of_set: str = session().pop("published_query", "")
    scenario = published()
    return query_of_set or (query_asked() if scenario is None else query(scenario))


def query_asked(**more: str) -> str:
    """What was asked as far as it is valid, with the model as it stands in the box: reloading tries it again."""
    typed = said("model")
    if typed.startswith("hf_"):  # a token that went astray
        return query(session()["valid"], **more)
    model, revision = _named(typed) or (typed, "")
    asked = {"model": model, "revision": revision, "config": ""}
    return urlencode({**to_query(session()["valid"]), **asked, **more, **about()})


def query(scenario: Scenario, **more: str) -> str:
    """The full link's query string: every field, the language and the version of the format."""
    return packed({**to_query(scenario), **more, **about()})


def packed(told: Mapping[str, str]) -> str:
    """A query string."""
    return "&".join(_pair(item) if len(item[1]) < _SHORT else urlencode([item]) for item in told.items())


@lru_cache(maxsize=4096)
def _pair(item: tuple[str, str]) -> str:
    """One parameter: a comparison has dozens of links, in which nearly all are the same."""
    return urlencode([item])


def about() -> dict[str, str]:
    """What a link says of itself: the language, and which kvviz answered, for whoever finds another answer later."""
    return {"lang": lang(), "by": build.version()}


def link(scenario: Scenario) -> str:
    """The full link; relative where the address is not known."""
    return f"{base()}?{query(scenario)}"


def link_to(page: str, scenario: Scenario, **more: str) -> str:
    """The full link to another page, by its path; the default page has none of its own. ``more``: its parameters."""
    return f"{root()}/{page}?{query(scenario, **more)}"


def root() -> str:
    """The app's address, that of the default page, without a slash at its end; empty where it is not known."""
    return base().rstrip("/").removesuffix(session().get("page_path", "")).rstrip("/")


def base() -> str:
    """The page's address without its parameters; empty where it is not known."""
    return (st.context.url or "").split("?")[0]


def _shown(name: str, value: Value) -> Value:
    """What a widget shows for a setting."""
    if name == "tp":
        return "auto" if value is None else str(value)
    if name in TYPED_FIELDS:
        return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.10g}"
    return value


def _meant(name: str, shown: Value) -> Value:
    """What the widget's content means as a setting. Raises ScenarioError."""
    if name in TYPED_FIELDS or name == "tp":
        return parse_value(name, str(shown))
    return shown
