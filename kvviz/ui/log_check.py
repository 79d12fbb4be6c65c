"""The log page: the pasted text, what is asked beside it, and the answer."""

from pathlib import Path
from typing import Final

import streamlit as st

from kvviz import catalogue, workings
from kvviz.core.architecture import parse_config, read_config
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError, UnknownArchitectureError
from kvviz.engine_log import EngineLog, read_log
from kvviz.log_check import Check, Model, check, decode, encoder_model, model_of, report, settings_of
from kvviz.log_check.measured import scenario_of
from kvviz.planning import name_of
from kvviz.resolve import resolve
from kvviz.scenario import ENGINES, Scenario, parse_value
from kvviz.scenario import shown as one_line
from kvviz.text import Lang, together
from kvviz.text import log_check as text
from kvviz.ui import browser, models, show, state
from kvviz.ui.answer import ask
from kvviz.ui.session import session

_EXAMPLES: Final = Path(catalogue.__file__).parent / "data" / "example_logs"
EXAMPLES: Final = {
    "vLLM": ("vllm.log", "https://github.com/vllm-project/vllm/issues/28228"),
    "llama.cpp": ("llama.cpp.log", "https://github.com/ggml-org/llama.cpp/issues/14097"),
}
_GIVEN: Final = {"tp": "tp", "element": "kv_dtype", "n_ctx": "max_model_len"}
"""What is asked for, and the setting it is read as."""
_SETTING: Final = {"tp": "tp", "element": "kv_dtype", "n_ctx": "context_tokens"}
_KEYS: Final = ("log_model", "log_config", *(f"log_{name}" for name in _GIVEN))


def entered(lang: Lang) -> EngineLog | None:
    """What the log in the box says, else the uploaded file; None where there is neither. Raises KvvizError."""
    with st.container(horizontal=True):
        for engine in EXAMPLES:
            st.button(text.EXAMPLE(lang, engine=engine), key=f"try_{engine}", on_click=_example, args=(engine,))
        if st.session_state.get("log_text") or session().get("log_file"):
            st.button(text.CLEAR(lang), key="log_clear", icon=":material/delete:", type="tertiary", on_click=_clear)
    pasted = st.session_state.get("log_text")
    for engine, (_, source) in EXAMPLES.items():
        if pasted and pasted == _read(engine):
            st.markdown(f":small[{text.EXAMPLE_SOURCE(lang, source=source)}]")  # a link in a caption is too pale
    box, file = st.columns([3, 1])  # the answer is then in the first window
    with box:
        pasted = st.text_area(
            text.LOG(lang),
            key="log_text",
            height=200,
            placeholder=text.LOG_PLACEHOLDER(lang),
            persist_state="session",  # for whoever comes back to the page
        )
    key = f"log_file_{session().get('log_uploads', 0)}"
    with file:
        st.file_uploader(
            text.UPLOAD(lang), key=key, type=["log", "txt", "out", "json"], on_change=_file_chosen, args=(key,)
        )
        if kept := session().get("log_file"):
            st.caption(show.plain(text.FILE_READ(lang, name=kept[0])))
    if pasted and pasted.strip():
        return _log(pasted)
    return _read_one(kept[1]) if kept else None


def _file_chosen(key: str) -> None:
    """Callback: read the file; an uploader is empty again for whoever comes back, what was read of it is not."""
    session().pop("log_file", None)
    if (file := st.session_state[key]) is not None:
        session()["log_file"] = one_line(file.name), _found(decode(file.getvalue()))


def _log(pasted: str) -> EngineLog:
    """Read when it is new and kept in this session: a run of the page for a click beside it reads nothing."""
    kept: tuple[str, EngineLog | KvvizError] | None = session().get("log_read")
    if kept is None or kept[0] != pasted:
        session()["log_read"] = kept = pasted, _found(pasted)
    return _read_one(kept[1])


def _found(log: str) -> EngineLog | KvvizError:
    try:
        return read_log(log)
    except KvvizError as error:
        return error.with_traceback(None)  # which would keep the text


def _read_one(found: EngineLog | KvvizError) -> EngineLog:
    if isinstance(found, KvvizError):
        raise found.with_traceback(None)
    return found


def _read(engine: str) -> str:
    return (_EXAMPLES / EXAMPLES[engine][0]).read_text(encoding="utf-8")


def _example(engine: str) -> None:
    _clear()
    st.session_state["log_text"] = _read(engine)


def _clear() -> None:
    st.session_state["log_text"] = ""
    session().pop("log_file", None)
    session().pop("log_read", None)
    session()["log_uploads"] = session().get("log_uploads", 0) + 1  # an empty uploader
    for key in _KEYS:
        st.session_state.pop(key, None)


def asked(log: EngineLog, of: Model | None) -> tuple[str, ...]:
    """What must be asked for; where these settings cannot be, the ones that can be given otherwise."""
    try:
        return check(log, model=of).asked
    except KvvizError:
        return ("tp", "element")


def model(lang: Lang) -> Model | None:
    """The model chosen, typed or pasted; None where there is none yet."""
    st.selectbox(
        text.MODEL(lang),
        models.offered(),
        index=None,
        key="log_model",
        placeholder=text.MODEL_PLACEHOLDER(lang),
        help=text.MODEL_HELP(lang),
        filter_mode="contains",
        accept_new_options=True,
        on_change=_model_chosen,
        persist_state="session",
    )
    name: str | None = st.session_state["log_model"]
    found = None
    if name and not models.known(name):
        show.lines((models.problem(name)(lang),))
    elif name:
        found = _known(name)
    with st.expander(text.CONFIG(lang), key="log_config_folded", type="compact"):
        pasted = st.text_area(
            text.CONFIG(lang), key="log_config", label_visibility="collapsed", height=120, persist_state="session"
        )
    if pasted and pasted.strip() and not name:
        try:
            found = _pasted(pasted)
        except KvvizError as error:
            show.lines(error.lines(lang))
    return found


def _model_chosen() -> None:
    typed = str(st.session_state["log_model"] or "").strip()
    if typed and not models.known(typed):
        st.session_state["log_model"] = catalogue.named(typed) or models.ask_hub(typed) or typed


def _known(name: str) -> Model:
    if name in catalogue.models():
        return model_of(catalogue.load(name))
    scenario = Scenario(model=name, config=session()["pasted"].get(name, ""))
    resolved = resolve(scenario, given=models.given(scenario))
    return Model(name=name, architecture=resolved.architecture)


def _pasted(pasted: str) -> Model:
    config = parse_config(pasted)
    try:
        architecture = read_config(config)
    except UnknownArchitectureError:
        encoder = encoder_model(config, "config.json")
        if encoder is None:
            raise
        return encoder
    name = catalogue.safe_name(architecture.class_name or architecture.model_type)
    return Model(name=name, architecture=architecture)


def settings(names: tuple[str, ...], lang: Lang) -> dict[str, object]:
    """What the log does not say, as the person gives it; what cannot be is said beside its box."""
    given: dict[str, object] = {}
    labels = {"tp": text.TP, "element": text.KV_TYPE, "n_ctx": text.CONTEXT}
    asked = [name for name in names if name in _GIVEN]
    if not asked:
        return given
    for name, column in zip(asked, st.columns(max(2, len(asked))), strict=False):
        with column:
            if name == "element":
                written = st.selectbox(
                    labels[name](lang), ["auto", *KV_DTYPES], key=f"log_{name}", persist_state="session"
                )
            else:
                written = st.text_input(
                    labels[name](lang),
                    key=f"log_{name}",
                    placeholder="1" if name == "tp" else None,
                    persist_state="session",
                )
            if not written or written == "auto":
                continue
            try:
                value = parse_value(_GIVEN[name], written)
            except KvvizError as error:
                show.lines((error.message(lang).partition(": ")[2] or error.message(lang),))
                continue
            if value is not None:
                given[_SETTING[name]] = value
    return given


def answer(checked: Check, lang: Lang) -> None:
    """The answer in a sentence, why, and predicted beside reported."""
    sentence = show.plain(report.headline(checked, lang))
    match checked.verdict:
        case "agrees":
            st.success(sentence, icon=":material/check:")
        case "explained":
            st.warning(sentence, icon=":material/lightbulb:")
        case "differs":
            st.error(sentence, icon=":material/difference:")
        case _:
            st.info(sentence, icon=":material/help:")
    reasons = report.causes(checked, lang)
    if reasons:
        if checked.verdict != "explained":
            st.markdown(f"**{text.WHY(lang)}**")
        st.markdown("\n".join(f"- {show.plain(reason)}" for reason in reasons))
    if checked.asked and checked.verdict != "unknown":
        st.caption(show.plain(report.more(checked, lang)))
    if compared := report.compared_with(checked, lang):
        st.caption(show.plain(compared))
    if rows := report.rows(checked, lang, narrow=browser.is_phone()):
        st.table([{name: together(cell) for name, cell in row.items()} for row in rows], border="horizontal")
        if basis := report.basis(checked, lang):
            st.caption(show.plain(basis))
        if made := workings.of_check(checked, lang):
            show.working(made, key="log", lang=lang)
    if rows := report.said(checked, lang):
        with st.expander(text.SAID(lang), key="log_said", expanded=not checked.figures):
            st.table(rows, border="horizontal")


def measured(checked: Check, lang: Lang) -> Scenario | None:
    """What Sizing can be asked in the log's place, and that scenario once its button is pressed."""
    few = checked.log.engine == "vllm" and len(checked.measured) < 2
    if checked.settings is None and (few or not checked.measured):
        return None
    base: Scenario = session()["valid"]
    has_model = checked.model is not None and models.known(checked.model)
    if has_model:
        base = state.with_model(base, str(checked.model))
    found = scenario_of(checked, base, ask=ask, has_model=has_model)
    st.caption(show.plain(report.taken(checked, found, lang)))
    if not st.button(text.USE_MEASURED(lang), key="use_measured", icon=":material/speed:"):
        return None
    return found.scenario


def engine() -> str:
    """The engine whose rules the log on the page is compared with; empty where there is none."""
    pasted = (st.session_state.get("log_text") or "").strip()
    _, log = session().get("log_read" if pasted else "log_file") or ("", None)
    if not isinstance(log, EngineLog):
        return ""
    name = log.engine if log.engine in ENGINES else "llama.cpp"  # its forks and wrappers
    return name_of(name, settings_of(log, {}).version)
