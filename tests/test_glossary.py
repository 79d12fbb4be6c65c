"""A term is translated the same way everywhere: every text of the package is held to the one table of terms."""

import re

import pytest

from kvviz.text import LANGUAGES, Lang, blocks, compare, heads, learn, live_page, prefixes, sizing, workshop
from kvviz.text.glossary import TERMS, Term
from tests.test_project import texts

NOT_SAID = re.compile(r"“[^”]*”|\"[^\"]*\"|`[^`]*`|--[\w-]+|{[^{}]*}")
"""Quotations of logs, names in code and placeholders: no words of ours."""

EXCEPTIONS: dict[str, dict[str, str]] = {
    "Japanese leaves it out": {
        # where it is what the sentence or its heading is about anyway
        "vLLM {version} will log a cache of {size} tokens": "Block",
        "Line {line} is too long to be a request": "Request",
        "No request ever had to wait": "Request",
        "free, or lost between requests": "Request",
        "Upload a file of requests under Settings": "Request",
        "Where the memory goes, while requests wait": "Request",
        "Memory used while requests wait": "Request",
        "The engine counts windows with {in_flight}": "Request",
        "The engine counts chunks with {in_flight}": "Request",
        "“GPU KV cache size” is one cache group's share": "Block",
        "Longest request": "Request",
        "paged: groups of layers with blocks of their own": "Attention",
        "One entry a group of layers with blocks of its own": "Layer",
        "Started from what a plain decoder's fields": "Layer",
        "A full layer every": "Layer",
        "Of vLLM: draft models of another kind": "Layer",
        "Of SGLang: draft models of another kind": "Layer",
        "{model} needs {needed} of memory and {free} is free": "Token",
        "Max model length (tokens)": "Token",
        "What the engine adds (blocks, windows in flight)": "Sliding window",
        "Tensor parallel over {tp} GPUs is more than": "Tensor parallelism",
    },
    "the word means something else here": {
        'The JSON has no list of requests; write it as {{"requests"': "Request",  # the field's name
        "The Hub sends this request on": "Request",  # of HTTP
        "sends the request on to another server": "Request",  # likewise
        "Stopped on request": "Request",  # somebody's wish
        "sequences: {sequences} is not used": "Sequence",  # the setting's name
        "Assumed from the one public start that states": "State",  # a verb
        "{parameters} parameters as the publisher states": "State",
        "What kvviz prefix calls --capacity-blocks": "Prefix caching",  # a command
        "GPU KV cache size: {tokens} tokens, Maximum concurrency": "KV cache",  # the same
    },
}
"""By reason: how the English begins, and the term that its Japanese does not have."""
ALSO = {("GPU KV cache size: {tokens} tokens, Maximum concurrency", name) for name in ("Token", "Request")}
EXCEPTED = {(start, name) for of_reason in EXCEPTIONS.values() for start, name in of_reason.items()} | ALSO

TEXTS = [(where, en, ja) for where, en, ja in texts() if not where.startswith("kvviz/text/glossary.py")]


def says(term: Term, english: str) -> bool:
    """Whether a text speaks of the term."""
    words = NOT_SAID.sub(" ", english)
    return re.search(rf"(?<![\w-])(?:{term.said})(?![\w-])", words, re.IGNORECASE) is not None


def excepted(term: Term, english: str) -> bool:
    return any(english.startswith(start) and term.name.en == name for start, name in EXCEPTED)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name.en)
def test_a_term_is_translated_the_same_way_everywhere(term: Term) -> None:
    spoken = [(where, en, ja) for where, en, ja in TEXTS if says(term, en)]
    assert spoken, "a term that no text uses"
    other = [(where, en, ja) for where, en, ja in spoken if not any(word in ja for word in term.japanese)]
    assert [row for row in other if not excepted(term, row[1])] == []


def test_every_exception_is_one() -> None:
    unused = {
        (start, name)
        for start, name in EXCEPTED
        if not any(
            en.startswith(start) and term.name.en == name and says(term, en) and not any(w in ja for w in term.japanese)
            for _, en, ja in TEXTS
            for term in TERMS
        )
    }
    assert unused == set()


@pytest.mark.parametrize(
    ("english", "instead"),
    [
        ("sequence", "シーケンス"),
        ("activations", "活性化"),
        ("attention", "注意機構"),
        ("head size", "ヘッドサイズ"),
        ("context length", "文脈長"),
        ("GPU memory", "VRAM"),
        ("layer", "レイヤ(?!ー)"),
        ("server", "サーバ(?!ー)"),
        ("user", "ユーザ(?!ー)"),
        ("memory", "メモリー|ビデオメモリ"),
        ("parameter", "パラメータ(?!ー)"),
        ("browser", "ブラウザ(?!ー)"),
        ("folder", "フォルダ(?!ー)"),
        ("encoder", "エンコーダ(?!ー)"),
        ("adapter", "アダプタ(?!ー)"),
        ("hardware", "ハードウエア"),
        ("tokenizer", "トークナイザ(?!ー)"),
        ("weights", "ウェイト"),
        ("eviction", "エビクション"),
        ("block", "ページブロック"),
        ("quantised", "クォンタイズ"),
        ("formula", "公式(?!コード)"),
        ("training", "訓練"),
        ("keys and values", "バリュー|キーと値|K と値"),
        ("bundled", "収録"),
        ("bundled configs", "個の config"),
        ("shared heads", "(?<!KV )ヘッドの共有"),
        ("memory fraction", "使用割合|メモリ使用割合|枠（割合"),
        ("what-if", "What-if"),
        ("bytes per value", "値のバイト数|値 1 つの|数 1 個の?バイト|数 1 個 "),
    ],
)
def test_no_second_word_for_it(english: str, instead: str) -> None:
    assert [where for where, _, ja in TEXTS if re.search(instead, ja)] == []


@pytest.mark.parametrize("instead", ["head dimension", "bytes? (?:per|a|of a) number", "bytes of a value"])
def test_no_second_english_word_for_it(instead: str) -> None:
    assert [where for where, en, _ in TEXTS if re.search(instead, en, re.IGNORECASE)] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_has_one_name(lang: Lang) -> None:
    """What links call a page is what the page is called; what stands in brackets there is more than the name."""
    pages = {"": sizing, "blocks": blocks, "prefixes": prefixes, "live": live_page, "heads": heads, "compare": compare}
    for page, of in pages.items():
        assert learn.PAGES[page](lang) == re.sub(r" ?[(（].*", "", of.PAGE(lang))
    assert heads.TAB_HEADS(lang) == learn.PAGES["heads"](lang)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name.en)
def test_a_reading_is_in_kana_and_stands_where_one_is_needed(term: Term) -> None:
    assert re.fullmatch(r"[\u3040-\u30ff（）]*", term.reading)
    needed = re.search(r"[\u3400-\u9fffA-Z]", term.name.ja) is not None
    assert bool(term.reading) == needed
    assert says(term, term.name.en) or term.name.en == "State"
    assert any(word in term.name.ja for word in term.japanese)


def test_the_term_of_the_field_and_how_it_is_read() -> None:
    readings = {term.name.ja: term.reading for term in TERMS}
    assert readings["KV キャッシュ"] == "ケーブイキャッシュ"
    assert readings["量子化"] == "りょうしか"


KV_HEADS_DECIDED = {
    "glossary": next(term.meaning for term in TERMS if term.name.en == "Training"),
    "levers": learn.LEVERS["heads"][2],
    "what-if": heads.WHAT_IF_NOTE,
    "workshop": workshop.SO["heads"],
}


@pytest.mark.parametrize("where", KV_HEADS_DECIDED)
def test_when_the_number_of_kv_heads_is_decided_is_said_the_same_way(where: str) -> None:
    """By the architecture, before training; further training can change it, as the GQA paper does, no engine can."""
    said = KV_HEADS_DECIDED[where]
    for phrase in ("architecture", "fixed before", "further training"):
        assert phrase in said.en
    for phrase in ("アーキテクチャ", "前に", "追加学習"):
        assert phrase in said.ja


def test_fragmentation_is_of_both_kinds() -> None:
    (meaning,) = (term.meaning for term in TERMS if term.name.en == "Fragmentation")
    assert "internal" in meaning.en
    assert "external" in meaning.en
    assert "内部" in meaning.ja
    assert "外部" in meaning.ja
