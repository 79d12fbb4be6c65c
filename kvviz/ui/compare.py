"""The Compare page's own state, read once from the link, and how it shows a matrix and a set of scenarios."""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import Final

import streamlit as st

from kvviz import catalogue, workings
from kvviz.charts.compare import (
    cell_label,
    comparison_figure,
    comparison_rows,
    factor_rows,
    names,
    reasons,
    runs_fewer,
    same_factors,
    short_gpu,
    times_label,
)
from kvviz.charts.style import Figure
from kvviz.compare import (
    COUNTS,
    GPUS,
    MODELS,
    MOST_COUNTS,
    MOST_GPUS,
    MOST_MODELS,
    Cell,
    Compared,
    Difference,
    cell,
    compare,
    difference,
)
from kvviz.core.errors import KvvizError
from kvviz.core.identity import ByIdentity
from kvviz.core.units import format_bytes, format_count
from kvviz.devices import every_device
from kvviz.links import SET_SCENARIOS
from kvviz.report import comparison
from kvviz.scenario import Scenario, shown, to_query
from kvviz.text import Lang
from kvviz.text import compare as text
from kvviz.text import sizing as labels
from kvviz.text import workings as said_of_workings
from kvviz.ui import browser, models, show, state
from kvviz.ui.answer import ask
from kvviz.ui.session import session

_MORE_COUNTS: Final = (1, 2, 3, 4, 6, 8, 16, 32)
_NUMBERS: Final = frozenset("123456")
_MOST_REASONS: Final = 6
_FACE_PX: Final = 250
URL: Final = "/compare"


def begin(base: Scenario) -> None:
    """On the page's first run in a session, take over what the link says of it."""
    if "compared" in session():
        return
    session()["compared"] = state.together()
    unknown: list[str] = []
    gpus = {gpu.id for gpu in every_device()}
    st.session_state["compare_models"] = _listed("models", catalogue.models(), unknown) or list(MODELS)
    chosen = dict.fromkeys(filter(None, (base.gpu, *GPUS)))
    st.session_state["compare_gpus"] = _listed("devices", gpus, unknown) or list(chosen)[:2]
    counts = _listed("counts", [str(count) for count in _MORE_COUNTS], unknown)
    st.session_state["compare_counts"] = [int(count) for count in counts] or list(COUNTS)
    pair = st.query_params.get("pair", "").split(",")
    session()["compare_pair"] = tuple(int(n) for n in pair if n in _NUMBERS)
    session()["compare_unknown"] = unknown
    problem = {name: session().get(name) for name in ("model_problem", "hits")}
    for scenario in session()["compared"]:
        if not scenario.config and not models.known(scenario.model) and "/" in scenario.model:
            revision = f"@{scenario.revision}" if scenario.revision else ""
            models.ask_hub(scenario.model + revision)
    session().update(problem)  # what is wrong with these is not the Sizing page's


def _listed(name: str, known: Sequence[str] | set[str], unknown: list[str]) -> list[str]:
    """What the link lists and is known here; the rest goes to ``unknown``."""
    asked = list(dict.fromkeys(filter(None, st.query_params.get(name, "").split(","))))
    unknown += [shown(one) for one in asked if one not in known]
    return [one for one in asked if one in known]


def scenarios(default: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """Those side by side; ``default`` until somebody chose others."""
    chosen: tuple[Scenario, ...] = session()["compared"]
    return chosen or tuple(default)


def compared(asked: tuple[Scenario, ...]) -> tuple[Compared, ...]:
    """These with their answers; of bundled models the same object for the same scenarios."""
    if any(one.config or models.from_hub(one) for one in asked):
        return compare(asked, ask)
    return _of_bundled(asked)


@lru_cache(maxsize=128)
def _of_bundled(asked: tuple[Scenario, ...]) -> tuple[Compared, ...]:
    return compare(asked, ask)


def figure(of: tuple[Compared, ...], lang: Lang) -> Figure:
    """Their chart, which stays while only the matrix is changed."""
    return _figure(ByIdentity(of), lang)


@lru_cache(maxsize=64)
def _figure(of: ByIdentity[tuple[Compared, ...]], lang: Lang) -> Figure:
    return comparison_figure(of.value, lang)


def put(chosen: Sequence[Scenario], before: Sequence[Scenario]) -> None:
    """Callback: compare these instead of ``before``."""
    undo = [*session().get("compare_undo", []), tuple(before)]
    session()["compare_undo"] = undo[-state.MOST_UNDO :]
    session()["compared"] = tuple(chosen)[:SET_SCENARIOS]
    session()["compare_pair"] = ()


def undo() -> None:
    """Callback: what was compared before the last change."""
    if steps := session().get("compare_undo"):
        session()["compared"] = steps[-1]
        session()["compare_undo"] = steps[:-1]
        session()["compare_pair"] = ()


def share(base: Scenario, compared: Sequence[Compared], matrix: comparison.Matrix, lang: Lang) -> None:
    """The page's link, which the address bar says too, and its tables as files; folded."""
    try:
        link = _publish(base, [one.scenario for one in compared])
    except KvvizError as error:
        show.lines((error.message(lang),))
        return
    with st.expander(labels.SHARE(lang), key="share_compared", icon=":material/share:"):
        st.caption(text.LINK_HELP(lang))
        st.code(link, language=None, wrap_lines=True)
        with st.container(horizontal=True):
            for label, extension, mime, made in (
                (text.SAVE_MARKDOWN, "md", "text/markdown", comparison.as_markdown),
                (labels.SAVE_CSV, "csv", "text/csv", comparison.csv_bytes),
            ):
                data = partial(made, compared, matrix, lang, link=link, day=show.today())
                show.save(label(lang), data, f"kvviz-compare.{extension}", mime)


def _publish(base: Scenario, scenarios: Sequence[Scenario]) -> str:
    """The Sizing page's scenario, the matrix's axes, the scenarios side by side and the two that are explained."""
    fields = {name: value for name, value in to_query(base).items() if name != "v"}
    return state.publish_set(
        scenarios,
        **fields,
        models=",".join(st.session_state["compare_models"]),
        devices=",".join(st.session_state["compare_gpus"]),
        counts=",".join(str(count) for count in st.session_state["compare_counts"]),
        pair=",".join(map(str, session()["compare_pair"])),
    )


def unknown_in_link(lang: Lang) -> None:
    """What of the link's models and GPUs is not known here."""
    for one in session()["compare_unknown"]:
        st.warning(show.plain(text.UNKNOWN_IN_LINK(lang, shown=one)), icon=":material/link_off:")


def axes(lang: Lang) -> None:
    """Which models, GPUs and counts the matrix has."""
    with st.popover(text.CHOOSE(lang), icon=":material/tune:", key="compare_axes"):
        st.multiselect(
            text.MODELS(lang),
            catalogue.models(),
            key="compare_models",
            max_selections=MOST_MODELS - 1,
            persist_state="session",
        )
        names = {gpu.id: gpu.name for gpu in every_device()}
        st.multiselect(
            text.DEVICES(lang),
            list(names),
            key="compare_gpus",
            format_func=lambda gpu: names.get(gpu, gpu),
            max_selections=MOST_GPUS,
            persist_state="session",
        )
        st.multiselect(
            text.COUNTS(lang),
            _MORE_COUNTS,
            key="compare_counts",
            max_selections=MOST_COUNTS,
            persist_state="session",
        )


def cell_of(base: Scenario, model: str, gpu: str, gpus: int) -> Cell:
    """A cell of the matrix; of a bundled model kept for everybody: a change leaves most cells as they are."""
    if model == base.model and (base.config or models.from_hub(base)):
        return cell(base, model, gpu, gpus, ask=ask)
    return _cell_of_bundled(base, model, gpu, gpus)


@lru_cache(maxsize=4096)
def _cell_of_bundled(base: Scenario, model: str, gpu: str, gpus: int) -> Cell:
    return cell(base, model, gpu, gpus, ask=ask)


@lru_cache(maxsize=4096)
def _linked(scenario: Scenario) -> str:
    """What a link says of it."""
    return state.packed(to_query(scenario))


def matrix_table(rows: Sequence[Sequence[Cell]], lang: Lang, *, phone: bool) -> None:
    """Every cell opens its scenario on the Sizing page. On a phone a table a GPU."""
    sizing_page, ours = state.base().removesuffix(URL) or "/", state.packed(state.about())
    gpus = list(dict.fromkeys(one.scenario.gpu for row in rows for one in row))
    for group in [[gpu] for gpu in gpus] if phone else [gpus]:
        if phone:
            st.markdown(f"**{show.plain(short_gpu(group[0]))}**")
        table = []
        for row in rows:
            line = {text.MODEL(lang): show.plain(row[0].scenario.model.rpartition("/")[2])}
            for one in row:
                if one.scenario.gpu in group:
                    count, gpu = format_count(one.scenario.gpus), show.plain(short_gpu(one.scenario.gpu))
                    heading = f"{count} ×" if phone else text.COLUMN(lang, count=count, gpu=gpu)
                    link = f"{sizing_page}?{_linked(one.scenario)}&{ours}"
                    line[heading] = f"[{cell_label(one, lang)}]({link})"
            table.append(line)
        with st.container(key=f"compare_matrix_{group[0]}" if phone else "compare_matrix"):
            show.grid(table)
    told = [text.LEGEND(lang), *([fewer] if (fewer := runs_fewer(rows, lang)) else [])]
    found = reasons(rows, lang)
    for label, why, about in found[:_MOST_REASONS]:
        names = ("、" if lang == "ja" else ", ").join(about)
        told.append(text.REASON(lang, cell=label, models=show.plain(names), why=show.plain(why)))
    if len(found) > _MOST_REASONS:
        told.append(text.MORE_REASONS(lang, count=len(found) - _MOST_REASONS))
    st.caption("  \n".join(told))


def buttons(
    base: Scenario, compared: Sequence[Compared], variants: Sequence[Sequence[Scenario]], lang: Lang
) -> Scenario | None:
    """Add, compare under all engines or as other types, edit, remove, undo; returns the one to open on Sizing.

    ``variants``: those of the engines, then those of the types.
    """
    now = [one.scenario for one in compared]
    engines, types = variants
    same = next((one.number for one in compared if one.scenario == base), None)
    full = len(now) >= SET_SCENARIOS
    opened = None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.ADD(lang),
            key="compare_add",
            icon=":material/add:",
            on_click=put,
            args=([*now, base], now),
            disabled=same is not None or full,
            help=text.ALREADY(lang, number=same) if same else text.FULL(lang) if full else None,
        )
        st.button(text.ENGINES(lang), key="compare_engines", on_click=put, args=(engines, now))
        if len(types) > 1:
            named = " / ".join(one.kv_dtype for one in types)
            st.button(text.TYPES(lang, types=named), key="compare_types", on_click=put, args=(types, now))
        with st.popover(text.CHANGE_SET(lang), icon=":material/edit:", key="compare_changes"):
            opened = _changes(compared, lang)
        if session().get("compare_undo"):
            st.button(
                text.UNDO(lang), key="compare_undo_button", icon=":material/undo:", type="tertiary", on_click=undo
            )
    editing = session().get("compare_editing")
    if opened is None and editing is not None and editing < len(now) and base not in now:
        st.button(
            text.REPLACE(lang, number=editing + 1),
            key="compare_replace",
            type=browser.foremost(),
            on_click=_replace,
            args=(editing, base, now),
        )
    return opened


def _changes(compared: Sequence[Compared], lang: Lang) -> Scenario | None:
    """Edit and remove, a row a scenario; returns the one to edit."""
    now = [one.scenario for one in compared]
    named = names(compared, lang)
    opened = None
    for one in compared:
        place = one.number - 1
        st.markdown(f"**{one.number}** {show.plain(named[one.number])}")
        with st.container(horizontal=True):
            if st.button(text.EDIT(lang, number=one.number), key=f"compare_edit_{place}", help=text.EDIT_HELP(lang)):
                opened = one.scenario
                session()["compare_editing"] = place
            if len(now) > 1:
                others = [*now[:place], *now[place + 1 :]]
                label = text.REMOVE(lang, number=one.number)
                st.button(label, key=f"compare_remove_{place}", on_click=put, args=(others, now))
    return opened


def _replace(place: int, scenario: Scenario, now: Sequence[Scenario]) -> None:
    session()["compare_editing"] = None
    put([*now[:place], scenario, *now[place + 1 :]], now)


def open_on_sizing(scenario: Scenario) -> None:
    """Make it the Sizing page's scenario. Undo there goes back."""
    if scenario.config:
        session()["pasted"][scenario.model] = scenario.config
    session()["linked_revision"] = (scenario.model, scenario.revision)
    state.apply(scenario)


def faces(compared: Sequence[Compared], lang: Lang) -> None:
    """Each scenario's model by its layers, with the working of its numbers."""
    named = names(compared, lang)
    with st.container(horizontal=True):
        for one in compared:
            if one.sizing is not None:
                with st.container(border=True, gap="xxsmall", width=_FACE_PX, height="stretch"):
                    st.markdown(text.LINE(lang, number=one.number, name=show.plain(named[one.number])))
                    show.face(one.sizing, lang)
                    made = partial(workings.compared, one.sizing, lang)
                    label = said_of_workings.OF_SCENARIO(lang, number=one.number)
                    show.working(made, key=f"compared_{one.number}", lang=lang, label=label)


def table(compared: Sequence[Compared], lang: Lang) -> None:
    """Everything about them, what differs first."""
    rows, first_same = comparison_rows(compared, lang)
    with st.container(key="compare_beside"):
        show.grid([{name: show.plain(value) for name, value in row.items()} for row in rows])
    told = [text.SAME_BELOW(lang, first=first_same)] if first_same else []
    st.caption("  \n".join([*told, text.PER_GPU(lang)]))
    for one in compared:
        if one.problem is not None:
            show.lines((text.CANNOT(lang, number=one.number, why=one.problem.message(lang)),))


def why(compared: Sequence[Compared], lang: Lang) -> None:
    """Two of them, as factors whose product is exactly the ratio of what a request takes."""
    answered = {one.number: one for one in compared if one.sizing}
    if len(answered) < 2:
        st.caption(text.ONE_ONLY(lang))
        return
    one, other = (answered[number] for number in _pair(list(answered), lang))
    found = _difference(one, other)
    if found is not None and found.ratio < 1:
        one, other = other, one
        found = _difference(one, other)
    if found is None:
        st.caption(text.NO_RATIO(lang))
        return
    counted = (text.COUNTED if found.reserved else text.CONTENT_ONLY)(lang)
    values = {"one_bytes": format_bytes(found.one_bytes), "other_bytes": format_bytes(found.other_bytes)}
    if found.ratio == 1:
        st.markdown(text.EQUAL(lang, one_bytes=values["one_bytes"], counted=counted))
    else:
        ratio = times_label(found.ratio)
        st.markdown(text.TIMES(lang, one=one.number, other=other.number, ratio=ratio, counted=counted, **values))
    if any(factor.ratio != 1 for factor in found.factors):
        named = names((one, other), lang)
        first, second = (text.LINE(lang, number=n.number, name=named[n.number]) for n in (one, other))
        rows = factor_rows(found, first, second, lang)
        show.grid([{show.plain(name): value for name, value in row.items()} for row in rows])
    if same := same_factors(found, lang):
        st.caption(text.SAME_FACTORS(lang, names=same))


def _difference(one: Compared, other: Compared) -> Difference | None:
    return difference(one.sizing, other.sizing) if one.sizing and other.sizing else None


def _pair(numbers: list[int], lang: Lang) -> tuple[int, int]:
    """Which two are explained."""
    pairs = list(combinations(numbers, 2))
    now = tuple(sorted(session()["compare_pair"]))
    if now not in pairs:
        now = pairs[0]
    session()["compare_pair"] = now
    if len(pairs) > 1:
        st.session_state["compare_pair_box"] = now
        st.selectbox(
            text.WHICH(lang),
            pairs,
            key="compare_pair_box",
            format_func=lambda two: text.PAIR(lang, one=two[0], other=two[1]),
            on_change=_pair_chosen,
            width=240,
        )
    return now[0], now[1]


def _pair_chosen() -> None:
    session()["compare_pair"] = st.session_state["compare_pair_box"]


def context(base: Scenario, engine: str, lang: Lang) -> None:
    """What every cell of the matrix is asked."""
    requests, tokens = format_count(base.requests), format_count(base.tokens)
    st.markdown(text.NEED(lang, requests=requests, tokens=tokens, engine=engine))
