"""The controls of the Scenario: seven in sight, the rest folded away but named when they differ from the defaults."""

import streamlit as st

from kvviz import catalogue
from kvviz.core.units import format_count
from kvviz.devices import devices
from kvviz.scenario import MORE_SETTINGS, OPTIONAL, WEIGHT_DTYPES, changed_fields, kv_dtypes
from kvviz.text import Lang, Text
from kvviz.text import sizing as text
from kvviz.ui import show, state
from kvviz.ui.answer import Answer

TP_OPTIONS = ("auto", "1", "2", "4", "8", "16", "32")
LABELS = {
    "weight_dtype": text.WEIGHT_DTYPE,
    "weights_gib": text.WEIGHTS_GIB,
    "memory_fraction": text.MEMORY_FRACTION,
    "block_tokens": text.BLOCK_TOKENS,
    "batched_tokens": text.BATCHED_TOKENS,
    "in_flight_tokens": text.IN_FLIGHT_TOKENS,
    "max_model_len": text.MAX_MODEL_LEN,
    "tp": text.TP,
}


def all_of(answered: Answer, lang: Lang) -> None:
    """The seven and, folded, the rest."""
    seven(answered, lang)
    more(answered, lang)


def seven(answered: Answer, lang: Lang) -> None:
    """Model, GPU, how many, input, output, requests in flight, KV cache type."""
    scenario = answered.scenario
    bundled = catalogue.models()
    st.selectbox(
        text.MODEL(lang),
        _with(scenario.model, [*st.session_state["pasted"], *bundled]),
        key="model",
        help=text.MODEL_HELP(lang, count=len(bundled)),
        persist_state="session",
    )
    _errors(answered, lang, "model")
    with st.popover(text.PASTE(lang), icon=":material/content_paste:", width="stretch"):
        _paste(lang)
    gpu, gpus = st.columns([2, 1])
    with gpu:
        names = {device.id: device.name for device in devices()} | {"": text.NO_GPU(lang)}
        st.selectbox(
            text.GPU(lang),
            _with(scenario.gpu, list(names)),
            key="gpu",
            format_func=lambda option: names.get(option, option),
            persist_state="session",
        )
    with gpus:
        st.number_input(
            text.GPUS(lang),
            min_value=1,
            max_value=1024,
            step=1,
            key="gpus",
            help=text.GPUS_HELP(lang),
            persist_state="session",
        )
    _errors(answered, lang, "gpu", "gpus")
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        _tokens("input", text.INPUT, lang)
    with right:
        _tokens("output", text.OUTPUT, lang)
    _errors(answered, lang, "input", "output")
    st.caption(
        text.TOKENS_SUM(
            lang,
            input=format_count(scenario.input),
            output=format_count(scenario.output),
            tokens=format_count(scenario.tokens),
        )
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        st.number_input(
            text.SEQUENCES(lang),
            min_value=1,
            max_value=1_000_000,
            step=1,
            key="sequences",
            help=text.SEQUENCES_HELP(lang),
            persist_state="session",
        )
    with right:
        st.selectbox(
            text.KV_DTYPE(lang),
            _with(scenario.kv_dtype, [*kv_dtypes(scenario.engine)]),
            key="kv_dtype",
            help=text.KV_DTYPE_HELP(lang),
            persist_state="session",
        )
    _errors(answered, lang, "sequences", "kv_dtype")
    if answered.sizing is not None and scenario.kv_dtype == "auto":
        reason = show.plain(answered.sizing.kv_dtype_reason(lang))
        st.caption(text.RESOLVED_TO(lang, name=answered.sizing.kv_dtype.name, reason=reason))


def more(answered: Answer, lang: Lang) -> None:
    """The folded settings; the label names what differs from the defaults even while folded."""
    scenario = answered.scenario
    changed = changed_fields(scenario)
    label = text.MORE(lang)
    if changed:
        separator = "、" if lang == "ja" else ", "
        label = text.MORE_CHANGED(lang, count=len(changed), names=separator.join(LABELS[n](lang) for n in changed))
    with st.expander(label, key="more", icon=":material/tune:"):
        left, right = st.columns(2)
        with left:
            st.selectbox(
                text.WEIGHT_DTYPE(lang),
                _with(scenario.weight_dtype, list(WEIGHT_DTYPES)),
                key="weight_dtype",
                help=text.WEIGHT_DTYPE_HELP(lang),
                persist_state="session",
            )
            st.number_input(
                text.MEMORY_FRACTION(lang),
                min_value=0.05,
                max_value=1.0,
                step=0.01,
                key="memory_fraction",
                help=text.MEMORY_FRACTION_HELP(lang),
                persist_state="session",
            )
            _tokens("max_model_len", text.MAX_MODEL_LEN, lang, text.MAX_MODEL_LEN_HELP)
            _tokens("batched_tokens", text.BATCHED_TOKENS, lang, text.BATCHED_TOKENS_HELP)
        with right:
            st.number_input(
                text.WEIGHTS_GIB(lang),
                min_value=0.0,
                max_value=100_000.0,
                value=None,
                step=0.1,
                key="weights_gib",
                placeholder=text.AUTO(lang),
                help=text.WEIGHTS_GIB_HELP(lang),
                persist_state="session",
            )
            st.selectbox(
                text.TP(lang),
                _with("auto" if scenario.tp is None else str(scenario.tp), list(TP_OPTIONS)),
                key="tp",
                help=text.TP_HELP(lang),
                persist_state="session",
            )
            _tokens("block_tokens", text.BLOCK_TOKENS, lang)
            _tokens("in_flight_tokens", text.IN_FLIGHT_TOKENS, lang, text.IN_FLIGHT_TOKENS_HELP)
        _errors(answered, lang, *MORE_SETTINGS)
        if changed:
            st.button(text.RESET(lang), on_click=state.reset_more, icon=":material/undo:")


def _paste(lang: Lang) -> None:
    st.text_area(text.PASTE_BOX(lang), key="paste_box", height=220, placeholder='{"model_type": "llama", …}')
    if lines := st.session_state.get("paste_problem"):
        show.lines(lines)
    st.text_input(text.PASTE_NAME(lang), key="paste_name", placeholder=text.PASTED_NAME(lang), max_chars=96)
    st.button(text.PASTE_APPLY(lang), on_click=state.use_pasted_config, type="primary")
    st.caption(text.PASTE_PRIVACY(lang))


def _tokens(field: str, label: Text, lang: Lang, help_text: Text = text.TOKENS_HELP) -> None:
    st.text_input(
        label(lang),
        key=field,
        help=help_text(lang),
        placeholder=text.AUTO(lang) if field in OPTIONAL else None,
        persist_state="session",
    )


def _errors(answered: Answer, lang: Lang, *fields: str) -> None:
    """What is wrong with these, as wide as the controls are together: in half a column nobody can read it."""
    for field in fields:
        if field in answered.errors:
            show.lines((show.error_line(answered, field, lang),))


def _with(value: str, options: list[str]) -> list[str]:
    """``options`` with ``value`` among them, so that what a link says is never silently replaced."""
    return options if value in options else [value, *options]
