"""The Learn page as a script, in both languages: it reads without a click, and its links open what they say."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.learn import SCENES, facts, sized
from kvviz.scenario import from_query, to_query
from kvviz.text import LANGUAGES, Lang, Text
from kvviz.text import learn as text
from tests.test_seed_facts import shown
from tests.ui.page import ROOT, open_page
from tests.ui.page import sentence as headline

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def said(app: AppTest) -> str:
    rows = [" | ".join(map(str, row)) for table in app.table for row in table.value.itertuples(index=False)]
    return "\n".join([*(m.value for m in (*app.markdown, *app.caption)), *rows]).replace("\u00a0", " ")


@BOTH
def test_the_contents_lead_to_every_section(lang: Lang) -> None:
    app = open_page("learn", lang=lang)
    anchors = [heading.anchor for heading in app.subheader]
    assert anchors == list(text.HEADINGS)
    contents = next(m.value for m in app.markdown if "](#" in m.value)
    assert re.findall(r"\]\(#(\w+)\)", contents) == anchors
    assert [heading.value for heading in app.subheader] == [title(lang) for title in text.HEADINGS.values()]


@BOTH
def test_only_answers_and_tables_are_folded(lang: Lang) -> None:
    app = open_page("learn", lang=lang)
    questions = {panel.label for panel in app.expander}
    assert len(questions) >= len(text.FAQ)
    assert len(app.expander) == len(text.FAQ) + 2
    assert not app.error
    assert not app.warning


@BOTH
def test_links_open_a_page_with_a_scenario_in_this_language(lang: Lang) -> None:
    app = open_page("learn", lang=lang, model="google/gemma-3-27b-it")
    links = [urlsplit(address) for address in re.findall(r"\]\(([^()#][^()]*)\)", said(app))]
    ours = [link for link in links if link.query]
    assert len(ours) > 30
    for link in ours:
        query = {name: values[-1] for name, values in parse_qs(link.query, keep_blank_values=True).items()}
        assert query["lang"] == lang
        assert from_query(query)[1] == ()
        page = link.path.strip("/")
        assert not page or (ROOT / "pages" / f"{page.replace('-', '_')}.py").exists()
    assert all(link.scheme == "https" for link in links if not link.query)


@pytest.mark.parametrize(
    ("begins", "shows"),
    [
        ("**Users are not", "of 50 fit at once"),
        ("**Retrieval (RAG)", "15 of 50 fit at once"),
        ("That no single GPU", "All 50 fit at once"),
        ("**From some load on", "34 of 50 fit at once"),
        ("**The trap", "34 of 50 fit at once"),
    ],
)
def test_the_scenario_shows_what_the_sentence_says(begins: str, shows: str) -> None:
    sentence = next(m.value for m in open_page("learn", lang="en").markdown if m.value.startswith(begins))
    link = urlsplit(re.findall(r"\]\(([^()]*)\)", sentence)[-1])
    asked = {name: values[-1] for name, values in parse_qs(link.query, keep_blank_values=True).items()}
    assert shows in headline(open_page("sizing", **asked))


@BOTH
@pytest.mark.parametrize("begins", [text.TRAP, text.WITHOUT_IT, text.WEIGHTS_LEVER])
def test_a_sentence_links_to_what_it_speaks_of(begins: Text, lang: Lang) -> None:
    """The trap's model, the counts further down, and weights in another type than the example's."""
    start = begins(lang, **{name: str(value) for name, value in facts().items()})[:12]
    paragraph = next(m.value for m in open_page("learn", lang=lang).markdown if start in m.value)
    line = next(line for line in paragraph.splitlines() if start in line)
    address = re.findall(r"\]\(([^()]*)\)", line)[-1]
    if begins is text.WITHOUT_IT:
        assert address == "#why"
        return
    asked = {name: values[-1] for name, values in parse_qs(urlsplit(address).query, keep_blank_values=True).items()}
    assert asked["model"].endswith(f"/{facts()['model']}")
    assert asked["weight_dtype"] == ("int4" if begins is text.WEIGHTS_LEVER else "auto")


SHOWS: dict[str, tuple[str, ...]] = {
    "worked": ("per_token_bytes", "quotient", "head_dim", "too_small", "one_gib", "fit", "crossover", "pool"),
    "reserved": ("engine_share", "pool"),
    "sixteen": ("sixteen",),
    "long": ("b300", "b300_fit"),
    "windows": ("window_long", "window_long_tokens"),
    "windows-short": ("window_short", "window_short_tokens"),
    "users": ("users_formula", "users_requests"),
    "rag": ("rag_input", "rag_fit"),
    "fp8": ("fp8_one", "fp8_fit"),
    "int4": ("int4_fit", "one_gib", "per_token_bytes"),
    "cap": ("cap_tokens", "cap_one", "cap_fit"),
    "full-card": ("tight_fit", "tight_pool"),
    "full-card-fp8": ("tight_fp8_fit", "tight_fp8_pool", "per_token_bytes"),
    "roomy": ("roomy_fit",),
    "roomy-fp8": ("roomy_fp8_fit",),
    "heads": ("share", "query_heads", "per_token", "mha", "mqa"),
    "latent": ("latent_bytes", "copied_fit"),
    "latent-dp": ("apart_fit",),
    "blocks": (),
    "prefixes": (),
    "live": ("quoted_with", "quoted_without"),
    "claim": ("llama_per_token", "llama_gib", "llama_gb", "llama_tokens"),
    "split": ("split_one", "split_gpus"),
    "generation": (),
    "chat": (),
    "serving": ("fit", "users_requests"),
    "qwen2.5": ("qwen_per_token", "qwen_one", "qwen_tokens", "qwen_heads"),
    "small-card": ("card_seen", "card_share"),
    "llama-2": ("old_rate",),
    "llama-3": ("new_rate",),
    "short": ("short_fit", "short_tokens"),
}
"""Of a statement's numbers, those that are to be read on the page that its link opens."""


@BOTH
@pytest.mark.parametrize("name", SCENES)
def test_the_number_stands_on_the_page_that_its_link_opens(name: str, lang: Lang) -> None:
    scene, known = SCENES[name], facts()
    read = " ".join(shown(scene.page or "sizing", (*to_query(scene.scenario).items(), *scene.more.items()), "", lang))
    missing = [
        value
        for fact in SHOWS[name]
        if not re.search(rf"(?<![\d.,]){re.escape(value := str(known[fact]))}(?![\d]|[.,]\d)", read)
    ]
    assert missing == []
    if sized(scene.scenario).max_sequences_counted is not None and scene.page in ("", "review"):
        assert str(sized(scene.scenario).max_sequences_counted) in read


def test_numbers_are_the_same_in_both_languages() -> None:
    def numbers(app: AppTest) -> list[str]:
        """Of the statements, in the order of their size: word order differs."""
        prose = re.sub(r"\]\([^()]*\)", "]", said(app))
        return sorted(re.findall(r"\d[\d,.]*\d (?:GiB|MiB|KiB|GB|B)\b", prose))

    app = open_page("learn", lang="en")
    english = numbers(app)
    app.segmented_control(key="lang").set_value("ja").run()
    assert not app.exception
    assert len(english) > 30
    assert numbers(app) == english


@BOTH
def test_the_steps_can_be_gone_through(lang: Lang) -> None:
    app = open_page("learn", lang=lang)
    for step, without, cached in ((8, 36, 8), (1, 1, 1), (5, 15, 5)):
        app.slider(key="learn_step").set_value(step).run()
        assert not app.exception
        expected = text.STEP_SAID(
            lang, step=step, without=without, cached=cached, recomputed=step, computed=1, looked_up=step - 1
        )
        assert expected in said(app)
