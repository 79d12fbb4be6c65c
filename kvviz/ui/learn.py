"""How the Learn page shows its statements: numbers filled in, and a link to the scenario that shows them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import streamlit as st

from kvviz.charts.learn import (
    computations_alt,
    computations_figure,
    computations_rows,
    steps_rows,
    steps_svg,
)
from kvviz.computations import steps
from kvviz.core.units import format_count
from kvviz.learn import LONG_TEXT, QUANTISED_CACHE, SCENES, SHORT_TEXT, facts, sized
from kvviz.text import Lang, Message, Text, together
from kvviz.text import learn as text
from kvviz.text.glossary import TERMS
from kvviz.ui import browser, show, state

_READING_WIDTH: Final = 780
"""Pixels: longer lines are hard to read."""


def column() -> "st.delta_generator.DeltaGenerator":
    """Where the page's text stands."""
    return st.container(width=_READING_WIDTH)


def contents(lang: Lang) -> None:
    """Links to the sections, on one line."""
    links = " · ".join(f"[{name(lang)}](#{anchor})" for anchor, name in text.SHORT_HEADINGS.items())
    st.markdown(text.CONTENTS(lang, links=links))


def heading(anchor: str, lang: Lang) -> None:
    """A section's heading, with the anchor that links use in every language."""
    st.subheader(text.HEADINGS[anchor](lang), anchor=anchor, divider="gray")


def say(sentence: Text, lang: Lang, *scenes: str) -> None:
    """A paragraph, and the links to what shows it."""
    st.markdown(filled(sentence, lang, *scenes))


def say_list(of: Iterable[tuple[Text, tuple[str, ...]]], lang: Lang) -> None:
    """Paragraphs as a list."""
    st.markdown("\n".join(f"- {filled(sentence, lang, *scenes)}" for sentence, scenes in of))


def filled(sentence: Text, lang: Lang, *scenes: str) -> str:
    """A text with its numbers, and links to what shows it: by page, or by what tells several apart."""
    said = together(sentence(lang, **_facts(lang)))
    for name in scenes:
        if name.startswith("#"):  # a section of this page
            said += f" [→ {text.SHORT_HEADINGS[name[1:]](lang)}]({name})"
            continue
        scene = SCENES[name]
        label = text.PAGES[scene.page](lang)
        if len(scenes) > 1:
            gpus = f"{scene.scenario.gpus} × {show.gpu_name(scene.scenario, lang)}"
            label = text.SCENE_LABELS[name](lang) if name in text.SCENE_LABELS else gpus
        said += f" [→ {label}]({_link(name)})"
    return said


def linked(sentence: Text, lang: Lang, scene: str) -> str:
    """A text with its numbers, which is itself the link to what shows it."""
    return f"[{filled(sentence, lang)}]({_link(scene)})"


def _facts(lang: Lang) -> Mapping[str, str]:
    return {name: value(lang) if isinstance(value, Message) else value for name, value in facts().items()}


def _link(name: str) -> str:
    scene = SCENES[name]
    return state.link_to(scene.page, scene.scenario, **scene.more)


def step_through(lang: Lang) -> None:
    """Eight tokens in both ways; it opens at the end, and the slider goes back."""
    st.markdown(f"**{text.STEP_TITLE(lang, tokens=SHORT_TEXT.tokens)}**")
    _stepped(lang)


@st.fragment
def _stepped(lang: Lang) -> None:
    made = steps(SHORT_TEXT.tokens)
    place = st.container()
    upto = st.slider(text.STEP(lang), 1, len(made), len(made), key="learn_step", width=320)
    one = made[upto - 1]
    with place:
        browser.svg(steps_svg(made, upto, lang), key="learn_steps")
        said = text.STEP_SAID(
            lang,
            step=upto,
            without=one.recomputed_so_far,
            cached=one.computed_so_far,
            recomputed=one.recomputed,
            computed=one.computed,
            looked_up=one.looked_up,
        )
        st.markdown(said)
    show.table(lambda: steps_rows(made, lang), key="learn_steps", lang=lang)


def counts(lang: Lang) -> None:
    """Computations and reads, in general and to the digit."""
    computed, read = text.TOKEN_COMPUTATIONS(lang), text.COUNTED_READS(lang)
    short, long = SHORT_TEXT, LONG_TEXT
    rows = [
        (text.IN_GENERAL(lang, what=computed), "n(n+1)/2", "n"),
        (_for(computed, short.tokens, lang), format_count(short.without), format_count(short.cached)),
        (_for(computed, long.tokens, lang), format_count(long.without), format_count(long.cached)),
        (text.IN_GENERAL(lang, what=read), "n(n+1)(2n+1)/6 ≈ n³/3", "n(n+1)/2 ≈ n²/2"),
        (_for(read, short.tokens, lang), format_count(short.reads_without), format_count(short.reads_cached)),
        (_for(read, long.tokens, lang), format_count(long.reads_without), format_count(long.reads_cached)),
    ]
    st.markdown(f"**{text.COUNTS_TITLE(lang)}**")
    table((text.COUNTED, text.WITHOUT, text.WITH), rows, lang)


def _for(what: str, tokens: int, lang: Lang) -> str:
    return text.FOR_TOKENS(lang, what=what, tokens=format_count(tokens))


def computations(lang: Lang) -> None:
    """The totals as a chart."""
    most = LONG_TEXT.tokens
    figure, alt = computations_figure(most, lang), computations_alt(most, lang)
    show.chart(figure, lambda: computations_rows(most, lang), alt=alt, key="learn_computations", lang=lang)


def formula(lang: Lang) -> None:
    """The product, and the worked example with its numbers."""
    known = _facts(lang)
    product = " × ".join(known[name] for name in ("layers", "kv_heads", "head_dim", "value_bytes"))
    example = f"= 2 × {product} = {known['per_token_bytes']} B = {known['per_token']}"
    st.code(f"{text.FORMULA(lang)}\n{text.FORMULA_TOTAL(lang)}", language=None, wrap_lines=True)
    say(text.WORKED, lang, "worked")
    st.code(example, language=None, wrap_lines=True)


def both_units(lang: Lang) -> None:
    """The worked example's sums in GB and in GiB."""
    known = _facts(lang)
    rows = [
        (linked(what, lang, scene) if scene else filled(what, lang), known[f"{name}_gb"], known[f"{name}_gib"])
        for what, name, scene in (
            (text.ONE_REQUEST, "one", "worked"),
            (text.SIXTEEN_REQUESTS, "sixteen", "sixteen"),
            (text.ALL_REQUESTS, "all", "worked"),
            (text.ALL_LONG, "all_long", "long"),
            (text.ROUND_WEIGHTS, "round_weights", ""),
        )
    ]
    table((text.WHAT_COLUMN, text.DECIMAL, text.BINARY), rows, lang)


def levers(lang: Lang) -> None:
    """What makes the cache smaller, what it does and what it costs."""
    for scene, (name, effect, price) in text.LEVERS.items():
        if scene in text.KINDS:
            st.markdown(f"**{text.KINDS[scene](lang)}**")
        with st.container(border=True, gap="xxsmall"):
            st.markdown(f"**{linked(name, lang, scene)}**")
            st.markdown(filled(effect, lang))
            st.caption(text.PRICE(lang, price=filled(price, lang)))


def snippet(lang: Lang) -> None:
    """The cache in 4 bits, as a program."""
    say(text.SNIPPET, lang)
    st.code(QUANTISED_CACHE, language="python", wrap_lines=True)


def misconceptions(lang: Lang) -> None:
    """Claim, what is true, and where to see it."""
    for claim, truth, scenes in text.MISCONCEPTIONS:
        with st.container(border=True, gap="xxsmall"):
            st.markdown(f":red[:material/close:] **{filled(claim, lang)}**")
            st.markdown(f":green[:material/check:] {filled(truth, lang, *scenes)}")
    with st.container(border=True, gap="xxsmall"):
        st.markdown(f":red[:material/close:] **{text.THREE_CACHES_CLAIM(lang)}**")
        st.markdown(f":green[:material/check:] {text.THREE_CACHES(lang)}")
        rows = [tuple(cell(lang) for cell in row) for row in text.CACHES]
        table((text.KIND, text.KEEPS, text.SAVES), rows, lang)


def uses(lang: Lang) -> None:
    """Where the cache decides, each with how many fit."""
    rows = [(linked(use, lang, scene), why(lang), _fit(scene)) for scene, (use, why) in text.USES.items()]
    table((text.USE, text.WHY_THERE, text.FITS), rows, lang)


def _fit(scene: str) -> str:
    return format_count(sized(SCENES[scene].scenario).max_sequences_counted or 0)


def questions(lang: Lang) -> None:
    """Questions with their answers folded."""
    for number, (question, answer, scenes) in enumerate(text.FAQ):
        with st.expander(filled(question, lang), key=f"learn_question_{number}"):
            say(answer, lang, *scenes)


def timeline(lang: Lang) -> None:
    """What came when."""
    rows = [(year, f"[{event(lang)}]({text.SOURCES[source][1]})") for year, event, source in text.TIMELINE]
    table((text.YEAR, text.EVENT), rows, lang)


def glossary(lang: Lang) -> None:
    """The field's terms in both languages, with how the Japanese is read."""
    rows = [
        (
            term.name("en"),
            f"{term.name('ja')}（{term.reading}）" if term.reading else term.name("ja"),
            term.meaning(lang),
        )
        for term in TERMS
    ]
    table((text.TERM, text.TERM_JAPANESE, text.MEANING), rows, lang)


def sources(lang: Lang) -> None:
    """What the page rests on."""
    say(text.SOURCES_SAID, lang)
    st.markdown("\n".join(f"- [{name}]({address})" for name, address in text.SOURCES.values()))


def table(heads: Sequence[Text], rows: Sequence[Sequence[str]], lang: Lang) -> None:
    """Rows whose cells may have links."""
    st.table([dict(zip((filled(head, lang) for head in heads), row, strict=True)) for row in rows], border="horizontal")
