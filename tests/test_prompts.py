"""Prompts block by block: what is found is what vLLM's rules say, in whole blocks, from the first token on."""

import json
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import cli
from kvviz.allocation.workload import MOONCAKE_ID_TOKENS
from kvviz.core.errors import ScenarioError
from kvviz.hit_ratios import CAPACITIES, PUBLISHED, TRACES, blocks_of, curve, furthest_apart, ratios
from kvviz.links import PROMPTS_CHARACTERS, pack_prompts, unpack_prompts
from kvviz.prompts import CachedPrompts, cached, pieces, with_letter_changed, with_lines
from kvviz.text import LANGUAGES, Lang
from kvviz.text import prefixes as text

DATA = Path(__file__).parent / "data" / "alloc"


def states(found: CachedPrompts) -> list[str]:
    """The first letter of each block's state, a word a prompt."""
    return ["".join(block.state[0] for block in prompt.blocks) for prompt in found.prompts]


@pytest.mark.parametrize(
    ("prompt", "cut"),
    [
        ("Hello, big  world!\n", ["Hello", ",", " big", " ", " world", "!", "\n"]),
        ("On 2026-11-30", ["On", " 2026", "-", "11", "-", "30"]),
        ("don't stop_it", ["don", "'", "t", " stop_it"]),
        ("KV キャッシュです。", ["KV", " キ", "ャ", "ッ", "シ", "ュ", "で", "す", "。"]),
        ("日付 12 月", ["日", "付", " 12", " 月"]),
        ("Größe naïve", ["Größe", " naïve"]),
        ("", []),
    ],
)
def test_what_stands_in_for_tokens(prompt: str, cut: list[str]) -> None:
    assert list(pieces(prompt)) == cut


@given(st.text(max_size=60))
def test_nothing_is_lost_in_cutting(prompt: str) -> None:
    assert "".join(pieces(prompt)) == prompt


def letters(*prompts: str) -> list[str]:
    """Prompts whose tokens are single letters."""
    return [" ".join(prompt) for prompt in prompts]


@pytest.mark.parametrize(
    ("prompts", "block", "expected", "hit_tokens"),
    [
        # vLLM's lesson: 10 tokens in common are two blocks of 4; a full prompt again finds three of its four.
        (("abcdefghijklmno", "abcdefghijXYZW"), 4, ["mmmp", "hhmp"], 8),
        (("abcdefghijklmno", "abcdefghijklmno"), 4, ["mmmp", "hhhp"], 12),
        # The last token is always computed, so its block is too.
        (("abcdefgh", "abcdefgh"), 4, ["mm", "ha"], 4),
        (("abcd", "abcd"), 4, ["m", "a"], 0),
        # One letter at the beginning, in the middle, at the end.
        (("abcdefgh", "Xbcdefgh"), 4, ["mm", "mm"], 0),
        (("abcdefghi", "abcdXfghi"), 4, ["mmp", "hmp"], 4),
        (("abcdefghi", "abcdefghX"), 4, ["mmp", "hhp"], 8),
        # The same words after another beginning.
        (("abcdefgh", "efghabcd"), 4, ["mm", "mm"], 0),
        # A beginning shorter than a block.
        (("abcX", "abcY"), 4, ["m", "m"], 0),
        (("abc", "abc"), 4, ["p", "p"], 0),
        # The third finds what the second left.
        (("abcd", "efghi", "efghij"), 4, ["m", "mp", "hp"], 4),
        (("", "abcd", ""), 4, ["", "m", ""], 0),
        (("ab", "ab"), 1, ["mm", "ha"], 1),
    ],
)
def test_known_hits(prompts: tuple[str, ...], block: int, expected: list[str], hit_tokens: int) -> None:
    found = cached(letters(*prompts), block)
    assert states(found) == expected
    assert found.hit_tokens == hit_tokens == block * found.hit_blocks


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=24).map("".join), min_size=1, max_size=4),
    st.integers(1, 9),
)
def test_hits_are_whole_blocks_of_the_longest_common_beginning(prompts: list[str], block: int) -> None:
    found = cached(letters(*prompts), block)
    for place, (written, prompt) in enumerate(zip(prompts, found.prompts, strict=True)):
        common = max((_common(written, earlier) for earlier in prompts[:place]), default=0)
        assert prompt.common_tokens == common
        assert prompt.hit_blocks == (min(common, len(written) - 1) // block if written else 0)
        assert prompt.tokens == len(written) == sum(len(one.tokens) for one in prompt.blocks)
        assert "".join(one.text for one in prompt.blocks) == " ".join(written)
        known = [one for earlier in found.prompts[:place] for one in earlier.blocks if one.hash]
        by_hash = {one.hash: one.number for one in reversed(known)}  # the block that came first is the one found
        for row, one in enumerate(prompt.blocks):
            assert (one.state == "hit") == (row < prompt.hit_blocks)
            assert (one.state == "partial") == (len(one.tokens) < block) == (not one.hash)
            if one.state == "hit":
                assert by_hash[one.hash] == one.number
            if one.state == "again":
                assert one.hash in by_hash
            if one.state == "miss":
                assert one.hash not in by_hash
    numbers = {block.number for prompt in found.prompts for block in prompt.blocks}
    assert len(numbers) == found.blocks - found.hit_blocks  # what is held while all run
    for prompt in found.prompts:  # the first tokens are those with the fewest pairs
        assert prompt.hit_pairs * prompt.tokens <= prompt.pairs * prompt.hit_tokens


def _common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False)))


def test_a_hash_covers_what_comes_before() -> None:
    first, second = cached(letters("abcdWXYZ", "efghWXYZ"), 4).prompts
    assert first.blocks[1].tokens[1:] == second.blocks[1].tokens[1:]
    assert first.blocks[1].hash != second.blocks[1].hash
    again = cached(letters("abcdWXYZ"), 4).prompts[0]
    assert [block.hash for block in again.blocks] == [block.hash for block in first.blocks]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_the_buttons_are_for(lang: Lang) -> None:
    base = [f"{text.SYSTEM(lang)}\n{question(lang)}" for question in text.QUESTIONS]
    lines = [text.DATE_LINE(lang, date=f"2026-11-{day}") for day in (28, 29, 30)]
    usual = cached(base, 8)
    assert 0.3 < usual.hit_tokens / usual.tokens < 0.6
    first, last = (cached(with_lines(base, lines, first=where), 8) for where in (True, False))
    assert first.hit_tokens == 0
    assert last.hit_tokens >= usual.hit_tokens
    letter = cached(with_letter_changed(base), 8)
    assert letter.prompts[2].hit_tokens == usual.prompts[2].hit_tokens
    assert 0 < letter.prompts[1].hit_tokens < usual.prompts[1].hit_tokens


def test_the_examples_have_the_same_numbers_in_both_languages() -> None:
    alone = (text.SYSTEM, *text.QUESTIONS, text.RAG_SYSTEM, *text.DOCUMENTS)
    for said in alone:
        assert len(pieces(said("en"))) == len(pieces(said("ja"))), said.en
    date = "2026-11-28"
    english, japanese = (pieces(text.DATE_LINE(lang, date=date)) for lang in LANGUAGES)
    assert len(english) == len(japanese)
    assert english.index(" 2026") == japanese.index(" 2026")
    found = []
    for lang in LANGUAGES:
        base = [f"{text.SYSTEM(lang)}\n{question(lang)}" for question in text.QUESTIONS]
        changed = pieces(with_letter_changed(base)[1])
        found.append([place for place, piece in enumerate(pieces(base[1])) if piece != changed[place]])
    assert found[0] == found[1]


@given(st.lists(st.text(max_size=20), min_size=3, max_size=3))
def test_one_letter_is_one_letter(prompts: list[str]) -> None:
    changed = with_letter_changed(prompts)
    assert (changed[0], changed[2]) == (prompts[0], prompts[2])
    assert len(changed[1]) == len(prompts[1])
    different = sum(one != other for one, other in zip(changed[1], prompts[1], strict=True))
    assert different == any("a" <= c <= "z" or "ぁ" <= c <= "ゖ" or "ァ" <= c <= "ヺ" for c in prompts[1])


# --- links -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), max_size=6))
def test_prompts_travel_in_links(prompts: list[str]) -> None:
    assert unpack_prompts(pack_prompts(prompts)) == tuple(prompts)


@pytest.mark.parametrize(
    "written", ["", "x", "eJw", "%%%", "A" * (PROMPTS_CHARACTERS + 1), pack_prompts(["a"])[:-2], "eNoDAAAAAAE"]
)
def test_other_links_are_refused(written: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        unpack_prompts(written)
    assert caught.value.field == "prompts"


def test_half_a_character_is_refused() -> None:
    with pytest.raises(ScenarioError):
        unpack_prompts(pack_prompts(["\ud800"]))


def test_too_much_for_a_link_is_said() -> None:
    noise = "".join(chr(0x4E00 + (n * 7919) % 20_000) for n in range(12_000))
    with pytest.raises(ScenarioError) as caught:
        pack_prompts([noise])
    assert "12,000" in str(caught.value)


# --- hit ratios ------------------------------------------------------------------------------------------------------


def test_the_curve_is_what_was_recorded() -> None:
    recorded = json.loads((DATA / "truth_prefix.json").read_text(encoding="utf-8"))
    compared = 0
    for tokens, found in curve("mooncake-conversation"):
        key = f"{blocks_of(tokens)}|fwd|prompt_only"
        if key in recorded:
            assert round(found.full, 5) == recorded[key]["full"]
            assert found.evictions == recorded[key]["evictions"]
            compared += 1
    assert compared >= 4


def test_the_command_line_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for trace in TRACES:
        assert cli.main(["prefix", "--trace", trace, "--capacity-blocks", "3000", "--json"]) == 0
        said, found = json.loads(capsys.readouterr().out), ratios(trace, 3000)
        for name in ("block", "full", "token", "vllm", "request"):
            assert said[name] == round(getattr(found, name), 5)
        assert said["evictions"] == found.evictions


@pytest.mark.parametrize("trace", TRACES)
def test_more_room_finds_more_and_stays_near_what_was_published(trace: str) -> None:
    points = list(curve(trace))
    assert [tokens for tokens, _ in points] == sorted(CAPACITIES)
    found = [one.full for _, one in points]
    assert found == sorted(found)
    said = list(PUBLISHED[trace].values())
    assert said == sorted(said)
    low, high = furthest_apart(trace)
    assert -0.034 < low <= high < 0.002
    assert blocks_of(1) == 1
    assert blocks_of(10 * MOONCAKE_ID_TOKENS + 1) == 10
