"""How the pages show an answer: the sentence, the facts, a chart with its table, messages."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Any, Literal

import pyarrow
import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.elements.lib.mutable_tab_container import TabContainer

from kvviz import build, explain, export, report, workings
from kvviz.advice import MOST_IN_SIGHT, advice
from kvviz.charts.frontier import frontier_alt, frontier_figure, frontier_rows
from kvviz.charts.growth import growth_alt, growth_figure
from kvviz.charts.layers import layer_counts, layer_strip_alt, layer_strip_svg
from kvviz.charts.style import PLOTLY_CONFIG, Figure, drawable
from kvviz.core.architecture import Note
from kvviz.core.errors import KvvizError
from kvviz.core.units import KIB, format_bytes, format_count, format_gib
from kvviz.devices import device
from kvviz.launch import launch
from kvviz.levers import Fix, Lever, crossover_requests, speed_floor
from kvviz.qr import qr_svg
from kvviz.resolve import resolve
from kvviz.scenario import MORE_SETTINGS, Scenario
from kvviz.sizing import Sizing
from kvviz.splits import Split
from kvviz.splits import splits as ways_to_split
from kvviz.text import Lang, Text, together
from kvviz.text import advice as pitfalls
from kvviz.text import dispute as disputed
from kvviz.text import explain as why
from kvviz.text import report as reported
from kvviz.text import sizing as text
from kvviz.text import splits as splits_text
from kvviz.text import verdict as said_of_verdict
from kvviz.text import workings as said_of_workings
from kvviz.ui import browser, models, state
from kvviz.ui.answer import Answer
from kvviz.ui.session import session
from kvviz.verdict import Outcome, short_name
from kvviz.verdict import verdict as answer_in_words
from kvviz.workings import Working

_LOG = logging.getLogger(__name__)
Made = Working | Callable[[], Working]
"""A working, or what makes it once somebody looks."""
PARTED = ":small[]"
"""An empty element: nothing on the page, and nothing in what is copied from it."""
MOST_DETAILS = 12
MOST_SPLITS = 8
GRAVE = frozenset(
    {
        "context-beyond-model",
        "revision-differs",
        "more-than-max-num-seqs",
        "more-than-max-running-requests",
        "slots-limit",
        "not-taken-off",
    }
)
"""Notes that stand right under the sentence, because it would mislead without them."""
ELSEWHERE = frozenset({"max-tokens-beyond-model", "startup-fails", "weights-do-not-fit", "no-room-for-cache"})
"""Notes on numbers that the page does not show, or that its sentence says already."""
MARKS: Mapping[Outcome, str] = {
    "yes": ":green[:material/check_circle:]",
    "held-only": ":orange[◐]",
    "no": ":red[:material/cancel:]",
    "asks": ":orange[:material/help:]",
    "content": ":blue[:material/info:]",
}


def answer(sizing: Sizing, notes_beside: Sequence[Note], lang: Lang, *, large: bool = True) -> None:
    """The answer in a sentence, verdict mark first; what would make it misleading stands right under it."""
    mark, head, rest = answer_sentence(sizing, lang)
    line = said_of_verdict.SENTENCE(lang, head=f"**{head}**", rest=together(rest))
    st.markdown(f"### {mark} {head}\n{together(rest)}" if large else f"{mark} {line}")
    for note in notes_beside:
        if note.code in GRAVE:
            st.warning(plain(note.message(lang)), icon=":material/warning:")


def stand_in(answered: Answer, lang: Lang, *, why: bool = True) -> None:
    """That the answer is for another model than the one asked for, and ``why`` where that does not stand beside it."""
    asked = str(state.shown("model"))[:60]
    said = text.STANDS_IN(lang, model=answered.scenario.model, asked=asked)
    if why:
        said = text.STANDS_IN_BECAUSE(lang, said=said, why=answered.errors["model"](lang))
    st.warning(plain(said), icon=":material/warning:")


def unread(answered: Answer, lang: Lang, *, why: bool) -> None:
    """That there is no answer because the model of a link could not be read, and ``why`` where nothing else says it."""
    said = text.NOT_READ(lang, asked=str(state.shown("model"))[:60])
    if why:
        said = text.STANDS_IN_BECAUSE(lang, said=answered.errors["model"](lang), why=said)
    st.info(plain(said), icon=":material/link_off:")


def origin(scenario: Scenario, lang: Lang, *, whole: bool = False) -> None:
    """Where the model's config came from; of a commit the beginning, and all of it in the help (or at once)."""
    found = models.from_hub(scenario)
    if found is None:
        st.caption((text.ORIGIN_PASTED if scenario.config else text.ORIGIN_BUNDLED)(lang))
    elif found.commit_sha is None:
        st.caption(text.ORIGIN_HUB_REVISION(lang, revision=plain(found.revision)))
    else:
        shown = found.commit_sha if whole else found.commit_sha[: models.SHORT]
        st.caption(text.ORIGIN_HUB(lang, revision=f"`{shown}`"), help=None if whole else f"`{found.commit_sha}`")


def face(sizing: Sizing, lang: Lang) -> None:
    """The model's layers as a small strip, and in a line."""
    st.image(layer_strip_svg(sizing, lang, compact=True), width="content", alt=layer_strip_alt(sizing, lang))
    st.caption(layer_counts(sizing, lang))


def answer_sentence(sizing: Sizing, lang: Lang) -> tuple[str, str, str]:
    """Verdict mark, the head of the sentence with its number, and the rest of it."""
    said = answer_in_words(sizing, lang)
    return MARKS[said.outcome], said.head, said.rest


def verdict(sizing: Sizing, lang: Lang) -> None:
    """Mark and head alone, for where the whole sentence is out of sight."""
    mark, head, _ = answer_sentence(sizing, lang)
    st.markdown(f"{mark} **{head}**")


def facts(sizing: Sizing, lang: Lang) -> None:
    """At once, per request, spare or short: three numbers in a row, each of which opens its working."""
    with st.container(horizontal=True):
        if sizing.max_sequences_counted is not None and sizing.max_sequences_held is not None:
            held, title = text.FACT_HELD(lang, held=format_count(sizing.max_sequences_held)), text.FACT_AT_ONCE
            if sizing.max_sequences_run is not None and sizing.max_sequences_counted > sizing.max_sequences_run:
                title, held = text.FACT_IN_MEMORY, text.FACT_RUN(lang, most=format_count(sizing.max_sequences_run))
            made = partial(workings.at_once, sizing, lang)
            fact(title(lang), format_count(sizing.max_sequences_counted), held, made, "at_once", lang)
        split = sizing.plan is not None and sizing.plan.gpus > 1
        content = text.FACT_CONTENT_WHOLE if split else text.FACT_CONTENT
        fact(
            (text.FACT_REQUEST_GPU if split else text.FACT_REQUEST)(lang),
            format_bytes(sizing.request_bytes if sizing.request_bytes is not None else sizing.content_bytes),
            content(lang, bytes=format_bytes(sizing.content_bytes)),
            partial(workings.per_request, sizing, lang),
            "per_request",
            lang,
        )
        if sizing.budget is not None and sizing.lacking_bytes is not None:
            fact(
                (text.FACT_SHORT if sizing.lacking_bytes > 0 else text.FACT_SPARE)(lang),
                format_bytes(abs(sizing.lacking_bytes)),
                text.FACT_POOL(lang, bytes=format_bytes(sizing.budget.pool_bytes)),
                partial(workings.lacking, sizing, lang),
                "lacking",
                lang,
            )


def fact(label: str, value: str, beside: str, made: Made, key: str, lang: Lang) -> None:
    """A number in large type, with what stands beside it and its working behind a press."""
    # Stretched, cards that a column wraps into two rows are each as tall as both: only where captions differ in length.
    with st.container(border=True, gap="xxsmall", height="stretch" if beside else "content"):
        st.metric(label, value)
        if beside:
            st.caption(beside)  # which wraps; a metric cuts what stands beside its value
        working(made, key=key, lang=lang)


def working(made: Made, *, key: str, lang: Lang, label: str | None = None) -> None:
    """How a number comes about: the formula filled in, the fields and settings it takes, the source; once asked for."""
    name = label or said_of_workings.OPEN(lang)
    key = f"working_{key}"
    popover = st.popover(name, icon=":material/function:", type="tertiary", key=key, on_change="rerun")
    if not popover.open:
        return
    made = made if isinstance(made, Working) else made()
    with popover:
        st.caption(made.explained)
        if made.formulas:
            st.markdown("  \n".join(plain(formula) for formula in made.formulas))
        if made.given:
            lines_of = (
                said_of_workings.GIVEN(lang, name=plain(g.name), value=plain(g.value), where=plain(g.where))
                for g in made.given
            )
            st.caption("\n".join(f"- {line}" for line in lines_of))
        if made.source:
            st.caption(said_of_workings.SOURCE(lang, source=plain(made.source)))


def floor(sizing: Sizing, lang: Lang) -> None:
    """A line each: from where on the cache is larger than the weights, and how fast a step can be at the very best."""
    if requests := crossover_requests(sizing):
        crossover = text.CROSSOVER_ONE if requests == 1 else text.CROSSOVER
        values = {"requests": format_count(requests), "tokens": format_count(sizing.tokens)}
        weights = format_gib(sizing.budget.weights.value_bytes) if sizing.budget else ""
        st.caption(f":material/balance: {plain(crossover(lang, weights=weights, **values))}")
    if at_best := speed_floor(sizing):
        st.caption(f":material/speed: {plain(at_best.sentence(lang))}")


def fix_buttons(offered: tuple[Fix, ...], lang: Lang) -> None:
    """Up to three changes that would help, each with its result; one press makes it, and Undo takes it back."""
    undoable = state.undoable()
    if not offered and undoable is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        for number, fix in enumerate(offered):
            st.button(fix.label(lang), key=f"fix_{number}", on_click=state.apply, args=(fix.scenario, fix.lever.label))
        if undoable is not None:
            label = text.UNDO(lang, what=undoable(lang))
            st.button(label, key="undo_fix", icon=":material/undo:", type="tertiary", on_click=state.undo)


def growth_tab(sizing: Sizing, lang: Lang) -> None:
    """The same growth on logarithmic scales, and which lengths and numbers of requests fit together."""
    if sizing.budget is not None:
        st.markdown(f"**{text.FRONTIER(lang)}**")
        figure = frontier_figure(sizing, lang)
        chart(figure, lambda: frontier_rows(sizing, lang), alt=frontier_alt(sizing, lang), key="frontier", lang=lang)
    st.markdown(f"**{text.SCALES(lang)}**")
    figure = growth_figure(sizing, lang, log=True)
    st.plotly_chart(drawable(figure), key="growth_log", config=_chart_config(), alt=growth_alt(sizing, lang))


def what_if(possible: tuple[Lever, ...], lang: Lang) -> None:
    """Every lever with its effect and its cost."""
    st.table(
        [
            {
                text.WHAT_IF_CHANGE(lang): lever.label(lang),
                text.WHAT_IF_FIT(lang): _cell(lever.sizing.max_sequences_counted),
                text.WHAT_IF_EFFECT(lang): plain(lever.effect(lang)),
                text.WHAT_IF_COST(lang): plain(lever.cost(lang)),
            }
            for lever in possible
            if lever.more_requests != 0
        ],
        border="horizontal",
    )


def splits(sizing: Sizing, lang: Lang) -> None:
    """For several GPUs: every way to share the model out over them, what holds most first; one press takes one over."""
    if sizing.scenario.gpus == 1:
        return
    weights = resolve(sizing.scenario, given=models.given(sizing.scenario)).weights
    ways = ways_to_split(sizing, weights=weights)
    if len(ways) < 2:
        return
    st.markdown(f"**{splits_text.TITLE(lang, gpus=format_count(sizing.scenario.gpus))}**")
    now = next((way.label(lang) for way in ways if way.sizing == sizing), None)
    now = now or next((way.label(lang) for way in ways if way.sizing.plan == sizing.plan), None)
    shown = [way for number, way in enumerate(ways) if number < MOST_SPLITS or way.label(lang) == now]
    st.table([_split_row(way, lang, now) for way in shown], border="horizontal")
    if len(ways) > len(shown):
        st.caption(splits_text.MORE(lang, count=len(ways) - len(shown)))
    st.caption(splits_text.COST(lang))
    better = [way for way in ways if way.label(lang) != now and way.sizing.starts][:3]
    with st.container(horizontal=True):
        for number, way in enumerate(better):
            label = splits_text.USE(lang, split=way.label(lang), fit=_cell(way.sizing.max_sequences_counted))
            st.button(label, key=f"split_{number}", on_click=state.apply, args=(way.scenario,))


def _split_row(way: Split, lang: Lang, now: str | None) -> dict[str, str]:
    label, answered = way.label(lang), way.sizing
    at_once = _cell(answered.max_sequences_counted)
    if answered.starts is False:
        at_once = splits_text.DOES_NOT_START(lang)
    return {
        splits_text.SPLIT(lang): splits_text.THIS_ONE(lang, split=label) if label == now else label,
        splits_text.AT_ONCE(lang): at_once,
        splits_text.PER_GPU(lang): format_bytes(answered.request_bytes or 0),
        splits_text.COPIES(lang): (
            splits_text.TIMES(lang, copies=way.copies) if way.copies > 1 else splits_text.NO_COPIES(lang)
        ),
        splits_text.WEIGHTS(lang): format_bytes(answered.budget.weights.value_bytes) if answered.budget else "–",
    }


def launch_command(sizing: Sizing, lang: Lang) -> None:
    """How to start the engine with these settings."""
    how = launch(sizing)
    if how is None:
        st.caption(text.NO_LAUNCH(lang))
        return
    st.code(how.command, language=None, wrap_lines=True)  # Streamlit's colours for code are too pale on white
    if how.file:
        st.code(how.file, language=None, wrap_lines=True)
    for note in how.notes:
        st.caption(plain(note(lang)))


def share(sizing: Sizing, answered: Answer, tables: Mapping[str, Sequence[Mapping[str, Any]]], lang: Lang) -> None:
    """Link, QR code, embed code and files."""
    link = state.link(sizing.scenario)
    whole = replace(sizing, notes=answered.notes)  # with what is said of the config and its weights
    of_report: dict[str, Any] = {"link": link, "possible": answered.levers}
    st.caption(text.LINK_HELP(lang))
    if sizing.scenario.config:
        st.caption(text.LINK_CONFIG(lang))
    st.code(link, language=None, wrap_lines=True)
    st.caption(disputed.REVIEW_LINK(lang))
    st.code(state.link_to("review", sizing.scenario), language=None, wrap_lines=True)
    with st.container(horizontal=True):
        for label, extension, mime, made in (
            (reported.SAVE_HTML, "html", "text/html", lambda: report.as_html(whole, lang, day=today(), **of_report)),
            (
                reported.SAVE_MARKDOWN,
                "md",
                "text/markdown",
                lambda: report.as_markdown(whole, lang, day=today(), **of_report),
            ),
            (text.SAVE_CSV, "csv", "text/csv", lambda: export.csv_bytes(sizing, lang, tables=tables)),
            (text.SAVE_JSON, "json", "application/json", lambda: export.json_text(sizing, lang)),
        ):
            save(label(lang), made, export.file_name(sizing, extension), mime)
    left, right = st.columns(2)
    with left:
        st.caption(text.EMBED(lang))
        try:
            st.code(export.embed_code(link, lang), language=None, wrap_lines=True)
        except KvvizError as error:
            st.caption(plain(error.message(lang)))
    with right:
        try:
            browser.svg(qr_svg(link, lang), key="qr")
        except KvvizError as error:
            st.caption(plain(error.message(lang)))


def save(label: str, made: Callable[[], str | bytes], file_name: str, mime: str) -> None:
    """A button that saves a file, which is made once it is pressed."""
    extension = file_name.rpartition(".")[2]
    st.download_button(
        label,
        data=made,
        file_name=file_name,
        mime=mime,
        on_click="ignore",
        icon=":material/download:",
        key=f"save_{extension}",
    )


def today() -> date:
    """Of the UTC calendar."""
    return datetime.now(UTC).date()


def tabs(titles: Sequence[Text], *, key: str, lang: Lang, first: int = 0) -> Sequence[TabContainer]:
    """Tabs, each to be filled only while it is open; the one that is open stays so in another language."""
    names = [title(lang) for title in titles]
    if st.session_state.get(key) not in names:
        st.session_state[key] = names[session().get(f"{key}_open", first)]
    drawn = st.tabs(names, key=key, on_change="rerun")
    session()[f"{key}_open"] = next((number for number, tab in enumerate(drawn) if tab.open), first)
    return drawn


def said_anew(key: str, lang: Lang) -> None:
    """Before a select box is drawn whose options read differently in another language.

    Its browser goes on showing the words it has, and hands those back instead of the choice (Streamlit 1.67), unless it
    is told the choice again.
    """
    if session().get(f"{key}_said", lang) != lang and key in st.session_state:
        st.session_state[key] = st.session_state[key]
    session()[f"{key}_said"] = lang


def folded(label: str, *, key: str, icon: str | None = None, compact: bool = False) -> ExpanderContainer:
    """A panel to be filled only while it is open; open, it stays so when its label changes, as in another language."""
    before, was_open = session().get(f"{key}_was", (label, False))
    if label != before:  # which makes it another panel to Streamlit
        st.session_state[key] = was_open
    kind: Literal["compact", "default"] = "compact" if compact else "default"
    panel = st.expander(label, key=key, icon=icon, type=kind, on_change="rerun")
    session()[f"{key}_was"] = label, bool(panel.open)
    return panel


def chart(figure: Figure, rows: Callable[[], Sequence[Mapping[str, Any]]], *, alt: str, key: str, lang: Lang) -> None:
    """A chart with its takeaway for screen readers and, folded, the same rows as a table."""
    st.plotly_chart(drawable(figure), key=key, config=_chart_config(), alt=alt)
    table(rows, key=key, lang=lang)


def _chart_config() -> dict[str, Any]:
    # On a touch screen the mode bar is always there, on top of the chart.
    return PLOTLY_CONFIG | {"displayModeBar": False} if browser.is_phone() else PLOTLY_CONFIG


def table(rows: Callable[[], Sequence[Mapping[str, Any]]], *, key: str, lang: Lang) -> None:
    """The rows under a chart, folded, and drawn only when they are opened; long sentences wrap."""
    panel = folded(text.AS_TABLE(lang), key=f"{key}_table", compact=True)
    if panel.open:
        with panel:
            grid(cells(rows()))


def grid(rows: Sequence[Mapping[str, str]]) -> None:
    """Rows of text. Given as an Arrow table, which is what is sent: Streamlit makes two data frames of a list first."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [together(row.get(name) or "") for row in rows] for name in names}
    st.table(pyarrow.table(columns), border="horizontal", hide_index=True)


def cells(rows: Sequence[Mapping[str, object]]) -> list[dict[str, str]]:
    """The rows as text: fractions of a column have as many decimals as the longest of them."""
    decimals: dict[str, int] = {}
    for name, value in (pair for row in rows for pair in row.items()):
        if isinstance(value, float):
            decimals[name] = max(decimals.get(name, 0), len(f"{value:f}".rstrip("0").partition(".")[2]))
    return [{name: _cell(value, decimals.get(name, 0)) for name, value in row.items()} for row in rows]


def _cell(value: object, decimals: int = 0) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.{decimals}f}"
    return f"{value:,}" if isinstance(value, int) else plain(str(value))


def notes(of: Iterable[Note], lang: Lang) -> None:
    """What else must be known, a line each."""
    told = [note.message(lang) for note in of if note.code not in GRAVE | ELSEWHERE]
    if told:
        st.caption("  \n".join(f":orange[:material/info:] {plain(sentence)}" for sentence in told))


def watch_out(sizing: Sizing, lang: Lang) -> None:
    """Pitfalls of such a sizing: the gravest in sight, the rest folded."""
    found = [f":orange[:material/lightbulb:] {plain(one.sentence(lang))}" for one in advice(sizing)]
    if found:
        st.caption("  \n".join(found[:MOST_IN_SIGHT]))
    if rest := found[MOST_IN_SIGHT:]:
        with st.expander(pitfalls.MORE(lang, count=len(rest)), key="watch_out", type="compact"):
            st.caption("  \n".join(rest))


def rejected(lang: Lang) -> None:
    """What the link that was opened says and cannot be used."""
    if messages := state.rejected():
        told = "\n".join(f"- {plain(_labelled(message(lang), lang))}" for message in messages)
        st.warning(f"{text.LINK_REJECTED(lang)}\n\n{told}", icon=":material/link_off:")


def _labelled(sentence: str, lang: Lang) -> str:
    """``sentence`` with the setting it begins with called as its control is."""
    field, colon, rest = sentence.partition(": ")
    if not colon or field not in text.LABELS:
        return sentence
    return f"{text.LABELS[field](lang)}{'：' if lang == 'ja' else ': '}{rest}"


def error_line(answered: Answer, field: str, lang: Lang) -> str:
    """What is wrong with a setting, by the name its control has, and what is used until it is mended."""
    used = getattr(answered.scenario, field)
    value = format_count(used) if isinstance(used, int) else text.AUTO(lang) if used is None else used
    if field == "gpu":
        value = gpu_name(answered.scenario, lang)
    said = answered.errors[field](lang)
    about, colon, rest = said.partition(": ")
    if colon and about in text.LABELS:
        # Sentences about lengths name all of them; others speak of the setting they begin with.
        said = rest if about in (field, "input", "output") else f"{text.LABELS[about](lang)} – {rest}"
    colon, gap = ("：", "") if lang == "ja" else (": ", " ")
    return f"{text.LABELS[field](lang)}{colon}{said}{gap}{text.USED_INSTEAD(lang, value=value)}"


def out_of_sight(answered: Answer, lang: Lang, *, everything: bool) -> None:
    """Which settings cannot be used, where the control with its message is folded away."""
    if hidden := [name for name in answered.errors if everything or name in MORE_SETTINGS]:
        lines((text.SEE_SETTINGS(lang, names=named(hidden, lang)),))


def named(settings: Iterable[str], lang: Lang) -> str:
    """What these settings are called, as a list, without their units."""
    labels = (re.sub(r" ?[(（].*", "", text.LABELS[name](lang)) for name in settings)
    return ("、" if lang == "ja" else ", ").join(labels)


def lines(of: Sequence[str]) -> None:
    """A message of one line, or a headline with a list of details; long lists are cut."""
    first, *rest = of
    shown = [f"- {plain(line[:300])}" for line in rest[:MOST_DETAILS]]
    if len(rest) > MOST_DETAILS:
        shown.append(f"- … +{len(rest) - MOST_DETAILS}")
    st.error("\n".join([plain(first[:600]), "", *shown]), icon=":material/error:")


def to_operator(error: KvvizError) -> None:
    """In the server's log, once: what only whoever started the server can put right."""
    _logged(str(error))


@lru_cache(maxsize=64)
def _logged(sentence: str) -> None:
    _LOG.warning(sentence)


def plain(sentence: str) -> str:
    """``sentence`` as it is: names and values from a config or a link must not become links or pictures."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+\-!|<>~$:&])", r"\\\1", sentence)
    # Bare addresses become links even where every sign is escaped: something empty parts them, which nobody copies.
    return re.sub(r"(?<=:)(?=//)|(?i:(?<=www)(?=\.))|(?<=@)", PARTED, escaped)


def why_this_number(sizing: Sizing, lang: Lang) -> None:
    """The formula with its numbers, where each came from, and the three numbers apart."""
    st.table(
        [
            {
                why.COLUMN_WHAT(lang): line.what(lang),
                why.COLUMN_FORMULA(lang): line.formula,
                why.COLUMN_TOKENS(lang): why.ONCE(lang) if line.tokens is None else format_count(line.tokens),
                why.COLUMN_SIZE(lang): _both(line.total_bytes),
            }
            for line in explain.lines(sizing)
        ],
        border="horizontal",
    )
    origin(sizing.scenario, lang, whole=True)
    st.markdown(f"**{why.THREE(lang)}**")
    st.table(
        [
            {
                why.COLUMN_WHAT(lang): title(lang),
                why.COLUMN_SIZE(lang): _both(count),
                why.COLUMN_MEANING(lang): meaning(lang),
            }
            for title, count, meaning in explain.three_numbers(sizing)
        ],
        border="horizontal",
    )
    for sentence in explain.differences(sizing):
        st.caption(sentence(lang))
    st.table(
        [
            {
                why.COLUMN_TERM(lang): why.TERMS[fact.term](lang) if fact.term in why.TERMS else f"`{fact.term}`",
                why.COLUMN_VALUE(lang): format_count(fact.value) if isinstance(fact.value, int) else plain(fact.value),
                why.COLUMN_ORIGIN(lang): plain(explain.origin(fact, lang)),
            }
            for fact in sizing.architecture.facts
        ],
        border="horizontal",
    )


def summary(scenario: Scenario, lang: Lang, *, model: str = "") -> str:
    """The scenario on one line, for where its controls are folded; ``model`` where theirs says another."""
    return text.SUMMARY(
        lang,
        model=(model or scenario.model).split("/")[-1],
        gpus=f"{scenario.gpus} × {gpu_name(scenario, lang)}" if scenario.gpu else text.NO_GPU(lang),
        tokens=format_count(scenario.tokens),
        sequences=format_count(scenario.requests),
        dtype=scenario.kv_dtype,
    )


def gpu_name(scenario: Scenario, lang: Lang) -> str:
    """The GPU as people call it; an id nobody knows is shown as it is."""
    return short_name(gpu_called(scenario.gpu)) or text.NO_GPU(lang)


def gpu_called(gpu: str) -> str:
    """A GPU's name by its id; an id nobody knows as it is."""
    try:
        return device(gpu).name if gpu else ""
    except KvvizError:
        return gpu


def source_line(sizing: Sizing, link: str, lang: Lang) -> str:
    """What an embedded chart was computed from, with a link to the whole page."""
    scenario = sizing.scenario
    return text.SOURCE_LINE(
        lang,
        model=scenario.model,
        gpus=format_count(scenario.gpus),
        gpu=gpu_name(scenario, lang),
        tokens=format_count(sizing.tokens),
        version=build.version(),
        link=link,
    )


def _both(count: int) -> str:
    """Bytes as people read them, and to the byte."""
    return f"{format_bytes(count)} ({format_count(count)} B)" if count >= KIB else format_bytes(count)
