"""The engines the operator attached, on the Measured live page: how full they are now, and what was predicted."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Final

import streamlit as st

from kvviz.charts import serving as charts
from kvviz.charts.style import MOST_LINES
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.engine_log import EngineLog
from kvviz.log_check import named_in
from kvviz.planning import name_of
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.serving import (
    Address,
    Line,
    Look,
    Prediction,
    Rank,
    Reading,
    Sample,
    Total,
    answering,
    hits_in_all,
    hits_lately,
    look,
    predict,
    published_names,
    read_addresses,
    restarted,
    served_name,
    totals,
    with_look,
)
from kvviz.text import Lang, together
from kvviz.text import serving as text
from kvviz.ui import browser, models, show
from kvviz.ui.session import session

_EVERY_S: Final = 2.0
_PATIENCE_S: Final = 0.5
"""What the first view waits for, so that it is not empty where the engine is near."""
_MOST_RANKS: Final = 5
"""Lines of a chart up to which each data-parallel engine has one."""
_LABELS: Final = {
    "usage": text.USAGE,
    "running": text.RUNNING,
    "waiting": text.WAITING,
    "preemptions": text.PREEMPTIONS,
}


def section(mine: Scenario, lang: Lang) -> None:
    """Nothing where nothing is attached. Engines are asked while this is open, and only then. ``mine``: the visitor's
    scenario, whose requests are counted."""
    addresses, problems = read_addresses()
    for problem in problems:
        show.to_operator(problem)
        show.lines((problem.message(lang),))
    if not addresses:
        return
    names = _listed((show.plain(address.name) for address in addresses), lang)
    title = text.ATTACHED_NAMED(lang, names=names)
    folded = show.folded(title, key="attached", icon=":material/lan:")
    if folded.open:
        with folded:
            st.fragment(_engines, run_every=_EVERY_S)(addresses, mine, lang)


def _engines(addresses: Sequence[Address], mine: Scenario, lang: Lang) -> None:
    seen: dict[str, tuple[Sample, ...]] = session().setdefault("attached_seen", {})
    looks = {address.name: look(address, patience_s=_PATIENCE_S) for address in addresses}
    for name, now in looks.items():
        seen[name] = with_look(seen.get(name, ()), now, now_s=monotonic())
    series = _series({name: seen[name] for name in looks})
    if len(looks) > 1:
        _all_of_them(looks, lang)
    if any(points for _, points in series):
        drawn = series[:MOST_LINES]
        rows = partial(charts.usage_rows, series, lang)
        alt = charts.usage_alt(series, lang)
        show.chart(charts.usage_figure(drawn, lang), rows, alt=alt, key="attached_usage", lang=lang)
        if left := len(series) - len(drawn):
            st.caption(text.MORE_LINES(lang, count=left))
    for number, (name, now) in enumerate(looks.items()):
        with st.container(border=True, key=f"attached_{number}"):
            _engine(number, name, now, seen[name], mine, lang)


def _series(seen: dict[str, tuple[Sample, ...]]) -> list[tuple[str, charts.Series]]:
    """A line for each rank where that stays readable or they have none together, else for each engine."""
    at_s = monotonic()
    ranks = {name: samples[-1].reading.ranks if samples else () for name, samples in seen.items()}
    each = sum(max(1, len(of)) for of in ranks.values()) <= _MOST_RANKS
    series: list[tuple[str, charts.Series]] = []
    for name, samples in seen.items():
        together = not samples or samples[-1].reading.usage is not None
        if len(ranks[name]) > 1 and (each or not together):
            for place, rank in enumerate(ranks[name]):
                of_rank = [(at_s - s.at_s, s.reading.ranks[place].usage) for s in samples if _has(s.reading, place)]
                series.append((f"{name} {rank.name}", [(ago, share) for ago, share in of_rank if share is not None]))
        else:
            of_all = [(at_s - s.at_s, s.reading.usage) for s in samples]
            series.append((name, [(ago, share) for ago, share in of_all if share is not None]))
    return series


def _has(reading: Reading, place: int) -> bool:
    return place < len(reading.ranks)


def _all_of_them(looks: Mapping[str, Look], lang: Lang) -> None:
    """What those that answer report, added up."""
    readings = answering(looks, now_s=monotonic())
    said = text.ALL_ANSWER if len(readings) == len(looks) else text.ANSWERING if readings else text.NONE_ANSWERS
    st.markdown(f"**{text.ALL_ENGINES(lang)}** · {said(lang, count=len(readings), all=len(looks))}")
    if not readings:
        return
    told: list[str] = []
    with st.container(horizontal=True):
        for total in totals(readings):
            known = _share(total.share) if total.figure == "usage" else _count(total.count)
            st.metric(_LABELS[total.figure](lang), known, border=True, height="stretch")
            if total.why is not None:
                told.append(_why_no_total(total, lang))
    if told:
        st.caption("  \n".join(show.plain(sentence) for sentence in told))


def _why_no_total(total: Total, lang: Lang) -> str:
    label, names = _LABELS[total.figure](lang), _listed(total.of, lang)
    match total.why:
        case "unlike":
            return text.NO_TOTAL_UNLIKE(lang, label=label)
        case "no capacity":
            return text.NO_TOTAL_SHARE(lang, label=label, names=names)
        case _:
            return text.NO_TOTAL(lang, label=label, names=names)


def _listed(names: Iterable[str], lang: Lang) -> str:
    return ("、" if lang == "ja" else ", ").join(names)


# --- one engine ------------------------------------------------------------------------------------------------------


def _engine(number: int, name: str, now: Look, samples: Sequence[Sample], mine: Scenario, lang: Lang) -> None:
    reading = now.reading
    st.markdown(f"**{show.plain(name)}**{_what(reading, now.read_s, lang)}")
    if now.problem is not None:
        problem = text.PROBLEM(lang, name=name, problem=now.problem(lang))
        if reading is not None:
            problem += " " + text.LAST_GOOD(lang, age=_seconds(monotonic() - now.read_s, lang))
        st.warning(show.plain(problem), icon=":material/cloud_off:")
    elif reading is None:
        st.caption(text.FIRST(lang))
    if reading is None:
        return
    if restarted(samples):
        st.caption(text.RESTARTED(lang))
    lately, in_all = hits_lately(samples), hits_in_all(reading)
    hits = text.HITS(lang) if lately.over_s < 1 else text.HITS_LATELY(lang, seconds=f"{lately.over_s:.0f}")
    with st.container(horizontal=True):
        st.metric(text.USAGE(lang), _share(reading.usage), help=text.USAGE_HELP(lang), border=True, height="stretch")
        st.metric(text.RUNNING(lang), _count(reading.running), border=True, height="stretch")
        st.metric(text.WAITING(lang), _count(reading.waiting), border=True, height="stretch")
        st.metric(
            text.PREEMPTIONS(lang),
            _count(reading.preemptions),
            help=text.PREEMPTIONS_HELP(lang),
            border=True,
            height="stretch",
        )
        st.metric(
            hits,
            _share(lately.fraction),
            delta=None if in_all is None else text.HITS_IN_ALL(lang, fraction=_share(in_all)),
            delta_color="off",
            delta_arrow="off",
            help=text.HITS_HELP(lang),
            border=True,
            height="stretch",
        )
    if len(reading.ranks) > 1:
        rows = [*(_rank_row(rank, lang) for rank in reading.ranks), _total_row(reading, lang)]
        if reading.capacity_tokens is None:
            rows = [{column: cell for column, cell in row.items() if column != text.CAPACITY(lang)} for row in rows]
        st.table(rows, border="horizontal")
        if reading.usage is None and all(rank.usage is not None for rank in reading.ranks):
            st.caption(show.plain(text.NO_TOTAL_SHARE(lang, label=text.USAGE(lang), names=name)))
    _beside(number, reading, mine, lang)


def _what(reading: Reading | None, read_s: float, lang: Lang) -> str:
    if reading is None:
        return ""
    model = served_name(reading) or text.MODEL_UNKNOWN(lang)
    version = reading.identity.version
    parts = [f"{_engine_word(reading)} {version}" if version else _engine_word(reading), model]
    if len(reading.ranks) > 1:
        parts.append(text.RANKS(lang, count=len(reading.ranks)))
    parts.append(text.AGE(lang, age=_seconds(monotonic() - read_s, lang)))
    return "".join(f" · {show.plain(part[:120])}" for part in parts)


def _engine_word(reading: Reading) -> str:
    return name_of(reading.kind).rpartition(" ")[0]


def _rank_row(rank: Rank, lang: Lang) -> dict[str, str]:
    fraction = rank.prefix_hits / rank.prefix_queries if rank.prefix_queries and rank.prefix_hits is not None else None
    return _row(rank.name, rank, fraction, lang)


def _total_row(reading: Reading, lang: Lang) -> dict[str, str]:
    return _row(text.TOTAL(lang), reading, hits_in_all(reading), lang)


def _row(name: str, of: Rank | Reading, fraction: float | None, lang: Lang) -> dict[str, str]:
    """Half of it on a phone, where more columns would have a letter a line."""
    row = {
        text.RANK(lang): show.plain(name),
        text.USAGE(lang): _share(of.usage),
        text.RUNNING(lang): _count(of.running),
        text.WAITING(lang): _count(of.waiting),
    }
    if browser.is_phone():
        return row
    return row | {
        text.CAPACITY(lang): _count(of.capacity_tokens),
        text.PREEMPTIONS(lang): _count(of.preemptions),
        text.HITS_SINCE_START(lang): _share(fraction),
    }


# --- beside the prediction -------------------------------------------------------------------------------------------


def _beside(number: int, reading: Reading, mine: Scenario, lang: Lang) -> None:
    """Predicted beside reported, for the served model, or for the one that the visitor puts in its place."""
    served = _served(reading)
    if served is None:
        first = served_name(reading)
        st.caption(show.plain(text.NO_MODEL(lang, model=first[:120]) if first else text.NO_NAME(lang)))
        hub = next((name for name in published_names(reading) if name.count("/") == 1 and name[0] != "/"), None)
        if hub is not None:
            label = text.READ_FROM_HUB(lang, model=show.plain(hub[:120]))
            st.button(label, key=f"attached_hub_{number}", on_click=_read_from_hub, args=(hub,))
            if session().get("model_problem") and session()["model_problem"][0] == hub:
                show.lines((models.problem(hub)(lang),))
        label = text.USE_SIZING(lang, model=show.plain(mine.model))
        if not st.checkbox(label, key=f"attached_stand_in_{number}", persist_state="session"):
            return
        served = mine.model
    try:
        same = served == mine.model
        asked = mine if same else mine.with_changes(model=served, weights_gib=None)
        resolved = resolve(asked, given=models.given(asked))
        on_gpu = same and bool(mine.gpu)
        of = predict(reading, resolved.architecture, resolved.scenario, weights=resolved.weights, on_gpu=on_gpu)
    except KvvizError as error:
        show.lines((error.message(lang),))
        return
    st.markdown(f"**{text.BESIDE(lang)}**")
    st.caption(show.plain(text.PREDICTED_FOR(lang, model=of.model, dtype=of.dtype, engine=of.engine)))
    if of.compared:
        st.table([_line_row(line, of, lang) for line in of.compared], border="horizontal")
    if of.alone:
        if of.compared:
            st.caption(text.ALONE(lang))
        st.table([_alone_row(line, of, lang) for line in of.alone], border="horizontal")
    words = (*_gpu_words(mine, of, reading, lang, on_gpu=on_gpu), *(note(lang) for note in of.notes))
    st.caption("  \n".join(show.plain(sentence) for sentence in words))


def _read_from_hub(model: str) -> None:
    models.ask_hub(model)


def _served(reading: Reading) -> str | None:
    """The served model as this session knows it; None where it does not."""
    for name in published_names(reading):
        found = named_in(EngineLog(engine=reading.kind, form="", model=name.removesuffix(".gguf")))
        if found is not None:
            return found.name
        if models.known(name):
            return name
    return None


def _gpu_words(mine: Scenario, of: Prediction, reading: Reading, lang: Lang, *, on_gpu: bool) -> tuple[str, ...]:
    if reading.kind == "llama.cpp":  # all of whose cells are what it was asked for
        return ()
    if not on_gpu:
        return (text.WHICH_GPU(lang, model=of.model),)
    return (text.ON_GPU(lang, gpus=f"{of.gpus} × {show.gpu_name(mine, lang)}"),)


def _line_row(line: Line, of: Prediction, lang: Lang) -> dict[str, str]:
    difference = line.difference
    if not difference:
        apart = text.EQUAL(lang)
    else:
        apart = (f"{difference / line.predicted:+.1%}" if line.predicted else f"{difference:+,}").replace("-", "−")
    return {
        text.FIGURE(lang): _figure(line, of, lang),
        text.REPORTED(lang): _in_unit(line, line.reported),
        text.PREDICTED(lang): _in_unit(line, line.predicted),
        text.DIFFERENCE(lang): apart,
    }


def _alone_row(line: Line, of: Prediction, lang: Lang) -> dict[str, str]:
    """A figure that there is nothing to compare with."""
    said, count = (text.WORKED_OUT, line.predicted) if line.reported is None else (text.ONLY_REPORTED, line.reported)
    return {text.FIGURE(lang): _figure(line, of, lang), text.VALUE(lang): said(lang, value=_in_unit(line, count))}


def _figure(line: Line, of: Prediction, lang: Lang) -> str:
    return text.FIGURES[line.name](lang, tokens=format_count(of.tokens))


def _in_unit(line: Line, count: int | None) -> str:
    return together(format_bytes(count)) if count is not None and line.unit == "bytes" else _count(count)


def _share(fraction: float | None) -> str:
    return "–" if fraction is None else f"{fraction:.1%}"


def _count(number: int | None) -> str:
    return "–" if number is None else format_count(number)


def _seconds(seconds: float, lang: Lang) -> str:
    return text.SECONDS(lang, seconds=f"{max(seconds, 0):.0f}")
