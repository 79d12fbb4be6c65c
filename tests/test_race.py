"""Two memories on one clock: what is sent and said is what the allocator does."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kvviz import race as module
from kvviz.allocation.contiguous import Place
from kvviz.allocation.replay import replay
from kvviz.allocation.simulate import Contiguous, Paged, PoolError, simulate
from kvviz.allocation.workload import TEACHING, Request, load_trace
from kvviz.core.errors import KvvizError
from kvviz.race import (
    FIELDS,
    MAX_BYTES,
    MAX_STEPS,
    PRESETS,
    Settings,
    explanation,
    from_query,
    groups,
    headline,
    parse,
    payload,
    percents,
    race,
    remarks,
    rows,
    taken,
    to_query,
)
from kvviz.scenario import APP_FIELDS
from kvviz.scenario import FIELDS as SCENARIO_FIELDS
from kvviz.sweeps import PAPER, PAPER_SETTING, Study, Underway, looked_at, study
from kvviz.text import LANGUAGES, Lang
from kvviz.text import blocks as text

TEACHING_RACE = race(Settings(), TEACHING.requests)

# Worked out on squared paper: 64 slots; requests of 12, 12, 9, 17, 12 and 11 KV tokens; contiguous reserves 20 each.
SERVED = {
    "contiguous": [0, 0, 1, 2, 2, 3, 3, 3, 3, 5, 6],
    "paged": [0, 0, 1, 2, 3, 5, 5, 6, 6, 6, 6],
}
FIRST = {  # used, reserved, internal, external slots in step 0
    "contiguous": (23, 10, 27, 4),
    "paged": (48, 8, 0, 8),
}


def test_the_teaching_set_can_be_worked_out_by_hand() -> None:
    assert TEACHING_RACE.end == 10
    assert TEACHING_RACE.climax == 7
    assert not TEACHING_RACE.cut
    for lane in TEACHING_RACE.lanes:
        assert [lane.served(step) for step in range(11)] == SERVED[lane.name]
        first = lane.at(0)
        assert first is not None
        shown = first.used_tokens, first.reserved_tokens, first.internal_tokens, first.external_tokens
        assert shown == FIRST[lane.name]
    contiguous, paged = TEACHING_RACE.lanes
    assert [lane.done_step for lane in (contiguous, paged)] == [10, 7]
    assert [m.step for m in paged.moments if m.preempted] == [2]
    assert paged.at(8) is None


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_climax_is_named_in_words(lang: Lang) -> None:
    said = headline(TEACHING_RACE, lang)
    assert [word for word in ["6", "7", "3"] if word in said] == ["6", "7", "3"]
    assert "64" in explanation(TEACHING_RACE, lang)
    assert "20" in explanation(TEACHING_RACE, lang)
    assert remarks(TEACHING_RACE, lang) == []
    told = rows(TEACHING_RACE, lang)
    assert [next(iter(row.values())) for row in told] == list(range(11))
    assert all("{" not in str(cell) for row in told for cell in row.values())


@pytest.mark.parametrize("view", ["race", "hybrid"])
@pytest.mark.parametrize("name", [name for name in PRESETS if name not in ("generated", "own")])
def test_what_is_sent_is_little_and_ends_together(name: str, view: str) -> None:
    settings = replace(PRESETS[name], view=view)  # type: ignore[arg-type]
    requests = taken(settings, load_trace(name).requests)
    raced = race(settings, requests)
    sent = sum(len(json.dumps(lane.events, separators=(",", ":"))) for lane in raced.lanes)
    assert sent <= MAX_BYTES + 16
    assert raced.end < MAX_STEPS
    for lane in raced.lanes:
        assert all(group[0] <= raced.end for group in lane.events)
        assert lane.moments[-1].step <= raced.end
        assert (lane.done_step is None) <= bool(raced.cut)
    for lang in LANGUAGES:
        packed = payload(raced, start=3, lang=lang)
        assert len(packed) < 150_000
        said = json.loads(packed)
        assert said["start"] == 3
        assert [lane["events"] for lane in said["lanes"]] == [lane.events for lane in raced.lanes]


def test_300_steps_of_2048_blocks_are_less_than_150_kb() -> None:
    settings = replace(PRESETS["sharegpt"], pool=2_048 * 16, first=300)
    raced = race(settings, taken(settings, load_trace("sharegpt").requests))
    assert raced.end >= 300
    assert len(payload(raced, start=0, lang="ja")) < 150_000


def test_the_browser_is_told_nothing_else_when_nothing_else_is_asked() -> None:
    assert payload(TEACHING_RACE, start=2, lang="en") == payload(TEACHING_RACE, start=2, lang="en")
    others = [payload(TEACHING_RACE, start=s, lang=lang) for s, lang in ((2, "en"), (3, "en"), (2, "ja"))]  # type: ignore[arg-type]
    assert len({json.loads(packed)["id"] for packed in others}) == 3
    assert json.loads(payload(TEACHING_RACE, start=999, lang="en"))["start"] == 10
    for packed in others:
        assert packed[7:19].decode() == json.loads(packed)["id"]


few_requests = some.lists(
    some.builds(Request, prompt_tokens=some.integers(0, 40), output_tokens=some.integers(0, 30)),
    min_size=1,
    max_size=12,
)


@given(
    requests=few_requests,
    pool=some.integers(8, 200),
    block=some.integers(1, 8),
    reserve=some.sampled_from(["max", "pow2", "oracle"]),
    place=some.sampled_from(["firstfit", "buddy"]),
    view=some.sampled_from(["race", "hybrid"]),
)
def test_every_moment_is_a_snapshot_of_the_allocator(
    requests: list[Request], pool: int, block: int, reserve: str, place: str, view: str
) -> None:
    settings = Settings(
        pool=pool,
        block=block,
        longest=48,
        reserve=reserve,
        place=place,
        view=view,
        windows="full,6",  # type: ignore[arg-type]
    )
    raced = race(settings, requests)
    for lane in raced.lanes:
        snapshots = list(replay(simulate(requests, lane.pool), lane.pool))
        assert [m.step for m in lane.moments] == [s.step for s in snapshots]
        served = 0
        for moment, snapshot in zip(lane.moments, snapshots, strict=True):
            served += len(snapshot.finished)
            parts = moment.used_tokens, moment.reserved_tokens, moment.internal_tokens, moment.external_tokens
            assert sum(parts) == pool
            assert min(parts) >= 0
            assert (moment.served, moment.waiting) == (served, snapshot.waiting)
            assert lane.served(moment.step) == served
        assert lane.served(10**6) + lane.never + raced.nothing == len(requests)
    for lang in LANGUAGES:
        assert headline(raced, lang)
        assert explanation(raced, lang)
        rows(raced, lang)
        remarks(raced, lang)
        payload(raced, start=0, lang=lang)


def test_requests_that_can_never_run_are_said() -> None:
    requests = [Request(prompt_tokens=90, output_tokens=5), Request(prompt_tokens=3, output_tokens=0)]
    raced = race(Settings(), requests)
    assert [lane.never for lane in raced.lanes] == [1, 1]
    assert raced.nothing == 1
    assert raced.end == 0
    assert len(remarks(raced, "en")) == 3
    assert "more than the memory has" in headline(raced, "en")


def test_who_asks_for_nothing_is_not_too_large() -> None:
    raced = race(Settings(), [Request(prompt_tokens=3, output_tokens=0)])
    assert [lane.never for lane in raced.lanes] == [0, 0]
    assert headline(raced, "en").startswith("Nothing to serve")
    assert remarks(raced, "en") == ["1 request left out: without a prompt or an output there is nothing to serve."]


@pytest.mark.parametrize("view", ["race", "hybrid"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_where_all_fit_at_once_there_is_no_race(view: str, lang: Lang) -> None:
    settings = Settings(pool=142_160, block=16, longest=4_096, view=view)  # type: ignore[arg-type]
    raced = race(settings, TEACHING.requests)
    assert headline(raced, lang) == text.AT_ONCE(lang, requests="6")
    assert text.AT_ONCE_TRY(lang) in explanation(raced, lang)
    assert not TEACHING_RACE.at_once
    # Where one side cannot serve somebody at all, that is what there is to see.
    assert not race(Settings(pool=142_160, block=16, longest=11), TEACHING.requests).at_once


@given(some.lists(some.integers(0, 10**9), min_size=1, max_size=6).filter(any))
def test_percents_add_up(parts: list[int]) -> None:
    found = percents(parts)
    assert sum(found) == 100
    for part, percent in zip(parts, found, strict=True):
        assert abs(percent - 100 * part / sum(parts)) < 1


def test_known_percents() -> None:
    assert percents([48, 8, 0, 8]) == (75, 13, 0, 12)  # two halves: the first of equals is rounded up
    assert percents([1, 1, 1, 0]) == (34, 33, 33, 0)
    assert percents([0, 0, 0, 64]) == (0, 0, 0, 100)


def test_a_request_is_served_in_the_step_in_which_it_is_last_in_memory() -> None:
    for lane in TEACHING_RACE.lanes:
        before = 0
        for moment, snapshot in zip(
            lane.moments, replay(simulate(TEACHING.requests, lane.pool), lane.pool), strict=True
        ):
            row = snapshot.row(lane.pool)
            assert (row["running"], row["finished"]) == (len(moment.running), list(moment.finished))
            assert set(moment.finished) <= set(moment.running)
            assert moment.served == before + len(moment.finished)
            before = moment.served
            later = lane.at(moment.step + 1)
            assert later is None or not set(moment.finished) & set(later.running)
    told = rows(TEACHING_RACE, "en")[7]["Paged"]
    assert told.startswith("6 served; running: request 4; waiting: none. Finishing in this step: request 4.")


def test_a_preempted_request_keeps_what_it_generated() -> None:
    said = explanation(TEACHING_RACE, "en")
    assert "keeps the tokens it has generated" in said
    assert "starts over" not in said


def test_a_long_table_says_which_steps_it_leaves_out() -> None:
    settings = PRESETS["sharegpt"]
    raced = race(settings, taken(settings, load_trace("sharegpt").requests))
    told = rows(raced, "en")
    assert len(told) <= module.MOST_ROWS + 1
    following = 0
    for row in told[:-1]:  # each step is in a row, alone or as one in which only tokens come
        first, _, rest = str(row["Step"]).replace(",", "").partition(" (until ")
        assert int(first) == following
        following = (int(rest.split()[0]) if rest else int(first)) + 1
    assert f"Steps {following:,} to {raced.end:,} are left out here" in told[-1]["Paged"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_clock_that_ends_early_says_why(lang: Lang) -> None:
    settings = PRESETS["sharegpt"]
    raced = race(settings, taken(settings, load_trace("sharegpt").requests))
    assert raced.cut == "bytes"
    assert f"{MAX_BYTES // 1000} kB" in remarks(raced, lang)[-1]
    long = race(Settings(pool=10_000, block=128, longest=9_000), [Request(prompt_tokens=1, output_tokens=8_000)] * 2)
    assert long.cut == "steps"
    assert f"{MAX_STEPS:,}" in remarks(long, lang)[-1]


def test_one_is_not_many() -> None:
    raced = race(Settings(pool=1, block=1, longest=2), [Request(prompt_tokens=1, output_tokens=1)] * 2)
    said = " ".join([headline(raced, "en"), explanation(raced, "en"), *map(str, rows(raced, "en"))])
    assert not re.search(r"\b1 (requests|slots|steps|blocks|tokens)\b", said), said
    hybrid = Settings(view="hybrid", pool=1, block=1, windows="full,1")
    said = headline(race(hybrid, [Request(prompt_tokens=1, output_tokens=1)]), "en")
    assert not re.search(r"\b1 (requests|slots|steps|blocks|tokens)\b", said), said


@given(
    settings=some.builds(
        Settings,
        view=some.sampled_from(["race", "hybrid"]),
        trace=some.sampled_from(list(PRESETS)),
        first=some.integers(1, 1000),
        pool=some.integers(128, 30_000),
        block=some.integers(1, 128),
        longest=some.integers(2, 4096),
        seed=some.integers(0, 999_999_999),
        windows=some.sampled_from(["full", "full,128", "1,2,3"]),
    ),
    step=some.integers(0, 5000),
)
def test_a_link_means_the_same(settings: Settings, step: int) -> None:
    assert from_query(to_query(settings, step)) == (settings, step, ())


@given(query=some.dictionaries(some.sampled_from([*FIELDS, "step", "else"]), some.text(max_size=12)))
def test_a_link_is_never_an_error(query: Mapping[str, str]) -> None:
    settings, step, rejected = from_query(query)
    assert step >= 0
    assert all(message("ja") for message in rejected)
    assert settings == replace(settings, **asdict(settings))


def test_the_links_own_words_are_no_settings_of_the_sizing() -> None:
    assert {*FIELDS, "step"} <= APP_FIELDS
    assert not {*FIELDS, "step"} & set(SCENARIO_FIELDS)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"block": 65}, "larger than the pool"),
    ({"block": 0}, "Block"),
    ({"pool": 0}, "Pool"),
    ({"pool": 4_000_000, "block": 1}, "too many to draw"),
    ({"first": 0}, "Number of requests"),
    ({"longest": 1}, "Longest request"),
    ({"trace": "nobody"}, "Requests from"),
    ({"reserve": "all"}, "reserves"),
    ({"view": "hybrid", "windows": "full,wide"}, "Groups of layers"),
    ({"windows": "full," * 8 + "1"}, "Groups of layers"),
    ({"windows": "0"}, "Groups of layers"),
]


@pytest.mark.parametrize(("wrong", "said"), BAD)
def test_bad_settings_get_one_clear_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(PoolError) as caught:
        Settings(**wrong)
    assert said in caught.value.message("en")
    assert "\n" not in caught.value.message("ja")


@pytest.mark.parametrize("written", ["", "many", "-3", "1.5", "12abc", "９" * 40])
def test_bad_numbers_get_one_clear_line(written: str) -> None:
    with pytest.raises(KvvizError, match="whole number"):
        parse("pool", written)
    assert parse("pool", " 16k ") == 16_384
    assert parse("pool", "15,728") == 15_728


def test_no_requests_is_an_error_not_a_race() -> None:
    with pytest.raises(KvvizError, match="no requests"):
        taken(Settings(), [])


def test_groups() -> None:
    assert groups("full, 4,1k") == (None, 4, 1024)
    left, right = Settings(view="hybrid").pools()
    assert left == Paged(pool_tokens=64, block_tokens=4, windows=(None, None))
    assert right == Paged(pool_tokens=64, block_tokens=4, windows=(None, 4))
    whole, _ = Settings().pools()
    assert whole == Contiguous(pool_tokens=64, max_tokens=20, reserve="max", place="firstfit")


# --- the whole trace ------------------------------------------------------------------------------------------------


def studied(
    requests: Sequence[Request], pool: int = 64, block: int = 4, longest: int = 20, place: Place = "buddy"
) -> tuple[list[float], Study]:
    *news, last = study(requests, pool_tokens=pool, block_tokens=block, max_tokens=longest, reserve="max", place=place)
    assert isinstance(last, Study)
    return [one for one in news if isinstance(one, float)], last


def test_the_papers_figure_is_reproduced_but_for_pow2() -> None:
    requests = load_trace("sharegpt").requests
    assert len(looked_at(requests)) == len(requests) == 6_000
    found = studied(requests[:2_500], *PAPER_SETTING[1:])[1]
    for system in found.systems:
        assert system.token == pytest.approx(PAPER[system.name], abs=0.02)
    pow2 = next(system for system in found.systems if system.name == "pow2")
    assert pow2.external == pytest.approx(0.466, abs=0.01)
    entries = [point.table_entries for point in found.blocks]
    assert entries == sorted(entries, reverse=True)
    used = [point.token for point in found.blocks]
    assert used == sorted(used, reverse=True, key=float)  # type: ignore[arg-type]


def test_a_study_says_how_far_it_is_and_what_is_not_known() -> None:
    news, found = studied(TEACHING.requests)
    assert news == sorted(news)
    assert 0 <= news[0] < news[-1] < 1
    assert [point.block_tokens for point in found.blocks] == [1, 2, 4, 8, 16, 32, 64]
    assert found.blocks[0].token is None  # nobody ever waited
    assert found.blocks[2].token == pytest.approx(50 / 64)
    assert found.blocks[2].table_entries == pytest.approx((3 + 3 + 3 + 5 + 3 + 3) / 6)
    paged = found.systems[-1]
    assert paged.steps == 8
    assert sum(count for _, count in paged.running) == 6 + 6 + 5 + 5 + 4 + 3 + 1 + 1


def test_a_study_goes_on_whoever_asks() -> None:
    slow = study(TEACHING.requests, pool_tokens=64, block_tokens=4, max_tokens=20, reserve="max", place="firstfit")
    under_way = Underway("key", slow)

    def ask() -> None:
        while under_way.go_on():
            pass

    threads = [Thread(target=ask) for _ in range(4)]  # the run of a page that is being stopped, and the next ones
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert under_way.found == studied(TEACHING.requests, place="firstfit")[1]
    assert not under_way.go_on()


def test_a_study_places_as_the_race_does() -> None:
    ways: tuple[Place, ...] = ("firstfit", "buddy")
    for place in ways:
        raced = race(Settings(place=place), TEACHING.requests)
        waiting = [len(moment.running) for moment in raced.lanes[0].moments if moment.waiting]
        found = studied(TEACHING.requests, place=place)[1]
        assert found.systems[0].mean_running == pytest.approx(sum(waiting) / len(waiting))
        assert found.place == place
    assert PRESETS["sharegpt"].place == PAPER_SETTING[-1]


def test_a_long_trace_is_looked_at_from_its_beginning() -> None:
    requests = [Request(prompt_tokens=900_000, output_tokens=1)] * 5
    assert len(looked_at(requests)) == 3
    assert len(looked_at([Request(prompt_tokens=9_000_000, output_tokens=1)] * 5)) == 1


def test_the_bundled_traces_are_all_offered() -> None:
    assert set(module.TRACES) == set(PRESETS)
    assert all(PRESETS[name].trace == name for name in PRESETS)
