"""The controls of the Scenario: seven in sight, the rest folded away but named when they differ from the defaults."""

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kvviz import catalogue
from kvviz.core.units import format_count
from kvviz.devices import every_device, meant
from kvviz.planning import name_of
from kvviz.scenario import (
    CHOICES,
    ENGINE_VERSIONS,
    ENGINES,
    ENGINES_WITH,
    MORE_SETTINGS,
    OPTIONAL,
    changed_fields,
    kv_dtypes,
)
from kvviz.sizing import usable_kv_dtypes
from kvviz.text import Lang, Text
from kvviz.text import sizing as text
from kvviz.ui import browser, models, show, state
from kvviz.ui.answer import Answer
from kvviz.ui.session import session
from kvviz.verdict import short_name

_MORE: Final[Mapping[str, Text]] = {
    "engine": text.ENGINE_HELP,
    "engine_version": text.ENGINE_VERSION_HELP,
    "weight_dtype": text.WEIGHT_DTYPE_HELP,
    "weights_gib": text.WEIGHTS_GIB_HELP,
    "tp": text.TP_HELP,
    "pp": text.PP_HELP,
    "dp": text.DP_HELP,
    "attention_dp": text.ATTENTION_DP_HELP,
    "dcp": text.DCP_HELP,
    "memory_fraction": text.MEMORY_FRACTION_HELP,
    "max_model_len": text.MAX_MODEL_LEN_HELP,
    "batched_tokens": text.BATCHED_TOKENS_HELP,
    "block_tokens": text.BLOCK_TOKENS_HELP,
    "in_flight_tokens": text.IN_FLIGHT_TOKENS_HELP,
    "prefix_caching": text.PREFIX_CACHING_HELP,
    "full_windows": text.FULL_WINDOWS_HELP,
    "draft_layers": text.DRAFT_LAYERS_HELP,
    "draft_tokens": text.DRAFT_TOKENS_HELP,
    "v_dtype": text.V_DTYPE_HELP,
    "unified": text.UNIFIED_HELP,
    "headroom": text.HEADROOM_HELP,
    "typical": text.TYPICAL_HELP,
    "shared_tokens": text.SHARED_TOKENS_HELP,
    "activations_gib": text.MEASURED_HELP,
    "graphs_gib": text.MEASURED_HELP,
    "non_torch_gib": text.MEASURED_HELP,
}
"""The folded settings, two a row, each explained."""
_MOST_HITS: Final = 8
"""GPUs that are offered where what was typed may mean several."""
_TP_OPTIONS: Final = ("auto", "1", "2", "4", "8", "16", "32")


def all_of(answered: Answer, lang: Lang) -> None:
    """The seven and, folded, the rest."""
    seven(answered, lang)
    more(answered, lang)


def seven(answered: Answer, lang: Lang) -> None:
    """Model, GPU, how many, input, output, requests in flight, KV cache type."""
    scenario = answered.scenario
    state.draws("model")
    st.selectbox(
        text.MODEL(lang),
        _with("model", models.offered()),
        key="model",
        help=text.MODEL_HELP(lang, count=len(catalogue.models())),
        filter_mode="contains",
        # What is typed and not bundled gets an answer, instead of a box that quietly forgets it.
        accept_new_options=True,
        on_change=state.model_chosen,
        persist_state="session",
    )
    if "model" in answered.errors:
        show.lines((answered.errors["model"](lang),))
        _hub(lang)
    else:
        with st.container(gap="xxsmall"):
            if answered.sizing is not None:
                show.face(answered.sizing, lang)
            show.origin(scenario, lang)
        if models.lacks_weights(str(state.shown("model"))):
            _try_again(lang)
    pastes = session().get("pastes", 0)
    with st.popover(text.PASTE(lang), icon=":material/content_paste:", width="stretch", key=f"paste_{pastes}"):
        _paste(lang)
    left, right = _pair([2, 1])
    with left:
        names = {d.id: d.name for d in every_device()} | {"": text.NO_GPU(lang)}
        state.draws("gpu")
        st.selectbox(
            text.GPU(lang),
            _with("gpu", list(names)),
            key="gpu",
            help=text.GPU_HELP(lang),
            format_func=lambda option: names.get(option) or show.gpu_called(option),
            filter_mode="contains",
            accept_new_options=True,  # a number of GiB is a GPU of one's own
            on_change=state.gpu_chosen,
            persist_state="session",
        )
    with right:
        _typed("gpus", lang, text.GPUS_HELP)
    _errors(answered, lang, "gpu", "gpus")
    if "gpu" in answered.errors and (hits := meant(str(state.shown("gpu")))):
        ids = [gpu.id for gpu in hits[:_MOST_HITS]]
        st.pills(
            text.GPU_HITS(lang),
            ids,
            key="gpu_hit",
            on_change=state.gpu_hit_chosen,
            format_func=lambda gpu: short_name(show.gpu_called(gpu)),
            wrap=True,  # in a narrow column they would run out of sight
        )
    if _asks_weights(answered):
        _typed("weights_gib", lang, _MORE["weights_gib"])
        _errors(answered, lang, "weights_gib")
    left, right = _pair()
    with left:
        _typed("input", lang, text.TOKENS_HELP)
    with right:
        _typed("output", lang, text.TOKENS_HELP)
    _errors(answered, lang, "input", "output")
    _passages(answered, lang)
    lengths = {"input": scenario.input_tokens, "output": scenario.output, "tokens": scenario.tokens}
    st.caption(text.TOKENS_SUM(lang, **{name: format_count(count) for name, count in lengths.items()}))
    left, right = _pair()
    with left:
        _typed("sequences", lang, text.SEQUENCES_HELP, disabled=scenario.from_users is not None)
    with right:
        _chosen("kv_dtype", _kv_dtypes(answered), lang, text.KV_DTYPE_HELP)
    _errors(answered, lang, "sequences", "kv_dtype")
    _users(answered, lang)
    if answered.sizing is not None and scenario.kv_dtype == "auto":
        reason = show.plain(answered.sizing.kv_dtype_reason(lang))
        st.caption(text.RESOLVED_TO(lang, name=answered.sizing.kv_dtype.name, reason=reason))


def more(answered: Answer, lang: Lang) -> None:
    """The folded settings; what differs from the defaults is named under them while they are folded.

    Not in the label: to Streamlit another label is another panel, and whoever types in it would lose the place.
    """
    changed = changed_fields(answered.scenario)
    panel = show.folded(text.MORE(lang), key="more", icon=":material/tune:")
    if not panel.open:
        if changed:
            st.caption(text.MORE_CHANGED(lang, names=show.named(changed, lang)))
        return
    with panel:
        shown = [field for field in _MORE if field in changed or _has(answered.scenario.engine, field)]
        if _asks_weights(answered):  # in sight
            shown.remove("weights_gib")
        for row in range(0, len(shown), 2):
            for place, field in zip(_pair(), shown[row : row + 2], strict=False):
                with place:
                    _one_of_more(field, answered, lang)
            _errors(answered, lang, *shown[row : row + 2])
        _errors(answered, lang, *(field for field in MORE_SETTINGS if field not in shown and field != "weights_gib"))
        if changed:
            st.button(text.RESET(lang), on_click=state.reset_more, icon=":material/undo:")


def _asks_weights(answered: Answer) -> bool:
    """Whether nobody knows the weights of this model but who asks; the box stays where it is once they are typed."""
    model = answered.scenario.model
    if any(note.code == "weights-unknown" for note in answered.notes):
        session()["asks_weights"] = model
    return bool(session().get("asks_weights") == model)


def _has(engine: str, field: str) -> bool:
    """Whether this engine has such a setting."""
    if field == "engine_version":
        return bool(ENGINE_VERSIONS[engine])
    return engine in ENGINES_WITH.get(field, ENGINES)


def _one_of_more(field: str, answered: Answer, lang: Lang) -> None:
    engine = answered.scenario.engine
    match field:
        case "engine":
            chosen = state.engine_chosen
            _chosen(field, list(ENGINES), lang, _MORE[field], format_func=name_of, on_change=chosen)
        case "engine_version":
            versions = ["auto", *ENGINE_VERSIONS[engine]]
            _chosen(field, versions, lang, _MORE[field], format_func=lambda version: name_of(engine, version))
        case "tp":
            _chosen(field, list(_TP_OPTIONS), lang, _MORE[field])
        case "v_dtype":
            _chosen(field, ["same", *_kv_dtypes(answered)[1:]], lang, _MORE[field])
        case _ if field in CHOICES:
            _chosen(field, list(CHOICES[field]), lang, _MORE[field])
        case _:
            _typed(field, lang, _MORE[field])


def _paste(lang: Lang) -> None:
    st.text_area(text.PASTE_BOX(lang), key="paste_box", height=220, placeholder='{"model_type": "llama", …}')
    if lines := session().get("paste_problem"):
        show.lines(lines)
    st.text_input(text.PASTE_NAME(lang), key="paste_name", placeholder=text.AUTO(lang), max_chars=96)
    st.button(text.PASTE_APPLY(lang), on_click=state.use_pasted_config, type=browser.foremost())
    st.caption(text.PASTE_PRIVACY(lang))


def _hub(lang: Lang) -> None:
    """What helps where the model was not found: another try, what the Hub's search found, or a token."""
    if models.can_pass():
        _try_again(lang)
    if hits := session().get("hits"):
        st.pills(text.HUB_HITS(lang), hits, key="hub_hit", on_change=state.hit_chosen, wrap=True)
    if models.asks_for_token():
        with st.form("with_token", border=False):  # where Enter does what the button does
            st.text_input(text.TOKEN(lang), type="password", key="hub_token", help=text.TOKEN_HELP(lang))
            st.form_submit_button(text.READ_WITH_TOKEN(lang), on_click=state.read_with_token)


def _try_again(lang: Lang) -> None:
    st.button(text.TRY_AGAIN(lang), key="ask_again", icon=":material/refresh:", on_click=state.ask_again)


def _passages(answered: Answer, lang: Lang) -> None:
    """Input that retrieval adds, folded: most people have none."""
    scenario = answered.scenario
    label = text.ADD_PASSAGES(lang)
    if scenario.passages:
        counts = {"passages": scenario.passages, "tokens": scenario.passage_tokens}
        label = text.PASSAGES_ADDED(lang, **{name: format_count(count) for name, count in counts.items()})
    with st.popover(label, icon=":material/library_add:", key="passages_popover", type="tertiary"):
        left, right = _pair()
        with left:
            _typed("passages", lang, text.PASSAGES_HELP)
        with right:
            _typed("passage_tokens", lang, text.PASSAGES_HELP)
    _errors(answered, lang, "passages", "passage_tokens")


def _users(answered: Answer, lang: Lang) -> None:
    """Requests in flight from the number of people, folded; the formula is shown."""
    counted = answered.scenario.from_users
    label = text.ONLY_USERS(lang)
    if counted:
        values = {"users": format_count(counted.users), "requests": format_count(counted.requests)}
        label = text.USERS_KNOWN(lang, **values)
    with st.popover(label, icon=":material/group:", key="users_popover", type="tertiary"):
        _typed("users", lang, text.USERS_HELP)
        left, right = _pair()
        with left:
            _typed("answer_s", lang, text.ANSWER_S_HELP)
        with right:
            _typed("seconds_between", lang, text.SECONDS_BETWEEN_HELP)
        if counted:
            requests = format_count(counted.requests)
            st.caption(text.USERS_FORMULA(lang, formula=counted.formula, requests=requests))
    _errors(answered, lang, "users", "answer_s", "seconds_between")


def _pair(widths: list[int] | int = 2) -> list[DeltaGenerator]:
    """Two controls side by side, level where one label takes two lines."""
    return st.columns(widths, vertical_alignment="bottom")


def _typed(field: str, lang: Lang, explained: Text, *, disabled: bool = False) -> None:
    state.draws(field)
    st.text_input(
        text.LABELS[field](lang),
        key=field,
        help=explained(lang),
        placeholder=text.AUTO(lang) if field in OPTIONAL else None,
        disabled=disabled,
        persist_state="session",
    )


def _chosen(
    field: str,
    options: list[str],
    lang: Lang,
    explained: Text | None = None,
    *,
    format_func: Callable[[str], str] = str,
    on_change: Callable[[], None] | None = None,
) -> None:
    state.draws(field)
    st.selectbox(
        text.LABELS[field](lang),
        _with(field, options),
        key=field,
        help=explained(lang) if explained else None,
        format_func=format_func,
        on_change=on_change,
        persist_state="session",
    )


def _kv_dtypes(answered: Answer) -> list[str]:
    """The types that this model can have on this GPU; all the engine offers where there is no answer."""
    return list(usable_kv_dtypes(answered.sizing) if answered.sizing else kv_dtypes(answered.scenario.engine))


def _errors(answered: Answer, lang: Lang, *fields: str) -> None:
    """What is wrong with these, as wide as the controls are together: in half a column nobody can read it."""
    for field in fields:
        if field in answered.errors:
            show.lines((show.error_line(answered, field, lang),))


def _with(field: str, options: list[str]) -> list[str]:
    """``options`` with what the setting says among them: what a link says is never silently replaced."""
    said = str(state.shown(field))
    return options if said in options else [said, *options]
