"""The Blocks page's own state, read once from the link, and its controls."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

import streamlit as st

from kvviz.allocation.workload import TEACHING, VISITOR_REQUESTS, Request, Trace, load_trace, read_trace
from kvviz.charts import allocation as charts
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.engines.vllm import VllmPlan
from kvviz.learn import PAPER_BATCHES, PAPER_THROUGHPUT
from kvviz.race import (
    BOUNDS,
    CHOICES,
    FIELDS,
    GENERATED,
    MAX_BLOCKS,
    MAX_GROUPS,
    OWN,
    PRESETS,
    Race,
    Settings,
    from_query,
    parse,
    payload,
    race,
    taken,
)
from kvviz.sweeps import PAPER_SETTING, Study, Underway, looked_at, study
from kvviz.text import Lang, Text
from kvviz.text import blocks as text
from kvviz.ui import browser, show
from kvviz.ui.answer import Answer
from kvviz.ui.player import step_of
from kvviz.ui.session import session
from kvviz.verdict import short_name

_NAMES: Final = {"trace": text.TRACES, "reserve": text.RESERVES, "place": text.PLACES, "view": text.VIEWS}


def begin() -> None:
    """On the page's first run in a session, take over what the link says of it."""
    if "blocks_good" in session():
        return
    settings, step, rejected = from_query({name: st.query_params[name] for name in st.query_params})
    session()["blocks_rejected"] = list(rejected)
    session()["blocks_shown"] = (settings, "", None, step)
    put(settings)


def put(settings: Settings) -> None:
    """Make ``settings`` what the widgets show. Only before they are drawn."""
    session()["blocks_good"] = settings
    for name in FIELDS:
        value = getattr(settings, name)
        st.session_state[f"blocks_{name}"] = f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def read(lang: Lang) -> tuple[Settings, tuple[str, ...]]:
    """What the widgets ask for, and what is wrong with it; then the last usable settings stand in."""
    good: Settings = session()["blocks_good"]
    given, wrong = {}, []
    hidden = _hidden(st.session_state.get("blocks_view", good.view), st.session_state.get("blocks_trace", good.trace))
    for name in FIELDS:
        if name in hidden:  # nobody could mend it there
            continue
        try:
            given[name] = parse(name, str(st.session_state.get(f"blocks_{name}", getattr(good, name))))
        except KvvizError as error:
            wrong.append(error.message(lang))
    try:
        asked = replace(good, **given)  # type: ignore[arg-type]
    except KvvizError as error:
        wrong.append(error.message(lang))
        asked = good
    else:
        session()["blocks_good"] = asked
    return asked, tuple(wrong)


def _hidden(view: str, trace: str) -> set[str]:
    """Settings that such a race does not look at."""
    made_up, hybrid = trace == GENERATED, view == "hybrid"
    # Of blocks a request takes as many as it needs; only what is made up or set aside has a longest one.
    return (
        (set() if made_up else {"seed", "prompt", "answer"})
        | ({"reserve", "place"} if hybrid else {"windows"})
        | ({"longest"} if hybrid and not made_up else set())
    )


def _trace_chosen() -> None:
    """Callback: other requests come with a pool that suits them."""
    good: Settings = session()["blocks_good"]
    put(replace(PRESETS[st.session_state["blocks_trace"]], view=good.view))


def _file_chosen() -> None:
    """Callback: read the file that was uploaded, or say what is wrong with it."""
    session()["blocks_own"] = None
    session()["blocks_own_problem"] = None
    if (file := st.session_state["blocks_file"]) is None:
        return
    try:
        trace = read_trace(file, name=file.name, limit=VISITOR_REQUESTS)
    except KvvizError as error:
        session()["blocks_own_problem"] = error.message
    else:
        digest = hashlib.sha256(file.getvalue()).hexdigest()
        session()["blocks_own"] = digest, trace


def take_pool(blocks: int, plan: VllmPlan, longest: int) -> None:
    """Callback: play on a pool of so many blocks, with the plan's groups of layers."""
    good: Settings = session()["blocks_good"]
    block = min(plan.block_tokens, BOUNDS["block"][1])
    longest = min(max(longest, BOUNDS["longest"][0]), BOUNDS["longest"][1])
    pool = min(blocks, MAX_BLOCKS) * block
    windows = good.windows
    # Other kinds of layers hold blocks by other rules than those that are played here.
    if {g.kind for g in plan.groups} <= {"full", "latent", "window"} and len(plan.groups) <= MAX_GROUPS:
        windows = ",".join(str(g.limit_tokens) if g.kind == "window" else "full" for g in plan.groups)
    put(replace(good, block=block, pool=pool, longest=longest, windows=windows))


def requests(settings: Settings) -> tuple[str, Iterable[Request]] | None:
    """All requests that the settings are about, under a name that tells them from others; None: no file yet."""
    if settings.trace == GENERATED:
        return GENERATED, settings.made_up()
    if settings.trace == OWN:
        own: tuple[str, Trace] | None = session().get("blocks_own")
        return (own[0], own[1].requests) if own else None
    return settings.trace, _bundled(settings.trace).requests


@lru_cache(maxsize=4)
def _bundled(name: str) -> Trace:
    return load_trace(name)


@lru_cache(maxsize=32)
def _raced(settings: Settings, name: str) -> Race:
    """The race of ``requests`` that are called so."""
    _, every = requests(settings) or (name, TEACHING.requests)
    return race(settings, taken(settings, every))


@lru_cache(maxsize=32)
def _packed(settings: Settings, name: str, start: int, lang: Lang) -> bytes:
    return payload(_raced(settings, name), start=start, lang=lang)


def prepared(settings: Settings, lang: Lang) -> tuple[Race, bytes, int]:
    """The race, what its player is fed with, and the step it rests at. Raises KvvizError."""
    found = requests(settings)
    if found is None:
        settings = replace(PRESETS[TEACHING.name], view=settings.view)
        found = TEACHING.name, TEACHING.requests
    name, _ = found
    raced = _raced(settings, name)
    before, before_name, before_lang, start = session()["blocks_shown"]
    if (settings, name) != (before, before_name or name):
        start = 0
    elif before_lang not in (None, lang):  # the same race in another language goes on where it was
        start = session()["blocks_step"]
    start = min(start, raced.end)
    session()["blocks_shown"] = (settings, name, lang, start)
    packed = _packed(settings, name, start, lang)
    session()["blocks_step"] = step = min(step_of("race", packed, start), raced.end)
    return raced, packed, step


def controls(settings: Settings, answered: Answer, lang: Lang) -> None:
    """Everything that can be set."""
    which, whose, many = st.columns(3, vertical_alignment="bottom")
    with which:
        _chosen("view", lang)
    with whose:
        _chosen("trace", lang)
    with many:
        _typed("first", lang)
    if settings.trace == OWN:
        label = text.UPLOAD(lang, megabytes=_megabytes())
        st.file_uploader(label, key="blocks_file", type=["csv", "json", "jsonl"], on_change=_file_chosen)
        if own := session().get("blocks_own"):
            counted = format_count(len(own[1].requests))
            st.caption(show.plain(text.PLAYED(lang, name=own[1].name, requests=counted)))
    if settings.trace == GENERATED:
        for place, name in zip(st.columns(3, vertical_alignment="bottom"), ("seed", "prompt", "answer"), strict=True):
            with place:
                _typed(name, lang)
    sizes = [name for name in ("pool", "block", "longest") if name not in _hidden(settings.view, settings.trace)]
    for place, name in zip(st.columns(3, vertical_alignment="bottom"), sizes, strict=False):
        with place:
            _typed(name, lang)
    columns = st.columns(3, vertical_alignment="bottom")
    if settings.view == "hybrid":
        with columns[0]:
            _typed("windows", lang)
    else:
        for place, name in zip(columns, ("reserve", "place"), strict=False):
            with place:
                _chosen(name, lang)
    _scenario_pool(answered, lang)


def _scenario_pool(answered: Answer, lang: Lang) -> None:
    """The pool that the Sizing page's scenario has."""
    sizing = answered.sizing
    if (
        sizing is None
        or sizing.budget is None
        or not isinstance(sizing.plan, VllmPlan)
        or not sizing.budget.usable_blocks
    ):
        st.caption(text.NO_SCENARIO_POOL(lang))
        return
    # What requests can hold: the pool less what headroom keeps free and the block that is never given out.
    plan, blocks = sizing.plan, sizing.budget.usable_blocks
    said = text.SCENARIO_POOL(
        lang,
        model=sizing.scenario.model,
        gpus=format_count(plan.gpus),
        gpu=short_name(sizing.budget.device.name),
        blocks=format_count(blocks),
        block=format_count(plan.block_tokens),
        slots=format_count(blocks * plan.block_tokens),
        bytes=format_bytes(plan.pool_block_bytes),
    )
    if plan.null_blocks:
        said = f"{said} {text.NULL_BLOCK(lang)}"
    if kept_free := sizing.scenario.headroom:
        said = f"{said} {text.HEADROOM_OFF(lang, share=f'{kept_free:.4g}')}"
    if blocks > MAX_BLOCKS:
        said = f"{said} {text.SCENARIO_POOL_CUT(lang, blocks=format_count(MAX_BLOCKS))}"
    with st.container(horizontal=True, vertical_alignment="center"):
        arguments = (blocks, plan, sizing.tokens)
        st.button(text.TAKE_POOL(lang), key="blocks_take", on_click=take_pool, args=arguments)
        st.caption(show.plain(said), width="stretch")


def research(raced: Race, lang: Lang) -> None:
    """The whole trace on one memory after another: run when asked, and only then."""
    settings = raced.settings
    name, every = requests(settings) or (TEACHING.name, TEACHING.requests)
    whole = tuple(every)
    part = looked_at(whole)
    counts = {
        "requests": format_count(len(part)),
        "tokens": format_count(sum(r.prompt_tokens + r.output_tokens for r in part)),
    }
    placed = text.PLACES[settings.place](lang)
    st.caption(text.RESEARCH_INTRO(lang, pool=format_count(settings.pool), place=placed, **counts))
    if len(part) < len(whole):
        st.caption(text.RESEARCH_PART(lang, requests=counts["requests"], of=format_count(len(whole))))
    low, high = PAPER_THROUGHPUT
    st.caption(text.PAPER_BATCHES(lang, low=low, high=high, **PAPER_BATCHES))
    asked = {
        "pool_tokens": settings.pool,
        "block_tokens": settings.block,
        "max_tokens": settings.longest,
        "reserve": settings.reserve,
        "place": settings.place,
    }
    key = (name, len(part), *asked.values())
    known, found = session().get("blocks_study", (None, None))
    place = st.container(horizontal=True, vertical_alignment="center")
    with place:
        if st.button(text.RUN(lang), key="blocks_run", type=browser.foremost(), icon=":material/play_arrow:"):
            session()["blocks_under_way"] = Underway(key, study(part, **asked))  # type: ignore[arg-type]
    # Whatever is touched on the page starts a new run of this script: it goes on where the last one was stopped.
    begun: Underway | None = session().get("blocks_under_way")
    if begun is not None and begun.key == key:
        with place:
            bar = st.progress(begun.done, text=text.WORKING(lang, percent=f"{begun.done:.0%}"), width="stretch")
            st.button(text.CANCEL(lang), key="blocks_cancel", on_click=_cancel)
        while begun.go_on():
            bar.progress(begun.done, text=text.WORKING(lang, percent=f"{begun.done:.0%}"))
        session()["blocks_study"] = key, begun.found
        _cancel()
        st.rerun()  # without the bar
    elif begun is not None:  # of a race that is not shown any more
        _cancel()
    if found is not None and known == key:
        paper = (settings.trace, settings.pool, settings.block, settings.longest, settings.place) == PAPER_SETTING
        _charts(found, lang, paper=paper)


def _cancel() -> None:
    session().pop("blocks_under_way", None)


def _charts(found: Study, lang: Lang, *, paper: bool) -> None:
    """What the study says, each with its table."""
    st.markdown(f"**{text.SHARES_TITLE(lang)}**")
    figure, rows = charts.shares_figure(found, lang, paper=paper), partial(charts.shares_rows, found, lang, paper=paper)
    show.chart(figure, rows, alt=charts.shares_alt(found, lang), key="blocks_shares", lang=lang)
    st.caption((text.PAPER_CAPTION if paper else text.PAPER_ELSEWHERE)(lang))
    st.markdown(f"**{text.RUNNING_TITLE(lang)}**")
    figure, rows = charts.running_figure(found, lang), partial(charts.running_rows, found, lang)
    show.chart(figure, rows, alt=charts.running_alt(found, lang), key="blocks_running", lang=lang)
    st.markdown(f"**{text.BLOCKS_TITLE(lang)}**")
    figure, rows = charts.blocks_figure(found, lang), partial(charts.blocks_rows, found, lang)
    show.chart(figure, rows, alt=charts.blocks_alt(found, lang), key="blocks_sizes", lang=lang)
    smallest = found.blocks[0]
    entries = format_count(round(smallest.table_entries))
    if unmeasured := ", ".join(str(point.block_tokens) for point in found.blocks if point.token is None):
        st.caption(text.NOT_MEASURED(lang, sizes=unmeasured))
    st.caption(text.BLOCKS_CAPTION(lang, small=smallest.block_tokens, entries=entries))
    st.markdown(f"**{text.POOLS_TITLE(lang)}**")
    figure, rows = charts.pools_figure(found, lang), partial(charts.pools_rows, found, lang)
    show.chart(figure, rows, alt=charts.pools_alt(found, lang), key="blocks_pools", lang=lang)


def messages(wrong: Iterable[str], settings: Settings, lang: Lang) -> None:
    """What cannot be used, a line each."""
    for message in session()["blocks_rejected"]:
        st.warning(show.plain(message(lang)), icon=":material/link_off:")
    session()["blocks_rejected"] = []
    for sentence in wrong:
        show.lines((text.STANDS_IN(lang, why=sentence),))
    if settings.trace == OWN:
        if problem := session().get("blocks_own_problem"):
            show.lines((problem(lang),))
        elif not session().get("blocks_own"):
            st.info(text.NO_FILE(lang, megabytes=_megabytes()), icon=":material/upload_file:")


def _megabytes() -> str:
    """The largest file that the browser sends; a larger one it refuses by itself, and the page hears nothing of it."""
    return format_count(int(st.get_option("server.maxUploadSize")))


def _typed(name: str, lang: Lang) -> None:
    explained = text.HELP.get(name)
    st.text_input(
        text.LABELS[name](lang),
        key=f"blocks_{name}",
        help=explained(lang) if explained else None,
        persist_state="session",
    )


def _chosen(name: str, lang: Lang) -> None:
    names: dict[str, Text] = _NAMES[name]
    show.said_anew(f"blocks_{name}", lang)
    st.selectbox(
        text.LABELS[name](lang),
        CHOICES[name],
        key=f"blocks_{name}",
        format_func=lambda value: names[value](lang),
        on_change=_trace_chosen if name == "trace" else None,
        persist_state="session",
    )
