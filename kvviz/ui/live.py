"""The Measured live page's runs: what is asked, the run that is on, those that were kept, and how one is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from kvviz import workings
from kvviz.charts import live as charts
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import format_bytes, format_count
from kvviz.live import (
    DTYPES,
    ENABLE,
    PROMPT,
    QUOTED,
    Gain,
    LiveRequest,
    Progress,
    Recording,
    Run,
    Sample,
    Settings,
    Started,
    as_csv,
    bundled,
    caches_here,
    choices,
    gain,
    link,
    most_temporary_bytes,
    read_settings,
    recording_of,
    shown,
    speed,
    start,
    unavailable,
    written,
)
from kvviz.live.request import CacheKind, checked
from kvviz.live.settings import ANY, whole_number
from kvviz.scenario import Scenario
from kvviz.text import LANGUAGES, Lang
from kvviz.text import live as said
from kvviz.text import live_page as text
from kvviz.text import sizing as labels
from kvviz.ui import browser, show, state
from kvviz.ui.session import session

_EVERY_S: Final = 0.7
"""Between two looks at a run; each of them also tells it that somebody is still there."""
_MOST_KEPT: Final = 5
_RECORDED: Final = 0
"""The number of the run that ships with the app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A run as the page shows it, over or not."""

    what: str
    started: Started | None
    samples: tuple[Sample, ...]
    ended: str
    """A key of ``text.ENDED_EARLY``, ``tokens``, or empty while it is on."""


# --- state -----------------------------------------------------------------------------------------------------------


def begin() -> tuple[Settings, KvvizError | None]:
    """What the operator allows, and why there are no live runs here, if there are none."""
    why_not: KvvizError | None = None
    try:
        allowed = read_settings()
        why_not = unavailable(allowed)
    except ScenarioError as error:
        show.to_operator(error)  # a visitor can do nothing about it
        allowed = Settings(on=False)
        why_not = unavailable(allowed)
    if "live_opened" not in session():
        _take_over(allowed)
    _settle()
    return allowed, why_not


def _settle() -> None:
    """A select box that is folded away, or looked at from a run on its way, hands back its label once the language has
    changed, not its choice (Streamlit 1.67): make it the choice again, before it is drawn."""
    named: dict[str, dict[str | int, str | int]] = {
        "live_cache": {name(lang): kind for kind, name in text.CACHES.items() for lang in LANGUAGES},
        "live_shown": {_run_names(lang)[number]: number for lang in LANGUAGES for number in _run_names(lang)},
    }
    for key, choices_by_label in named.items():
        value = st.session_state[key]
        if value in choices_by_label:
            st.session_state[key] = choices_by_label[value]
        show.said_anew(key, state.lang())


def _run_names(lang: Lang) -> dict[int, str]:
    """What the runs that can be shown are called."""
    return {_RECORDED: text.RECORDED(lang, day=bundled().recorded)} | {n: _name(n, lang) for n in kept()}


def _take_over(allowed: Settings) -> None:
    """What the link says of the settings, on the page's first run in a session; nothing is started by it."""
    usual = LiveRequest()
    settings: dict[str, str | int] = {
        "model": choices(allowed)[0],
        "prompt": PROMPT,
        "prompt_tokens": "",
        "new_tokens": format_count(min(usual.new_tokens, allowed.max_tokens // 2)),
        "batch": usual.batch,
        "dtype": usual.dtype,
        "cache": usual.cache,
    }
    linked, refused = link.from_query(dict(st.query_params), allowed, caches_here())
    settings |= linked
    st.session_state.update({f"live_{name}": value for name, value in settings.items()})
    st.session_state["live_shown"] = _RECORDED
    session().update(live_kept={}, live_opened=query(), live_refused=refused)


def query() -> dict[str, str]:
    """The settings as the link carries them."""
    return link.to_query({name: st.session_state[f"live_{name}"] or "" for name in link.FIELDS})


def current() -> Run | None:
    """The run that is on."""
    run: Run | None = session().get("live_run")
    return run


def kept() -> dict[int, Recording]:
    """The session's runs that gave figures, by number."""
    runs: dict[int, Recording] = session()["live_kept"]
    return runs


def _request(allowed: Settings) -> tuple[LiveRequest, list[KvvizError]]:
    """What the widgets say, and what is wrong with it; where something is, the request is of no use."""
    wrong: list[KvvizError] = []

    def number(name: str, low: int) -> int:
        typed = str(st.session_state[f"live_{name}"]).strip()
        try:
            # An empty length is that of the prompt as it is; so many new tokens is a question without an answer.
            return whole_number(name, "0" if not typed and low == 0 else typed, low, allowed.max_tokens - 1)
        except ScenarioError as error:
            wrong.append(error)
            return low

    request = LiveRequest(
        model=st.session_state["live_model"] or "",
        cache=st.session_state["live_cache"],
        dtype=st.session_state["live_dtype"],
        batch=int(st.session_state["live_batch"]),
        prompt=st.session_state["live_prompt"] or PROMPT,
        prompt_tokens=number("prompt_tokens", 0),
        new_tokens=number("new_tokens", 1),
    )
    try:
        checked(request, allowed)
    except ScenarioError as error:
        wrong.append(error)
    return request, wrong


def _start(allowed: Settings) -> None:
    request, wrong = _request(allowed)
    if wrong or current() is not None:  # a second press while the first is on its way
        return
    session().pop("live_problem", None)
    session().pop("live_failed", None)
    try:
        session()["live_run"] = start(request, allowed)
    except KvvizError as error:
        session()["live_problem"] = error


def _over(now: Progress) -> None:
    """Keep what the run gave and let go of it."""
    del session()["live_run"]
    if now.failure is not None or now.started is None or now.ended is None or not now.samples:
        session()["live_failed"] = now
        return
    runs = kept()
    number = max(runs, default=_RECORDED) + 1  # of this session: what others run is nobody's business
    runs[number] = recording_of(now.started, now.samples, now.ended)
    while len(runs) > _MOST_KEPT:
        del runs[min(runs)]
    st.session_state["live_shown"] = number


# --- controls --------------------------------------------------------------------------------------------------------


def button(allowed: Settings, lang: Lang) -> None:
    """Start and stop, and what is wrong with what is asked."""
    run = current()
    _, wrong = _request(allowed)
    with st.container(horizontal=True):
        # It stays where it is: the second of two quick presses must not stop what the first one started.
        st.button(
            text.START(lang),
            key="live_start",
            type=browser.foremost(),
            icon=":material/play_arrow:",
            disabled=run is not None or bool(wrong),
            on_click=_start,
            args=(allowed,),
        )
        if run is not None:
            st.button(text.STOP(lang), key="live_stop", icon=":material/stop:", on_click=run.cancel)
    refused: tuple[ScenarioError, ...] = session()["live_refused"]
    if refused and session()["live_opened"] == query():  # until something else is asked
        told = "\n".join(f"- {show.plain(_labelled(error, lang))}" for error in refused)
        st.warning(f"{labels.LINK_REJECTED(lang)}\n\n{told}", icon=":material/link_off:")
    problem: KvvizError | None = session().get("live_problem")
    for error in (*wrong, *([problem] if problem is not None else ())):
        show.lines((_labelled(error, lang),))
    failed: Progress | None = session().get("live_failed")
    if failed is not None:
        if failed.failure is None:
            st.info(text.STOPPED(lang), icon=":material/stop_circle:")
        else:
            show.lines((failed.failure(lang),))
        gave_back = failed.failure is not None and failed.failure.code == "out-of-memory"
        if gave_back and failed.memory is not None and failed.memory.free_bytes is not None:
            st.caption(text.FREED(lang, free=format_bytes(failed.memory.free_bytes)))


def _labelled(error: KvvizError, lang: Lang) -> str:
    """The sentence, with the setting that it begins with called as its control is."""
    sentence = error.message(lang)
    field = error.field if isinstance(error, ScenarioError) else None
    if field and sentence.startswith(f"{field}: ") and field in text.LABELS:
        colon = "：" if lang == "ja" else ": "
        return f"{text.LABELS[field](lang)}{colon}{sentence.removeprefix(f'{field}: ')}"
    return sentence


def controls(allowed: Settings, lang: Lang) -> None:
    """Seven: model, prompt, its length, new tokens, batch, type, and folded the kind of cache."""
    limit = format_count(allowed.max_tokens)
    st.selectbox(
        text.MODEL(lang),
        choices(allowed),
        key="live_model",
        format_func=shown,
        accept_new_options=ANY in allowed.models,
        persist_state="session",
    )
    st.text_area(text.PROMPT(lang), key="live_prompt", height=80, persist_state="session")
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        st.text_input(
            text.LABELS["prompt_tokens"](lang),
            key="live_prompt_tokens",
            placeholder=text.AS_IT_IS(lang),
            help=text.HELP["prompt_tokens"](lang, limit=limit),
            persist_state="session",
        )
        st.selectbox(
            text.LABELS["batch"](lang),
            list(range(1, allowed.max_batch + 1)),
            key="live_batch",
            help=text.HELP["batch"](lang),
            persist_state="session",
        )
    with right:
        st.text_input(
            text.LABELS["new_tokens"](lang),
            key="live_new_tokens",
            help=text.HELP["new_tokens"](lang, limit=limit, seconds=format_count(allowed.max_seconds)),
            persist_state="session",
        )
        st.selectbox(
            text.LABELS["dtype"](lang),
            DTYPES,
            key="live_dtype",
            help=text.HELP["dtype"](lang),
            persist_state="session",
        )
    cache: CacheKind = st.session_state["live_cache"]
    with st.expander(text.MORE(lang, cache=text.CACHES[cache](lang)), key="live_more", type="compact"):
        st.selectbox(
            text.LABELS["cache"](lang),
            caches_here(),
            key="live_cache",
            format_func=lambda kind: text.CACHES[kind](lang),
            persist_state="session",
        )
    st.caption(text.LEAVE(lang, device=text.DEVICES[allowed.device](lang)))


def not_here(why: KvvizError, lang: Lang) -> None:
    """Why there are no live runs, and the one command that changes that."""
    st.info(show.plain(why.message(lang)), icon=":material/info:")
    if why.code == "not-installed":
        st.caption(text.ENABLE(lang))
        st.code(ENABLE, language=None)


# --- one run ---------------------------------------------------------------------------------------------------------


def result(lang: Lang) -> None:
    """The run that is on, looked at again and again; else one that is over."""
    run = current()
    st.fragment(_result, run_every=None if run is None else _EVERY_S)(run, lang)


def _result(run: Run | None, lang: Lang) -> None:
    if run is None:
        _figures(_kept_run(lang), lang)
        return
    now = run.poll()
    if now.is_over:
        if current() is run:
            _over(now)
        st.rerun()
    done, asked = len(now.samples), run.request.new_tokens
    values = {"position": format_count(now.position), "done": format_count(done), "all": format_count(asked)}
    how_far = text.STOPPING(lang) if run.wants_to_stop() else text.STATES[now.state](lang, **values)
    st.progress(done / asked, text=how_far)
    if now.started is None:  # no figures of another run in the place where this one's will be
        st.caption(text.NO_FIGURES_YET(lang))
        return
    _figures(Shown(what=text.RUNNING(lang), started=now.started, samples=now.samples, ended=""), lang)


def _kept_run(lang: Lang) -> Shown:
    failed: Progress | None = session().get("live_failed")
    if failed is not None and failed.started is not None and failed.samples:
        said_of, ended = (text.FINISHED, "cancelled") if failed.failure is None else (text.FAILED, "failed")
        return Shown(what=said_of(lang), started=failed.started, samples=failed.samples, ended=ended)
    number = st.session_state["live_shown"]
    run = kept().get(number)
    what = text.FINISHED(lang) if run else text.RECORDED(lang, day=bundled().recorded)
    run = run or bundled()
    return Shown(what=what, started=run.started, samples=run.samples, ended=run.ended.stopped)


def _figures(of: Shown, lang: Lang) -> None:
    started, samples = of.started, of.samples
    if started is None:
        return
    st.markdown(f"### {_stamp(started, samples, lang)}")
    if of.ended in text.ENDED_EARLY:
        values = {"done": format_count(len(samples)), "all": format_count(started.new_tokens)}
        st.markdown(f":orange[:material/stop_circle:] {text.ENDED_EARLY[of.ended](lang, **values)}")
    st.caption(show.plain(_where(of.what, started, lang)))
    if started.why_random:
        st.warning(show.plain(said.WHY_RANDOM[started.why_random](lang, model=started.model)), icon=":material/casino:")
    if started.why_not_predicted:
        st.info(show.plain(started.why_not_predicted[lang]), icon=":material/info:")
    last = samples[-1] if samples else None
    fast = speed(samples)
    predicted = None if last is None or last.predicted_bytes is None else last.predicted_bytes
    residual = None if last is None else last.residual_bytes
    figures = (
        (text.PREDICTED, _bytes(predicted, lang)),
        (text.MEASURED, _bytes(last.measured_bytes if last else None, lang)),
        (text.RESIDUAL, _bytes(residual, lang)),
        (text.SPEED, text.UNKNOWN(lang) if fast is None else f"{fast:,.1f}"),
    )
    with st.container(horizontal=True):
        for (label, value), made in zip(figures, workings.of_run(started, samples, lang), strict=True):
            show.fact(label(lang), value, "", made, f"live_{label.en}", lang)
    if started.cache != "none":  # of nothing there is nothing to draw
        figure = charts.cache_figure(started, samples, lang)
        rows = partial(charts.cache_rows, samples, lang)
        show.chart(figure, rows, alt=charts.cache_alt(samples, lang), key="live_cache_chart", lang=lang)
    words = "".join(s.text for s in samples).strip()
    if samples and not words and started.why_random:
        st.caption(text.NO_WORDS(lang))
    else:
        st.caption(text.SAID(lang))
        with st.container(border=True, key="live_text"):
            nothing = text.NO_TEXT(lang) if of.ended else text.SAYS_NOTHING(lang)
            st.markdown(show.plain(words).replace("\n", "  \n") if words else nothing)
    if last is not None:
        _memory(started, samples, lang)


def _stamp(started: Started, samples: Sequence[Sample], lang: Lang) -> str:
    if not samples:
        return text.NONE_YET(lang)
    if started.cache == "none":
        return f":blue[:material/info:] {text.NO_CACHE(lang)}"
    residuals = [s.residual_bytes for s in samples if s.residual_bytes is not None]
    if not residuals:
        return f":blue[:material/info:] {text.NOT_PREDICTED(lang)}"
    if any(residuals):
        largest = max(residuals, key=abs)
        return f":red[:material/cancel:] {text.DIFFERENT(lang, bytes=format_count(largest))}"
    steps, asked = format_count(len(residuals)), format_count(started.new_tokens)
    equal = text.EQUAL_PART if len(residuals) < started.new_tokens else text.EQUAL
    return f":green[:material/verified:] {equal(lang, steps=steps, all=asked)}"


def _where(what: str, started: Started, lang: Lang) -> str:
    return text.WHERE(
        lang,
        what=what,
        model=started.model,
        dtype=started.dtype,
        cache=_cache_name(started.cache, lang),
        batch=started.batch,
        device=started.device,
        torch=started.versions["torch"],
        transformers=started.versions["transformers"],
    )


def _cache_name(cache: str, lang: Lang) -> str:
    return next((name(lang) for kind, name in text.CACHES.items() if kind == cache), cache)


def _bytes(count: int | None, lang: Lang) -> str:
    return text.UNKNOWN(lang) if count is None else format_bytes(count)


def _memory(started: Started, samples: Sequence[Sample], lang: Lang) -> None:
    st.markdown(f"#### {text.MEMORY(lang)}")
    figure, rows = charts.memory_figure(started, samples, lang), partial(charts.memory_rows, started, samples, lang)
    show.chart(figure, rows, alt=charts.memory_alt(started, samples, lang), key="live_memory", lang=lang)
    if most_temporary_bytes(samples) is None:
        st.caption(text.ON_CPU(lang))


def share(scenario: Scenario, lang: Lang) -> None:
    """The page's link."""
    panel = show.folded(labels.SHARE(lang), key="live_share", icon=":material/share:")
    if panel.open:
        with panel:
            st.caption(text.LINK(lang))
            if not link.fits(str(st.session_state["live_prompt"] or "")):
                st.caption(f":orange[:material/info:] {text.PROMPT_NOT_IN_LINK(lang)}")
            st.code(f"{state.base()}?{state.query(scenario, **query())}", language=None, wrap_lines=True)


# --- several runs ----------------------------------------------------------------------------------------------------


def save(lang: Lang) -> None:
    """Which of the runs is shown, and it as a file."""
    runs, names = kept(), _run_names(lang)
    if runs:
        st.selectbox(
            text.SHOWN(lang),
            list(names),
            key="live_shown",
            format_func=names.__getitem__,
            on_change=lambda: session().pop("live_failed", None),
            persist_state="session",
        )
    run = runs.get(st.session_state["live_shown"]) or bundled()
    with st.container(horizontal=True):
        for label, end, mime, made in (
            (text.SAVE_CSV, "csv", "text/csv", partial(as_csv, run.samples)),
            (text.SAVE_JSON, "json", "application/json", partial(written, run)),
        ):
            st.download_button(
                label(lang),
                data=made,
                file_name=f"kvviz-live-{run.started.model}-{run.started.cache}.{end}".replace("/", "_"),
                mime=mime,
                on_click="ignore",
                icon=":material/download:",
                key=f"live_save_{end}",
            )


def _name(number: int, lang: Lang) -> str:
    of = kept()[number].started
    cache = _cache_name(of.cache, lang)
    return text.RUN_NAME(lang, number=number, model=of.model, dtype=of.dtype, cache=cache, batch=of.batch)


def table_of_kept(lang: Lang) -> None:
    """The session's runs side by side."""
    if not kept():
        return
    st.markdown(f"#### {text.KEPT(lang)}")
    st.table([_row(number, run, lang) for number, run in kept().items()], border="horizontal")


def _row(number: int, run: Recording, lang: Lang) -> dict[str, str]:
    last, fast = run.samples[-1], speed(run.samples)
    return {
        text.COLUMN_RUN(lang): show.plain(_name(number, lang)),
        text.COLUMN_GENERATED(lang): text.OF_ASKED(
            lang, done=format_count(len(run.samples)), all=format_count(run.started.new_tokens)
        ),
        text.MEASURED(lang): format_bytes(last.measured_bytes),
        text.RESIDUAL(lang): _bytes(last.residual_bytes, lang),
        text.SPEED(lang): text.UNKNOWN(lang) if fast is None else f"{fast:,.1f}",
    }


def time(lang: Lang) -> None:
    """Seconds in all with a cache and without, beside the quoted figures."""
    st.markdown(f"#### {text.TIME(lang)}")
    recorded, mine = (bundled(), bundled(cache="none")), _latest_gain()
    gains = [(text.RECORDED(lang, day=recorded[0].recorded), gain(*recorded))]
    gains += [(text.MEASURED_HERE(lang), mine), (text.QUOTED(lang), QUOTED)]
    runs = [(text.WITH(lang), recorded[0]), (text.WITHOUT(lang), recorded[1])]
    if mine is not None:
        runs = [(_name(number, lang), run) for number, run in kept().items()]
    figure, rows = charts.speed_figure(runs, lang), partial(charts.speed_rows, runs, lang)
    show.chart(figure, rows, alt=charts.speed_alt(runs, lang), key="live_speed", lang=lang)
    known = [(name, of) for name, of in gains if of is not None]
    st.table(_gain_rows(known, lang), border="horizontal")
    fewer, faster = f"{QUOTED.times_fewer:,.0f}", f"{QUOTED.times_faster:,.0f}"
    st.caption(text.WHY_ONLY(lang, fewer=fewer, faster=faster))
    st.caption(text.LEFT_OFF(lang))
    if kept() and mine is None:
        latest = list(kept().values())[-1].started
        st.caption(text.FOR_THE_OTHER(lang) if latest.cache == "none" else text.FOR_A_PAIR(lang))


def _latest_gain() -> Gain | None:
    runs = list(kept().values())[::-1]
    found = (gain(cached, uncached) for cached in runs for uncached in runs)
    return next((g for g in found if g is not None), None)


def _seconds(whole_s: float, of: Gain, lang: Lang) -> str:
    return text.SECONDS(lang, seconds=f"{whole_s:,.1f}", each=f"{of.each_ms(whole_s):,.0f}")


def _gain_rows(gains: Sequence[tuple[str, Gain]], lang: Lang) -> list[dict[str, str]]:
    """A column for each source: five narrow rows fit a phone."""

    def row(name: str, said_of: Callable[[Gain], str]) -> dict[str, str]:
        return {text.COLUMN_WHAT(lang): name} | {source: said_of(of) for source, of in gains}

    return [
        row(text.NEW_TOKENS(lang), lambda of: format_count(of.tokens)),
        row(text.SECONDS_WITH(lang), lambda of: _seconds(of.with_s, of, lang)),
        row(text.SECONDS_WITHOUT(lang), lambda of: _seconds(of.without_s, of, lang)),
        row(text.FASTER(lang), lambda of: text.TIMES(lang, times=f"{of.times_faster:,.1f}")),
        row(text.FEWER(lang), lambda of: text.TIMES(lang, times=f"{of.times_fewer:,.0f}")),
    ]
