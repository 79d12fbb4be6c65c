"""The Shared prefixes page's own state, read once from the link, and how it shows prompts, capacities and savings."""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from time import monotonic
from typing import Final

import streamlit as st

from kvviz import workings
from kvviz.allocation.prefix import HitRatios
from kvviz.allocation.workload import MOONCAKE_ID_TOKENS
from kvviz.charts.prefixes import (
    chip_rows,
    chips_legend,
    chips_svg,
    curve_alt,
    curve_figure,
    curve_rows,
    fit_with_shared,
    saves_alt,
    saves_figure,
    saves_rows,
)
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import format_bytes, format_count
from kvviz.hit_ratios import CAPACITIES, MAX_CAPACITY_BLOCKS, TRACES, curve, furthest_apart, ratios
from kvviz.links import pack_prompts, unpack_prompts
from kvviz.planning import engine_name
from kvviz.prompts import (
    MAX_BLOCK_TOKENS,
    MAX_PROMPT_CHARACTERS,
    CachedPrompts,
    with_letter_changed,
    with_lines,
)
from kvviz.scenario import Scenario, parse_tokens, shown
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import catalogue as link_text
from kvviz.text import prefixes as text
from kvviz.ui import browser, show, state
from kvviz.ui.answer import ask
from kvviz.ui.session import session

_PROMPTS: Final = 3
_BLOCK: Final = 8
_CAPACITY: Final = 10_000
_SHARED: Final = 2_000
_QUICK_S: Final = 0.3
"""What takes longer shows its progress."""


# --- state -----------------------------------------------------------------------------------------------------------


def begin(scenario: Scenario, lang: Lang) -> None:
    """On the page's first run in a session, take over what the link says of it; later, follow the language."""
    if "prefix_base" not in session():
        _take_over(scenario, lang)
    was = session()["prefix_lang"]
    if was != lang and session()["prefix_base"] == _example(was):
        session()["prefix_base"] = _example(lang)
        _put(_tried(session()["prefix_try"], lang))
    session()["prefix_lang"] = lang


def _take_over(scenario: Scenario, lang: Lang) -> None:
    asked, problems = st.query_params, []
    prompts = base = _example(lang)
    tried = asked.get("prefix_try", "")
    if "prompts" in asked:
        try:
            linked = unpack_prompts(asked["prompts"])
            if len(linked) != 2 * _PROMPTS:
                raise ScenarioError(Message(link_text.NOT_PROMPTS), field="prompts")
            prompts, base = linked[:_PROMPTS], linked[_PROMPTS:]
        except ScenarioError as error:
            problems.append(error.message)
            tried = ""
    if tried and tried not in text.TRIES:
        problems.append(Message(text.NO_SUCH, {"name": text.TRY, "shown": shown(tried)}))
        tried = ""
    trace = asked.get("prefix_trace", TRACES[0])
    if trace not in TRACES:
        problems.append(Message(text.NO_SUCH, {"name": text.TRACE, "shown": shown(trace)}))
        trace = TRACES[0]
    shared = scenario.shared_tokens or min(_SHARED, scenario.input_tokens // 2)
    for name, usual in (("block", _BLOCK), ("capacity", _CAPACITY), ("shared", shared)):
        session()[f"prefix_good_{name}"] = usual
        st.session_state[f"prefix_{name}"] = shown(asked.get(f"prefix_{name}", f"{usual:,}"))
    st.session_state["prefix_trace"] = trace
    session().update(prefix_lang=lang, prefix_base=base, prefix_try=tried, prefix_problems=problems)
    _put(prompts)
    if "prompts" not in asked and tried:
        _put(_tried(tried, lang))


def prompts() -> tuple[str, ...]:
    """What the page shows of the prompts."""
    return tuple(str(st.session_state[_box(place)])[:MAX_PROMPT_CHARACTERS] for place in range(_PROMPTS))


def block() -> int:
    """Tokens of a block."""
    return _read("block", 1, MAX_BLOCK_TOKENS)[0]


def _capacity() -> int:
    return _read("capacity", 1, MAX_CAPACITY_BLOCKS)[0]


def _shared(scenario: Scenario) -> int:
    return _read("shared", 0, scenario.input_tokens)[0]


def publish(scenario: Scenario, *, asked: bool) -> str:
    """Put what the page shows into the address bar; returns its link. Raises ScenarioError where it does not fit."""
    more = {
        "prompts": pack_prompts((*prompts(), *session()["prefix_base"])),
        "prefix_try": session()["prefix_try"],
        "prefix_block": str(block()),
        "prefix_trace": st.session_state["prefix_trace"],
        "prefix_capacity": str(_capacity()),
        "prefix_shared": str(_shared(scenario)),
    }
    scenario = state.publish(scenario, asked=asked, **more)
    return f"{state.base()}?{state.query(scenario, **more)}"


def _box(place: int) -> str:
    return f"prefix_prompt_{place}"


def _put(prompts: Sequence[str]) -> None:
    for place, prompt in enumerate(prompts):
        st.session_state[_box(place)] = prompt


def _read(name: str, low: int, high: int) -> tuple[int, str | None]:
    """A number as typed; where it cannot be used, the last that could, and what was typed."""
    typed = str(st.session_state[f"prefix_{name}"])
    try:
        value = parse_tokens(typed)
        if low <= value <= high:
            session()[f"prefix_good_{name}"] = value
            return value, None
    except ScenarioError:
        pass
    return max(low, min(high, session()[f"prefix_good_{name}"])), typed


def _example(lang: Lang) -> tuple[str, ...]:
    return tuple(f"{text.SYSTEM(lang)}\n{question(lang)}" for question in text.QUESTIONS)


def _tried(chosen: str, lang: Lang) -> tuple[str, ...]:
    """The prompts after one of the buttons."""
    base: tuple[str, ...] = session()["prefix_base"]
    match chosen:
        case "date-first" | "date-last":
            days = [date.today() + timedelta(days=day) for day in range(_PROMPTS)]  # noqa: DTZ011 - the reader's own
            lines = [text.DATE_LINE(lang, date=day.isoformat()) for day in days]
            return with_lines(base, lines, first=chosen == "date-first")
        case "letter":
            return with_letter_changed(base)
        case "rag-question" | "rag-order":
            one, other = (document(lang) for document in text.DOCUMENTS)
            usual = (one,) if chosen == "rag-question" else (one, other)
            orders = [usual, usual[::-1], usual]
            return tuple(
                "\n".join((text.RAG_SYSTEM(lang), *documents, question(lang)))
                for documents, question in zip(orders, text.QUESTIONS, strict=True)
            )
        case _:
            return base


def _try_chosen(key: str, lang: Lang) -> None:
    session()["prefix_problems"] = []
    session()["prefix_try"] = st.session_state[key] or ""
    _put(_tried(session()["prefix_try"], lang))


def _edited() -> None:
    session()["prefix_problems"] = []
    session()["prefix_base"] = prompts()
    session()["prefix_try"] = ""


# --- prompts ---------------------------------------------------------------------------------------------------------


def problems(lang: Lang) -> None:
    """What of the link or of the prompts cannot be used."""
    for message in session()["prefix_problems"]:
        st.warning(show.plain(message(lang)), icon=":material/link_off:")
    # Not the browser's own limit: it throws away all that was typed, without a word.
    for number in range(_PROMPTS):
        if len(str(st.session_state[_box(number)])) > MAX_PROMPT_CHARACTERS:
            limit = format_count(MAX_PROMPT_CHARACTERS)
            show.lines((text.TOO_LONG(lang, number=number + 1, limit=limit),))


def headline(found: CachedPrompts, lang: Lang) -> None:
    """How much is found, and that it comes in whole blocks."""
    if not found.tokens:
        show.lines((text.EMPTY(lang),))
        return
    tokens, hit = format_count(found.tokens), format_count(found.hit_tokens)
    said = text.FOUND(lang, tokens=tokens, hit=hit) if found.hit_tokens else text.FOUND_NONE(lang, tokens=tokens)
    blocks = {"hits": format_count(found.hit_blocks), "blocks": format_count(found.blocks)}
    st.markdown(f"### {said}\n{text.WHOLE_BLOCKS(lang, block=found.block_tokens, **blocks)}")


def buttons(lang: Lang) -> None:
    """What can be tried on the prompts; pressed again, a button gives them back as they were."""
    key = f"prefix_pill_{lang}"
    st.session_state[key] = session()["prefix_try"] or None
    st.pills(
        text.TRY(lang),
        list(text.TRIES),
        key=key,
        format_func=lambda one: text.TRIES[one](lang),
        on_change=_try_chosen,
        args=(key, lang),
    )
    tried = session()["prefix_try"]
    edited = not tried and session()["prefix_base"] != _example(lang)
    st.caption(text.TRIED["edited" if edited else tried](lang))


def boxes(lang: Lang, *, phone: bool) -> None:
    """The prompts, and the size of a block."""
    *places, last = [st.container() for _ in range(_PROMPTS + 1)] if phone else st.columns([5, 5, 5, 4])
    for number, place in enumerate(places):
        with place:
            st.text_area(
                text.PROMPT(lang, number=number + 1),
                key=_box(number),
                height=180,
                on_change=_edited,
                persist_state="session",
            )
    with last:
        _typed("block", text.BLOCK, text.BLOCK_HELP(lang), (1, MAX_BLOCK_TOKENS), lang)


def chips(found: CachedPrompts, lang: Lang, *, phone: bool) -> None:
    """Each prompt as a row of blocks, and why the hits end where they do."""
    browser.svg(chips_svg(found, lang, columns=2 if phone else 6), key="prefix_chips")
    show.table(lambda: chip_rows(found, lang), key="prefix_chips", lang=lang)
    st.caption(chips_legend(found, lang))
    st.markdown("  \n".join(_why(found, number, lang) for number in range(1, len(found.prompts) + 1)))
    st.caption(text.STAND_IN(lang))


def _why(found: CachedPrompts, number: int, lang: Lang) -> str:
    prompt = found.prompts[number - 1]
    if not prompt.tokens:
        return text.EMPTY_PROMPT(lang, number=number)
    if number == 1:
        return text.FIRST_PROMPT(lang, number=number)
    if prompt.like is None:
        return text.NOTHING_SHARED(lang, number=number)
    left = prompt.common_tokens - prompt.hit_tokens
    differs, rest = show.plain(prompt.differs.strip()), ""
    again = any(one.state == "again" for one in prompt.blocks)
    if left:
        rest = (text.SHARED_REST_LAST if again else text.SHARED_REST)(lang, rest=format_count(left))
    nothing = text.SHARED_BUT_LAST if again else text.SHARED_TOO_LITTLE
    return (text.SHARED if prompt.hit_tokens else nothing)(
        lang,
        number=number,
        like=prompt.like + 1,
        common=format_count(prompt.common_tokens),
        until=text.SHARED_UNTIL(lang, differs=differs) if differs else "",
        tokens=format_count(prompt.hit_tokens),
        rest=rest,
    )


def facts(found: CachedPrompts, lang: Lang) -> None:
    """Tokens, blocks and prefill work that the hits save."""
    if not found.tokens:
        return
    share, pairs = f"{found.hit_tokens / found.tokens:.0%}", f"{found.hit_pairs / found.pairs:.0%}"
    tokens, computed = format_count(found.tokens), format_count(found.tokens - found.hit_tokens)
    blocks, held = format_count(found.blocks), format_count(found.blocks - found.hit_blocks)
    of_tokens, of_blocks, of_work = workings.of_prompts(found, lang)
    with st.container(horizontal=True):
        for label, value, beside, made in (
            (
                text.FACT_TOKENS,
                format_count(found.hit_tokens),
                text.FACT_TOKENS_BESIDE(lang, share=share, tokens=tokens, computed=computed),
                of_tokens,
            ),
            (
                text.FACT_BLOCKS,
                format_count(found.hit_blocks),
                text.FACT_BLOCKS_BESIDE(lang, held=held, blocks=blocks),
                of_blocks,
            ),
            (text.FACT_WORK, share, text.FACT_WORK_BESIDE(lang, pairs=pairs), of_work),
        ):
            show.fact(label(lang), value, beside, made, label.en, lang)


def _typed(name: str, label: Text, explained: str, bounds: tuple[int, int], lang: Lang) -> None:
    """A number's box with, below, what is wrong with it."""
    st.text_input(label(lang), key=f"prefix_{name}", help=explained, width=320, persist_state="session")
    used, wrong = _read(name, *bounds)
    if wrong is not None:
        low, high = map(format_count, bounds)
        values = {"low": low, "high": high, "shown": shown(wrong), "used": format_count(used)}
        show.lines((text.NOT_WHOLE(lang, name=label(lang), **values),))


# --- hit ratio against capacity --------------------------------------------------------------------------------------


def capacity(sizing: Sizing | None, lang: Lang) -> None:
    """The hit ratio of a recorded trace by the cache's capacity, ours and the published."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(text.TRACE(lang), TRACES, key="prefix_trace", width=320, persist_state="session")
        _typed("capacity", text.CAPACITY, text.CAPACITY_HELP(lang), (1, MAX_CAPACITY_BLOCKS), lang)
    trace, blocks = st.session_state["prefix_trace"], _capacity()
    told = st.container()
    points = _points(trace, lang)
    chosen = blocks * MOONCAKE_ID_TOKENS, ratios(trace, blocks)
    with told:
        st.markdown(
            text.AT_CAPACITY(
                lang,
                blocks=format_count(blocks),
                tokens=format_count(chosen[0]),
                full=f"{chosen[1].full:.1%}",
                vllm=f"{chosen[1].vllm:.1%}",
                evictions=format_count(chosen[1].evictions),
            )
        )
    pool = _pool_tokens(sizing)
    show.chart(
        curve_figure(trace, points, chosen, pool, lang),
        lambda: curve_rows(trace, points, lang),
        alt=curve_alt(trace, points, lang),
        key="prefix_curve",
        lang=lang,
    )
    low, high = (f"{100 * apart:+.1f}".replace("-", "−") for apart in furthest_apart(trace))
    st.caption(text.CITED(lang, low=low, high=high))
    if sizing is not None and pool is not None:
        whose = {"gpus": sizing.scenario.gpus // sizing.engines, "gpu": show.gpu_name(sizing.scenario, lang)}
        st.caption(show.plain(text.POOL_NOTE(lang, tokens=format_count(pool), **whose)))
    st.code(f"kvviz prefix --trace {trace} --capacity-blocks {blocks}", language=None, wrap_lines=True)


def _points(trace: str, lang: Lang) -> list[tuple[int, HitRatios]]:
    """The curve; the first time somebody asks for it, it takes a second or two."""
    place, began = st.empty(), monotonic()
    points = []
    for point in curve(trace):
        points.append(point)
        if monotonic() - began > _QUICK_S:
            place.progress(len(points) / len(CAPACITIES), text.WORKING(lang, count=len(CAPACITIES)))
    place.empty()
    return points


def _pool_tokens(sizing: Sizing | None) -> int | None:
    """Tokens that requests can have in an engine's pool, each engine having a cache of its own; None where a token has
    no size of its own."""
    if sizing is None or sizing.plan is None or sizing.budget is None:
        return None
    content = sizing.content
    if content.limited or content.state_bytes or content.cross_bytes:
        return None
    return sizing.plan.longest_in(sizing.budget.usable_bytes)


# --- what a shared system prompt saves -------------------------------------------------------------------------------


def savings(sizing: Sizing, lang: Lang) -> None:
    """What a shared beginning is worth to the Sizing page's scenario."""
    scenario = sizing.scenario
    most = scenario.input_tokens
    explained = text.SHARED_TOKENS_HELP(lang, input=format_count(most))
    _typed("shared", text.SHARED_TOKENS, explained, (0, most), lang)
    shared = _shared(scenario)
    asked = ask(scenario.with_changes(shared_tokens=shared, typical=1.0))
    held = asked.held_once_tokens
    values = {"shared": format_count(shared), "input": format_count(most), "bytes": format_bytes(asked.shared_bytes)}
    if sizing.budget is None or asked.max_sequences_counted is None:
        st.markdown(text.SAVES_UNKNOWN(lang, **values))
    else:
        counts = {
            "before": format_count(fit_with_shared(sizing, 0)),
            "after": format_count(asked.max_sequences_counted),
        }
        rest = text.SAVES_REST(lang, left=format_count(shared - held), **values) if held < shared else ""
        said = text.SAVES
        if not held:
            shares = sizing.plan is not None and sizing.plan.shared_bytes(most - 1 if most else 0)
            said = (text.SAVES_NO_BLOCK if shares else text.SAVES_NOTHING) if shared else text.SAVES_NONE
        st.markdown(said(lang, held=format_count(held), rest=rest, **counts, **values))
        show.working(partial(workings.at_once, asked, lang), key="prefix_saves", lang=lang)
    told = text.SCENARIO(
        lang,
        model=show.plain(scenario.model),
        gpus=format_count(scenario.gpus),
        gpu=show.plain(show.gpu_name(scenario, lang)),
        tokens=format_count(sizing.tokens),
        engine=engine_name(scenario),
        link=state.link_to("", _on_sizing(scenario, shared)),
    )
    st.markdown(f":small[{told}]")  # a link in a caption is too pale
    if sizing.budget is not None and most:
        show.chart(
            saves_figure(sizing, shared, lang),
            lambda: saves_rows(sizing, shared, lang),
            alt=saves_alt(sizing, shared, lang),
            key="prefix_saves",
            lang=lang,
        )


def _on_sizing(scenario: Scenario, shared_tokens: int) -> Scenario:
    try:
        return scenario.with_changes(shared_tokens=shared_tokens)
    except ScenarioError:  # its typical request is shorter than that
        return scenario.with_changes(shared_tokens=shared_tokens, typical=1.0)


def share(scenario: Scenario, lang: Lang, *, asked: bool) -> None:
    """The page's link."""
    try:
        link = publish(scenario, asked=asked)
    except KvvizError as error:
        show.lines((error.message(lang),))
        return
    with st.expander(text.SHARE(lang), key="share_prefixes", icon=":material/share:"):
        st.caption(text.LINK_HELP(lang))
        st.code(link, language=None, wrap_lines=True)
