"""The Shared heads page's own state, read once from the link, and how it shows sharing and kinds of layers."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import ceil

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from kvviz import explain, kept
from kvviz.charts.heads import (
    DESKTOP_WIDE,
    PHONE_WIDE,
    heads_svg,
    label,
    layers_words,
    ratio_words,
    sharing_rows,
)
from kvviz.charts.kept import kept_rows, kept_words, payload
from kvviz.charts.words import tokens as tokens_words
from kvviz.core.cache import IndexerKeys
from kvviz.core.units import format_bytes, format_count
from kvviz.heads import (
    AS_MADE,
    COMMON_QUERIES,
    PRESETS,
    TABS,
    VIEWS,
    Heads,
    Sharing,
    heads_of,
    kind_of,
    latent_saves,
    other_of_pair,
    shared_more,
    sharings,
    size_of_other,
)
from kvviz.resolve import resolve
from kvviz.scenario import Scenario, shown
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message
from kvviz.text import heads as text
from kvviz.text import sizing as labels
from kvviz.ui import models, show, state
from kvviz.ui.player import player, step_of
from kvviz.ui.session import session

_EXAMPLE_STEP = 20
"""Where every kind of layer shows what it is."""
_MOST_NAMED = 2
_CARD = 168
"""Pixels of one of two cards beside each other on a phone."""

# --- state -----------------------------------------------------------------------------------------------------------


def begin(lang: Lang) -> None:
    """On the page's first run in a session, take over what the link says of it; later, follow the language."""
    if "heads_lang" not in session():
        asked = {name: st.query_params[name] for name in st.query_params}
        problems = []
        chosen = {"tab": TABS[0], "view": VIEWS[0]}
        for name, choices in (("tab", TABS), ("view", VIEWS)):
            given = asked.get(f"heads_{name}", chosen[name])
            if given in choices:
                chosen[name] = given
            else:
                problems.append(Message(text.NO_SUCH, {"name": f"heads_{name}", "shown": shown(given)}))
        step = asked.get("heads_step", "")
        st.session_state["heads_view"] = chosen["view"]
        session().update(
            heads_lang="",
            heads_tab=chosen["tab"],
            heads_asked=asked.get("heads_kv", ""),
            heads_of="",
            heads_filled=(None, lang, int(step) if step.isdecimal() and len(step) < 4 else None),
            heads_problems=problems,
        )
    if session()["heads_lang"] != lang:
        _open_tab(session()["heads_tab"], lang)
        session()["heads_lang"] = lang


def _open_tab(tab: str, lang: Lang) -> None:
    session()["heads_tab"] = tab
    st.session_state["heads_tabs"] = _tab_names(lang)[TABS.index(tab)]


def _tab_names(lang: Lang) -> list[str]:
    return [text.TAB_HEADS(lang), text.TAB_LAYERS(lang)]


def tabs(lang: Lang) -> Sequence[TabContainer]:
    """Both tabs; only the open one is to be filled."""
    both = st.tabs(_tab_names(lang), key="heads_tabs", on_change="rerun")
    session()["heads_tab"] = TABS[1] if both[1].open else TABS[0]
    return both


def problems(sizing: Sizing | None, lang: Lang) -> None:
    """What of the link could not be used: above the tabs, so that it is told whichever is open."""
    if sizing is not None and (asked := session()["heads_asked"]):
        heads = heads_of(sizing.architecture)
        if not isinstance(heads, Heads) or asked not in map(str, heads.counts):
            session()["heads_asked"] = ""
            problem = Message(text.NO_SUCH, {"name": "heads_kv", "shown": shown(asked)})
            session()["heads_problems"] = [*session()["heads_problems"], problem]
    for message in session()["heads_problems"]:
        st.warning(show.plain(message(lang)), icon=":material/link_off:")


def publish(scenario: Scenario, *, asked: bool) -> str:
    """Put what the page shows into the address bar; returns its link."""
    more = {
        "heads_tab": session()["heads_tab"],
        "heads_kv": str(st.session_state.get("heads_kv") or "") if session().get("heads_what_if") else "",
        "heads_view": st.session_state["heads_view"],
        "heads_step": str(session().get("heads_step", "")),
    }
    more = {name: value for name, value in more.items() if value}
    scenario = state.publish(scenario, asked=asked, **more)
    return f"{state.base()}?{state.query(scenario, **more)}"


# --- above both tabs -------------------------------------------------------------------------------------------------


def presets(scenario: Scenario, lang: Lang) -> None:
    """Models to begin with; one press opens its scenario."""
    st.session_state["heads_preset"] = next(
        (code for code, preset in PRESETS.items() if preset.scenario.model == scenario.model), None
    )
    st.pills(
        text.PRESETS_LABEL(lang),
        list(PRESETS),
        key="heads_preset",
        format_func=lambda code: text.PRESETS[code](lang),
        on_change=_preset_chosen,
        args=(lang,),
        label_visibility="collapsed",
        wrap=True,
    )


def _preset_chosen(lang: Lang) -> None:
    """Callback: open the example's scenario, and the tab that it is about."""
    if (code := st.session_state["heads_preset"]) is None:  # pressed once more
        return
    preset = PRESETS[code]
    session()["heads_problems"] = []
    state.apply(preset.scenario, Message(text.PRESETS[code]))
    _open_tab(TABS[preset.layers], lang)
    st.session_state["heads_view"] = VIEWS[preset.layers]


# --- shared heads ----------------------------------------------------------------------------------------------------


def heads_tab(sizing: Sizing, lang: Lang, *, phone: bool) -> None:
    """Who shares with whom, another number of KV heads, and what it makes of the answer."""
    heads = heads_of(sizing.architecture)
    if not isinstance(heads, Heads):
        session()["heads_what_if"] = False
        _not_shared(sizing, text.NOT_SHARED[heads], lang)
        return
    weights = resolve(sizing.scenario, given=models.given(sizing.scenario)).weights
    possible = sharings(sizing, heads, weights=weights)
    chosen = _chosen(sizing, heads, possible)
    session()["heads_what_if"] = not chosen.real
    st.markdown(f"### {show.plain(_headline(sizing, heads, chosen, lang))}")
    # Whoever moves it sees the dots and the numbers change together: side by side where there is room.
    left, right = (st.container(), st.container()) if phone else st.columns([11, 8], gap="medium")
    with left:
        _slider(heads, possible, chosen, lang)
        moving(heads_svg(heads, chosen, lang, across=PHONE_WIDE if phone else DESKTOP_WIDE), key="heads_drawing")
    with right:
        _numbers(sizing, heads, chosen, possible, lang, phone=phone)
    _working(chosen, lang)
    _beside(sizing, heads, chosen, possible, lang)
    show.table(partial(sharing_rows, heads, possible, sizing.tokens, lang), key="heads", lang=lang)
    _pair(sizing, lang)


def _chosen(sizing: Sizing, heads: Heads, possible: Sequence[Sharing]) -> Sharing:
    """What the slider says; another model begins as it is."""
    of = f"{sizing.scenario.model} {sizing.scenario.revision}"
    if session()["heads_of"] != of:
        session()["heads_of"] = of
        st.session_state["heads_kv"] = heads.made
        if asked := session()["heads_asked"]:
            session()["heads_asked"] = ""
            st.session_state["heads_kv"] = int(asked)
    if st.session_state.get("heads_kv") not in {one.kv_heads for one in possible}:
        st.session_state["heads_kv"] = heads.made
    return next(one for one in possible if one.kv_heads == st.session_state["heads_kv"])


def _slider(heads: Heads, possible: Sequence[Sharing], chosen: Sharing, lang: Lang) -> None:
    names = {one.kv_heads: label(one, heads) for one in possible}
    if len(possible) > 1:
        st.select_slider(
            text.SLIDER(lang, queries=format_count(heads.query_heads)),
            list(names),
            key="heads_kv",
            format_func=names.__getitem__,
            help=text.SLIDER_HELP(lang),
            persist_state="session",
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        if chosen.real:
            st.badge(text.REAL(lang), icon=":material/check:", color="green")
        else:
            st.badge(text.WHAT_IF(lang), icon=":material/science:", color="orange", help=text.WHAT_IF_NOTE(lang))
            made = next(one for one in possible if one.real)
            back = text.BACK(lang, heads=label(made, heads))
            st.button(back, key="heads_back", icon=":material/undo:", on_click=_back, args=(heads.made,))


def _back(made: int) -> None:
    """Callback: the real model again."""
    st.session_state["heads_kv"] = made


def _headline(sizing: Sizing, heads: Heads, chosen: Sharing, lang: Lang) -> str:
    model, queries = sizing.scenario.model.rpartition("/")[2], format_count(heads.query_heads)
    if not chosen.real:
        times = chosen.content.bytes_at(sizing.tokens) / sizing.content.bytes_at(sizing.tokens)
        factor = (
            text.TIMES(lang, factor=_number(times)) if times > 1 else text.OF_WHOLE(lang, fraction=_of(times, lang))
        )
        count = text.KV_HEAD(lang) if chosen.kv_heads == 1 else text.KV_HEADS(lang, count=chosen.kv_heads)
        kind = kind_of(chosen.kv_heads, heads.query_heads)
        return text.HEAD_WHAT_IF(lang, model=model, heads=count, kind=kind, times=factor)
    ratio = _of(chosen.ratio, lang)
    if chosen.kv_heads == AS_MADE:
        return text.HEAD_MIXED(lang, model=model, ratio=ratio)
    said = {"MHA": text.HEAD_MHA, "GQA": text.HEAD_GQA, "MQA": text.HEAD_MQA}
    kind = kind_of(chosen.kv_heads, heads.query_heads)
    return said[kind](lang, model=model, queries=queries, heads=format_count(chosen.kv_heads), ratio=ratio)


def _of(ratio: Fraction, lang: Lang) -> str:
    """A ratio inside a sentence."""
    said = ratio_words(ratio)
    return text.DECIMAL(lang, ratio=said) if said.startswith("0.") else said


def _number(value: Fraction) -> str:
    return f"{float(value):,.3g}"


def _numbers(
    sizing: Sizing, heads: Heads, chosen: Sharing, possible: Sequence[Sharing], lang: Lang, *, phone: bool
) -> None:
    """Ratio, bytes of a token, bytes of a request, requests at once, each beside the two ends."""
    most = next(one for one in possible if one.kv_heads == heads.query_heads)
    least = next(one for one in possible if one.kv_heads == 1)
    queries = format_count(heads.query_heads)
    if chosen.ratio == Fraction(chosen.kv_heads, heads.query_heads):
        words = text.RATIO_BESIDE_ONE if chosen.kv_heads == 1 else text.RATIO_BESIDE
        beside = words(lang, heads=format_count(chosen.kv_heads), queries=queries)
    else:
        beside = text.RATIO_BESIDE_MIXED(lang)
    tokens = sizing.tokens

    def request(of: Sharing) -> str:
        return format_bytes(ceil(of.content.bytes_at(tokens)))

    def token(of: Sharing) -> str:
        return format_bytes(of.token_bytes)

    def fit(of: Sharing) -> str:
        return text.UNKNOWN(lang) if of.at_once is None else format_count(of.at_once)

    where = {"gpus": format_count(sizing.scenario.gpus), "gpu": show.gpu_name(sizing.scenario, lang)}
    per_token = text.PER_TOKEN_BESIDE(lang, mha=token(most), mqa=token(least))
    if chosen.content.limited:
        per_token = text.PER_TOKEN_LIMITED(lang, after=format_bytes(chosen.content.growing_bytes_per_token))
    at_once = text.AT_ONCE_BESIDE(lang, mha=fit(most), mqa=fit(least), **where)
    facts = [
        (text.RATIO(lang), ratio_words(chosen.ratio), beside),
        (text.PER_TOKEN(lang), token(chosen), per_token),
        (
            text.PER_REQUEST(lang),
            request(chosen),
            text.PER_REQUEST_BESIDE(lang, tokens=tokens_words(tokens, lang), mha=request(most), mqa=request(least)),
        ),
        (text.AT_ONCE(lang), fit(chosen), text.AT_ONCE_UNKNOWN(lang) if chosen.at_once is None else at_once),
    ]
    for row in (facts[:2], facts[2:]):
        with st.container(horizontal=True, gap="small"):
            for name, value, more in row:
                with st.container(border=True, gap="xxsmall", height="stretch", width=_CARD if phone else "stretch"):
                    st.metric(name, value)
                    st.caption(show.plain(more))


def _working(chosen: Sharing, lang: Lang) -> None:
    """The formulas with their numbers."""
    if chosen.sizing is not None:
        working = explain.workings(chosen.sizing)
        said = [
            text.WORKING(lang, what=line.what(lang), formula=line.formula)
            for line in explain.lines(chosen.sizing)
            if line.tokens is not None
        ]
        if working and chosen.at_once:
            said.append(text.WORKING_AT_ONCE(lang, formula=working.at_once, count=format_count(chosen.at_once)))
        st.caption("  \n".join(show.plain(line) for line in said))


def _beside(sizing: Sizing, heads: Heads, chosen: Sharing, possible: Sequence[Sharing], lang: Lang) -> None:
    """What must be known to read the numbers."""
    said = []
    if chosen.problem is not None:
        said.append(chosen.problem(lang))
    if not chosen.real:
        said.append(text.WHAT_IF_NOTE(lang))
    if heads.made == AS_MADE:
        groups = [
            text.MIXED_GROUP(lang, heads=format_count(group.kv_heads), layers=layers_words((group,), lang))
            for group in heads.groups
        ]
        said.append(text.MIXED_NOTE(lang, groups=text.SEPARATOR(lang).join(groups)))
    elif chosen.real:
        layers = [layers_words(heads.groups, lang)]
        if heads.other_layers:
            layers.append(text.OTHER_LAYERS(lang, layers=format_count(heads.other_layers)))
        said.append(text.WHICH_LAYERS(lang, layers=text.SEPARATOR(lang).join(layers)))
    if any(isinstance(cache, IndexerKeys) for layer in sizing.architecture.layers for cache in layer):
        said.append(text.NOT_SHARED_PARTS(lang))
    if chosen.content.state_bytes:
        states = format_bytes(chosen.content.state_bytes)
        said.append(text.NOT_SHARED_STATES(lang, states=states, ratio=ratio_words(chosen.shared_ratio)))
    if chosen.sizing is not None:
        if copied := [note.message(lang) for note in chosen.sizing.notes if note.code == "kv-heads-copied"]:
            said += copied
            same = [one.kv_heads for one in possible if one.at_once is not None and one.at_once == chosen.at_once]
            if (least := min((n for n in same if n > chosen.kv_heads), default=0)) and chosen.kv_heads:
                said.append(text.NO_MORE_FIT(lang, heads=format_count(least)))
        if chosen.sizing.plan_missing is not None:
            said.append(chosen.sizing.plan_missing.message(lang))
    st.caption("  \n".join(f":orange[:material/info:] {show.plain(sentence)}" for sentence in said))


def _pair(sizing: Sizing, lang: Lang) -> None:
    """For a model with a younger or elder sister: both, byte by byte."""
    other = other_of_pair(sizing.scenario.model)
    if other is None:
        return
    sides = sorted(
        (sizing, size_of_other(other, sizing.scenario)), key=lambda one: -one.content.growing_bytes_per_token
    )
    more, less = sides
    values = {}
    for name, one in (("more", more), ("less", less)):
        per_token = one.content.growing_bytes_per_token
        values[name] = show.plain(one.scenario.model.rpartition("/")[2])
        values[f"{name}_bytes"] = format_bytes(per_token)
        values[f"{name}_formula"] = show.plain(explain.lines(one)[0].formula)
    times = more.content.growing_bytes_per_token / less.content.growing_bytes_per_token
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(text.PAIR(lang, times=f"{float(times):.1f}", **values))
        name = other.rpartition("/")[2]
        asked = Scenario(model=other)
        arguments = (asked, Message(text.OPEN_OTHER, {"model": name}))
        st.button(text.OPEN_OTHER(lang, model=name), key="heads_other", on_click=state.apply, args=arguments)


def _not_shared(sizing: Sizing, why: object, lang: Lang) -> None:
    """That there is nothing to share, and what there is instead."""
    if callable(why):
        st.info(show.plain(why(lang, model=sizing.scenario.model)), icon=":material/info:")
    latent(sizing, lang)
    st.markdown(text.SEE_LAYERS(lang))


def latent(sizing: Sizing, lang: Lang) -> None:
    """For a model with latents: how much one saves over the heads it stands for."""
    if (saves := latent_saves(sizing.architecture)) is None:
        return
    cache, stored, apart = saves
    values = {
        "times": f"{apart / stored:.0f}",
        "latent": format_count(stored),
        "rank": format_count(cache.latent_dim),
        "rope": format_count(cache.rope_dim),
        "heads": format_count(cache.heads),
        "apart": format_count(apart),
    }
    st.markdown(text.LATENT(lang, **values))


def quality(lang: Lang) -> None:
    """What authors report of quality, and how far others go."""
    st.markdown(f"#### {text.QUALITY(lang)}")
    lines = []
    for name, said, sources in text.QUALITY_ROWS:
        links = ", ".join(f"[{who}]({where})" for who, where in sources)
        lines.append(f"- **{name}** {show.plain(said(lang))} {links}")
    st.markdown("\n".join(lines))
    st.caption(text.QUALITY_CAVEAT(lang))
    found = shared_more()
    examples = [text.FLOOR_EXAMPLE(lang, each=each, models=_some(names, lang)) for each, names in found.models.items()]
    values = {
        "common": COMMON_QUERIES,
        "count": format_count(found.configs),
        "all": format_count(found.of_configs),
        "models": format_count(sum(map(len, found.models.values()))),
        "examples": text.PART_SEPARATOR(lang).join(examples),
    }
    st.markdown(show.plain(text.NOT_THE_FLOOR(lang, **values)))


def _some(names: Sequence[str], lang: Lang) -> str:
    few = text.SEPARATOR(lang).join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return few if more <= 0 else text.FLOOR_MORE(lang, models=few, more=format_count(more))


_MOVING_JS = """
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("div");
  if (root.drawn === data.svg) return;
  const named = () => [...root.querySelectorAll("[data-name]")];
  const before = new Map(named().map((shape) => [shape.dataset.name, shape.getBoundingClientRect()]));
  root.drawn = data.svg;
  root.innerHTML = data.svg;
  if (!before.size || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  // Every dot goes from where it was to where it is now.
  const svg = root.querySelector("svg"), scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
  for (const shape of named()) {
    const was = before.get(shape.dataset.name), is = shape.getBoundingClientRect();
    if (!was) continue;
    const by = `translate(${(was.left - is.left) * scale}px, ${(was.top - is.top) * scale}px)`;
    shape.animate([{ transform: by }, { transform: "none" }], { duration: 500, easing: "ease-in-out" });
  }
}
"""


def moving(drawing: str, *, key: str) -> None:
    """A drawing whose named shapes move to their places in the next one."""
    mount = st.components.v2.component("kvviz_moving", html="<div></div>", js=_MOVING_JS)
    mount(key=key, data={"svg": drawing})


# --- kinds of layers -------------------------------------------------------------------------------------------------


def layers_tab(sizing: Sizing, lang: Lang) -> None:
    """What each kind of layer keeps while tokens arrive."""
    sizes = {"example": kept.EXAMPLE_TOKENS, "model": sizing.tokens}
    st.segmented_control(
        text.VIEW(lang),
        VIEWS,
        key="heads_view",
        format_func=lambda view: text.VIEWS[view](lang, tokens=format_count(sizes[view])),
        label_visibility="collapsed",
        required=True,
        persist_state="session",
    )
    view = st.session_state["heads_view"]
    filling = kept.of_model(sizing) if view == "model" else kept.example()
    model = sizing.scenario.model.rpartition("/")[2]
    st.markdown(f"**{show.plain(kept_words(filling, model, lang))}**")
    key = (view, sizing.scenario if view == "model" else None)
    packed, step = _filled(filling, key, lang)
    player("kept", packed)
    session()["heads_step"] = step
    _notes(sizing, filling, lang)
    show.table(partial(kept_rows, filling, lang), key="kept", lang=lang)


@st.cache_data(show_spinner=False, max_entries=32)
def _packed(key: object, start: int, lang: Lang, _filling: kept.Filling) -> bytes:
    del key  # what tells one filling from another
    return payload(_filling, start=start, lang=lang)


def _filled(filling: kept.Filling, key: object, lang: Lang) -> tuple[bytes, int]:
    """What the player is fed with, and the step it rests at. In another language it goes on where it was."""
    before, before_lang, start = session()["heads_filled"]
    usual = min(_EXAMPLE_STEP, len(filling.steps) - 1) if not filling.layers else len(filling.steps) - 1
    if before is None:  # what the link says
        start = usual if start is None else min(start, len(filling.steps) - 1)
    elif before != key:
        start = usual
    elif before_lang != lang:
        start = session()["heads_step"]
    session()["heads_filled"] = (key, lang, start)
    packed = _packed(key, start, lang, filling)
    return packed, min(step_of("kept", packed, start), len(filling.steps) - 1)


def _notes(sizing: Sizing, filling: kept.Filling, lang: Lang) -> None:
    said = []
    fixed = any(part.kind in text.FIXED for lane in filling.lanes for part in lane.parts(1, filling.dtype))
    if fixed:
        said.append(text.SCALE_NOTE(lang))
    if not filling.layers:
        full = filling.lanes[0].like.rpartition("/")[2]
        said.append(text.EXAMPLE_NOTE(lang, limit=kept.EXAMPLE_LIMIT, full=full))
    if tokens := kept.breaks_even_tokens(filling):
        said.append(text.BREAK_EVEN(lang, tokens=format_count(tokens)))
    if any(lane.letter == "c" for lane in filling.lanes):
        said.append(text.CHUNK_NOTE(lang))
    if filling.left_out:
        said.append(text.LEFT_OUT(lang, count=filling.left_out))
    if said:
        st.caption("  \n".join(f":orange[:material/info:] {show.plain(sentence)}" for sentence in said))
    latent(sizing, lang)


def share(scenario: Scenario, lang: Lang, *, asked: bool) -> None:
    """The link, folded."""
    link = publish(scenario, asked=asked)
    panel = show.folded(labels.SHARE(lang), key="heads_share", icon=":material/share:")
    if panel.open:
        with panel:
            st.caption(text.LINK(lang))
            st.code(link, language=None, wrap_lines=True)
