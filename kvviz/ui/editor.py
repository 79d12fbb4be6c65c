"""The layer editor: rows of "count x kind with its sizes" for an architecture that no reader knows."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from kvviz import catalogue
from kvviz.core.architecture import (
    ENTERED_TYPE,
    MOST_ROWS,
    ROW_FIELDS,
    Architecture,
    entered_config,
    read_config,
    rows_of,
    understood,
)
from kvviz.core.errors import ConfigError, KvvizError, ScenarioError
from kvviz.links import pack_config, unpack_config
from kvviz.scenario import parse_tokens
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message
from kvviz.text import config as config_text
from kvviz.text import editor as text
from kvviz.ui import browser, show, state
from kvviz.ui.session import session

_EXAMPLE: Final = {"count": 32, "kind": "full", "kv_heads": 8, "key_dim": 128, "value_dim": 128}
_WIDTHS: Final = {"count": 90, "kind": 170}
_WIDTH: Final = 125
_IN_ROW: Final = re.compile(r"\$\.layers\[(\d+)\]\.(\w+)")

Row = dict[str, str]
"""What the boxes of a row show."""


def layers(sizing: Sizing | None, lang: Lang) -> None:
    """Where a config of an unknown architecture was read, or layers were described: what they are, to be changed."""
    unknown = session().get("unknown")
    entered = sizing is not None and sizing.architecture.model_type == ENTERED_TYPE
    if unknown is not None:
        name, config = unknown
        like = understood(config)
        _begin(unknown, name, like, (_EXAMPLE,) if like is None else rows_of(like))
        title = text.DESCRIBE(lang, name=show.plain(name))
    elif entered and sizing is not None:
        carried = sizing.scenario.config
        listed = unpack_config(carried)["layers"] if carried else []
        rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        _begin(carried, sizing.scenario.model, sizing.architecture, rows or rows_of(sizing.architecture))
        title = text.CHANGE(lang)
    else:
        return
    with st.expander(title, expanded=unknown is not None, icon=":material/layers:", key="layer_editor"):
        if unknown is not None:
            st.caption((text.UNDERSTOOD if session()["layers_like"] else text.NOTHING_UNDERSTOOD)(lang))
            if sizing is not None:
                st.caption(text.UNTIL_THEN(lang, model=show.plain(sizing.scenario.model)))
        for number in range(len(session()["layer_rows"])):
            _row(number, lang)
        if problem := session().get("layers_problem"):
            show.lines((problem(lang),))
        with st.container(horizontal=True):
            st.button(text.ADD(lang), icon=":material/add:", on_click=_add)
            st.button(text.USE(lang), type=browser.foremost(), on_click=_use)


def _begin(of: object, name: str, like: Architecture | None, rows: Sequence[Mapping[str, object]]) -> None:
    """Fill the rows once for each thing they are about."""
    kept = session()
    if kept.get("layers_of") == of:
        return
    kept["layers_of"], kept["layers_like"], kept["layers_name"] = of, like, name
    kept["layers_problem"] = None
    _put([{field: _shown(value) for field, value in row.items()} for row in rows])


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _put(rows: list[Row]) -> None:
    """Boxes with other keys, so that none keeps what another row's said."""
    session()["layer_rows"] = rows
    session()["layers_drawn"] = session().get("layers_drawn", 0) + 1


def _key(number: int, field: str) -> str:
    return f"layers_{session()['layers_drawn']}_{number}_{field}"


def _row(number: int, lang: Lang) -> None:
    row: Row = session()["layer_rows"][number]
    for field in ("count", "kind", *(f for fields in ROW_FIELDS.values() for f in fields)):
        st.session_state.setdefault(_key(number, field), row.get(field, ""))
    with st.container(horizontal=True, vertical_alignment="bottom", border=True):
        _typed(number, "count", lang)
        show.said_anew(_key(number, "kind"), lang)
        kind = st.selectbox(
            text.FIELDS["kind"](lang),
            list(ROW_FIELDS),
            key=_key(number, "kind"),
            format_func=lambda option: text.KINDS[option](lang),
            width=_WIDTHS["kind"],
            persist_state="session",
        )
        for field in ROW_FIELDS[kind]:
            _typed(number, field, lang)
        help_text = text.REMOVE(lang, row=number + 1)
        st.button(
            "",
            key=_key(number, "remove"),
            icon=":material/delete:",
            help=help_text,
            on_click=_remove,
            args=(number,),
            disabled=len(session()["layer_rows"]) == 1,
            type="tertiary",
        )


def _typed(number: int, field: str, lang: Lang) -> None:
    width = _WIDTHS.get(field, _WIDTH)
    st.text_input(text.FIELDS[field](lang), key=_key(number, field), width=width, persist_state="session")


def _drawn() -> list[Row]:
    """The rows as their boxes say."""
    rows: list[Row] = []
    for number in range(len(session()["layer_rows"])):
        kind = st.session_state[_key(number, "kind")]
        fields = ("count", "kind", *ROW_FIELDS[kind])
        rows.append({field: str(st.session_state.get(_key(number, field), "")) for field in fields})
    return rows


def _add() -> None:
    """Callback: another row like the last."""
    rows = _drawn()
    if len(rows) == MOST_ROWS:
        session()["layers_problem"] = Message(text.TOO_MANY_ROWS, {"most": MOST_ROWS})
        return
    _put([*rows, dict(rows[-1])])


def _remove(number: int) -> None:
    """Callback."""
    rows = _drawn()
    _put(rows[:number] + rows[number + 1 :])


def _use() -> None:
    """Callback: read the rows and make them the model; what is wrong with one is said in one line."""
    kept = session()
    kept["layers_problem"] = None
    rows = [{field: _meant(field, said) for field, said in row.items() if said.strip()} for row in _drawn()]
    config = entered_config(rows, like=kept["layers_like"])
    name = catalogue.safe_name(kept["layers_name"] or text.NAME(state.lang()))
    try:
        read_config(config)
        packed = pack_config(config)
        scenario = kept["valid"].with_changes(model=name, config=packed, revision="")
    except KvvizError as error:
        kept["layers_problem"] = _problem(error)
        return
    kept["pasted"][name] = packed
    kept.pop("unknown", None)
    kept["paste_problem"], kept["model_problem"] = None, None
    kept["layers_of"] = packed
    state.put(scenario.with_changes(**dict.fromkeys(state.MEASURED_FIELDS)))


def _meant(field: str, said: str) -> str | int:
    """A number where it is one; the reader says what is wrong with anything else."""
    if field == "kind":
        return said
    try:
        return parse_tokens(said)
    except ScenarioError:
        return said


def _problem(error: KvvizError) -> Message:
    """The first thing wrong, by its row."""
    if isinstance(error, ConfigError) and error.problems:
        first = error.problems[0]
        if where := _IN_ROW.fullmatch(first.path):
            label = text.FIELDS.get(where[2], where[2])
            why = Message(text.NEEDED) if first.message.text == config_text.MISSING else first.message
            return Message(text.ROW, {"row": int(where[1]) + 1, "field": label, "why": why})
        return first.message
    return error.message
