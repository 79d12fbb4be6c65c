"""The Measured live page as a script, in both languages: the recording first, a run, what cannot be run."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.core.units import format_bytes, format_count
from kvviz.live import ENABLE, Failure, LiveRequest, Memory, Progress, bundled, gain, runs
from kvviz.text import LANGUAGES, Lang
from kvviz.text import live as said
from kvviz.text import live_page as text
from kvviz.ui import live as page
from kvviz.ui import operator, show
from tests.live import tiny
from tests.ui.page import kept, open_page
from tests.ui.test_hub_on_page import address

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


@pytest.fixture(autouse=True)
def _operator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever runs the app lets a tiny model be run."""
    monkeypatch.setenv("KVVIZ_LIVE_MODEL", tiny.write("GQA", tmp_path / "tiny"))
    monkeypatch.setenv("KVVIZ_LIVE_DEVICE", "cpu")
    monkeypatch.setenv("KVVIZ_LIVE_IDLE_S", "5")
    monkeypatch.setenv("KVVIZ_LIVE_THREADS", "1")


def headline(app: AppTest) -> str:
    return next(m.value for m in app.markdown if m.value.startswith("### "))


def figures(app: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in app.metric}


def started(app: AppTest, *, tokens: str = "6") -> AppTest:
    app.text_input("live_new_tokens").set_value(tokens).run()
    return app.button("live_start").click().run()


def until(app: AppTest, met: Callable[[], bool], patience_s: float = 120) -> AppTest:
    """Look again and again, as the page itself does."""
    give_up_at = time.monotonic() + patience_s
    while not met():
        assert time.monotonic() < give_up_at, [m.value for m in app.markdown]
        time.sleep(0.3)
        app.run()
        assert not app.exception
    return app


def over(app: AppTest) -> AppTest:
    return until(app, lambda: "live_run" not in kept(app))


@BOTH
def test_opens_with_the_recorded_run(lang: Lang) -> None:
    app = open_page("live", lang=lang)
    run = bundled()
    assert text.EQUAL(lang, steps="300") in headline(app)
    told = " ".join(c.value for c in app.caption).replace("\\", "")
    for known in (run.recorded, run.started.device, run.started.versions["torch"], run.started.model):
        assert known in told
    shown = figures(app)
    size = format_bytes(run.samples[-1].measured_bytes)
    assert (shown[text.PREDICTED(lang)], shown[text.MEASURED(lang)]) == (size, size)
    assert shown[text.RESIDUAL(lang)] == "0 B"
    assert "librarian" in " ".join(m.value for m in app.markdown)
    found = gain(bundled(), bundled(cache="none"))
    assert found is not None
    times = app.table[-1].value
    assert f"{found.times_faster:,.1f}" in times.to_string()
    assert "11.9" in times.to_string()
    assert "56.2" in times.to_string()
    assert not app.error
    assert not app.warning
    boxes = (*app.selectbox, *app.text_input, *app.text_area)
    assert len([b for b in boxes if str(b.key).startswith("live_")]) <= 7


@BOTH
def test_a_run_and_the_same_without_a_cache(lang: Lang) -> None:
    app = over(started(open_page("live", lang=lang)))
    assert text.EQUAL(lang, steps="6") in headline(app)
    assert said.RANDOM_NO_WEIGHTS(lang, model="tiny") in [w.value.replace("\\", "") for w in app.warning]
    assert figures(app)[text.RESIDUAL(lang)] == "0 B"
    assert not app.error
    assert app.selectbox("live_shown").value != 0
    app.selectbox("live_cache").select("none").run()
    over(app.button("live_start").click().run())
    assert text.NO_CACHE(lang) in headline(app)
    assert text.MEASURED_HERE(lang) in app.table[-1].value.to_string()
    assert len(kept(app)["live_kept"]) == 2
    app.selectbox("live_shown").select(0).run()
    assert text.EQUAL(lang, steps="300") in headline(app)


def test_stop_keeps_what_was_measured() -> None:
    lang: Lang = "ja"
    app = started(open_page("live", lang=lang), tokens="2,000")
    until(app, lambda: any(m.value not in ("0 B", text.UNKNOWN(lang)) for m in app.metric) and not _recorded(app))
    app.button("live_stop").click().run()
    over(app)
    (ended,) = kept(app)["live_kept"].values()
    assert ended.ended.stopped == "cancelled"
    assert 0 < len(ended.samples) < 2_000
    steps = format_count(len(ended.samples))
    assert text.EQUAL_PART(lang, steps=steps, all="2,000") in headline(app)  # not as if it were all
    assert any(text.ENDED_EARLY["cancelled"](lang, done=steps, all="2,000") in m.value for m in app.markdown)
    assert text.OF_ASKED(lang, done=steps, all="2,000") in app.table[0].value.to_string()
    assert app.button("live_start")


def _recorded(app: AppTest) -> bool:
    return any(bundled().recorded in c.value.replace("\\", "") and "PyTorch" in c.value for c in app.caption)


@pytest.mark.parametrize("state", ["waiting", "loading"])
def test_a_run_that_has_no_figures_yet_shows_none_of_another(state: runs.State) -> None:
    class Beginning:
        request = LiveRequest()

        def poll(self) -> Progress:
            return Progress(state=state, position=1, started=None, samples=(), ended=None, failure=None, memory=None)

        def wants_to_stop(self) -> bool:
            return False

        def cancel(self) -> None:
            """Nothing to stop."""

    app = open_page("live", lang="en")
    kept(app)["live_run"] = Beginning()
    app.run()
    assert not app.exception
    assert not [m.value for m in app.markdown if m.value.startswith("### ")]
    assert not app.metric
    assert text.NO_FIGURES_YET("en") in [c.value for c in app.caption]


@BOTH
def test_the_hint_names_the_run_that_is_missing(lang: Lang) -> None:
    app = open_page("live", lang=lang)
    with_cache, without = bundled(), bundled(cache="none")
    others = replace(with_cache, started=replace(with_cache.started, batch=4))
    for runs_kept, hint in (
        ({1: with_cache}, text.FOR_A_PAIR),
        ({1: without}, text.FOR_THE_OTHER),
        ({1: others, 2: without}, text.FOR_THE_OTHER),
        ({1: with_cache, 2: without}, None),
    ):
        kept(app)["live_kept"] = runs_kept
        app.run()
        told = {c.value for c in app.caption} & {text.FOR_A_PAIR(lang), text.FOR_THE_OTHER(lang)}
        assert told == ({hint(lang)} if hint else set())


@BOTH
def test_a_run_that_is_over_and_gave_no_text_says_so(lang: Lang) -> None:
    app, run = open_page("live", lang=lang), bundled()
    silent = replace(run, samples=tuple(replace(s, text="") for s in run.samples))
    kept(app)["live_kept"] = {1: silent}
    app.session_state["live_shown"] = 1
    app.run()
    shown = [m.value for m in app.markdown]
    assert text.NO_TEXT(lang) in shown
    assert text.SAYS_NOTHING(lang) not in shown


@BOTH
def test_start_waits_for_settings_that_can_be_used(lang: Lang) -> None:
    app = open_page("live", lang=lang)
    assert not app.button("live_start").disabled
    for typed, told in (("many", "many"), ("", said.EMPTY(lang, field="x", low="1", high="2,047").partition("x")[2])):
        app.text_input("live_new_tokens").set_value(typed).run()
        assert app.button("live_start").disabled
        assert told.strip(" :") in app.error[0].value.replace("\\", "")
    app.text_input("live_new_tokens").set_value("5").run()
    app.text_input("live_prompt_tokens").set_value("").run()  # as it is
    assert not app.button("live_start").disabled
    assert not app.error


@BOTH
def test_bad_input_gets_a_line_and_is_not_lost(lang: Lang) -> None:
    app = open_page("live", lang=lang)
    app.text_input("live_new_tokens").set_value("many").run()
    (error,) = app.error
    assert error.value.startswith(text.LABELS["new_tokens"](lang))
    assert "many" in error.value
    assert app.text_input("live_new_tokens").value == "many"
    assert "live_run" not in kept(app)
    app.text_input("live_new_tokens").set_value("2048").run()
    assert "2,047" in app.error[0].value


@BOTH
def test_the_link_has_the_settings_and_starts_nothing(lang: Lang) -> None:
    query = {"prompt": "犬は 😀", "new_tokens": "２０", "batch": "3", "dtype": "fp32", "cache": "static"}
    app = open_page("live", lang=lang, **{f"live_{name}": value for name, value in query.items()})
    assert "live_run" not in kept(app)
    assert not app.error
    assert not app.warning
    assert (app.text_area("live_prompt").value, app.text_input("live_new_tokens").value) == ("犬は 😀", "２０")
    assert (app.selectbox("live_batch").value, app.selectbox("live_dtype").value) == (3, "fp32")
    assert app.selectbox("live_cache").value == "static"
    link = address(app)
    assert {name: link[f"live_{name}"] for name in query} == query
    assert link["live_model"] == "tiny"  # not where it lies
    over(app.button("live_start").click().run())
    assert text.EQUAL(lang, steps="20") in headline(app)


@BOTH
def test_a_link_that_asks_for_the_impossible(lang: Lang) -> None:
    app = open_page(
        "live", lang=lang, live_new_tokens="many", live_batch="99", live_cache="heap", live_model="/etc/passwd"
    )
    (error,) = app.error
    assert "many" in error.value
    assert app.text_input("live_new_tokens").value == "many"
    assert address(app)["live_new_tokens"] == "many"  # reloading says the same
    (warning,) = app.warning
    for told in ("99", "heap", "passwd", text.LABELS["batch"](lang)):
        assert told in warning.value.replace("\\", "")
    app.text_input("live_new_tokens").set_value("5").run()
    assert not app.error
    assert not app.warning  # something else is asked now


def test_a_model_of_the_sizing_page_that_cannot_be_read_costs_no_setting() -> None:
    link = address(open_page("live", lang="en", model="what is this", live_new_tokens="7"))
    assert (link["model"], link["live_new_tokens"]) == ("what is this", "7")


def test_a_prompt_too_long_for_a_link_is_said() -> None:
    app = open_page("live", lang="en")
    app.text_area("live_prompt").set_value("語" * 1_000).run()
    assert "live_prompt" not in address(app)
    app.text_area("live_prompt").set_value("語" * 30_000).run()
    assert "20,000" in app.error[0].value.replace("\\", "")


def test_a_second_press_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    monkeypatch.setattr(page, "start", lambda *asked: begun.append(asked) or runs.start(*asked))
    app = started(open_page("live", lang="en"), tokens="2,000")
    assert app.button("live_start").disabled
    app.button("live_start").proto.disabled = False  # the press was on its way already
    app.button("live_start").click().run()
    assert len(begun) == 1
    app.button("live_stop").click().run()
    over(app)


@pytest.mark.parametrize("key", ["live_cache", "live_shown"])
def test_a_choice_that_comes_back_as_its_label(key: str) -> None:
    """As a browser sends it that looks at a run while the language changes."""
    app = over(started(open_page("live", lang="en")))
    app.selectbox("live_cache").select("static").run()
    label = {"live_cache": text.CACHES["static"]("en"), "live_shown": app.selectbox("live_shown").options[1]}[key]
    known = app.session_state[key]
    app.session_state[key] = label
    app.run()
    assert not app.exception
    assert app.session_state[key] == known


def test_runs_are_counted_by_session() -> None:
    for _ in range(2):
        app = over(started(open_page("live", lang="en")))
        assert list(kept(app)["live_kept"]) == [1]


def test_what_a_failed_run_gave_is_shown_with_where_the_memory_was() -> None:
    app, run = open_page("live", lang="en"), bundled()
    failure = Failure(code="out-of-memory", en="Out of memory.", ja="メモリ不足です。")
    kept(app)["live_failed"] = Progress(
        state="failed",
        position=0,
        started=run.started,
        samples=run.samples[:7],
        ended=None,
        failure=failure,
        memory=None,
    )
    app.run()
    assert text.EQUAL_PART("en", steps="7", all="300") in headline(app)
    assert any(text.ENDED_EARLY["failed"]("en", done="7", all="300") in m.value for m in app.markdown)
    assert any(text.FAILED("en") in c.value for c in app.caption)
    assert text.MEMORY("en") in " ".join(m.value for m in app.markdown)


def failed(why: Failure) -> Progress:
    return Progress(
        state="failed",
        position=0,
        started=None,
        samples=(),
        ended=None,
        failure=why,
        memory=Memory(free_bytes=3 << 30),
    )


def test_a_failure_is_told_and_the_next_run_can_start() -> None:
    lang: Lang = "ja"
    app = open_page("live", lang=lang)
    other = Failure(code="no-cuda", en="No CUDA.", ja="CUDA がありません。")
    kept(app)["live_failed"] = failed(other)
    app.run()
    assert text.FREED(lang, free="3 GiB") not in [c.value for c in app.caption]  # memory was not what was wrong
    failure = Failure(code="out-of-memory", en="Out of memory.", ja="メモリ不足です。")
    kept(app)["live_failed"] = failed(failure)
    app.run()
    assert failure(lang) in app.error[0].value.replace("\\", "")
    assert text.FREED(lang, free="3 GiB") in [c.value for c in app.caption]
    over(started(app))
    assert not app.error


@BOTH
def test_without_torch_the_recording_and_the_command(lang: Lang, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "find_spec", lambda name: None)
    app = open_page("live", lang=lang)
    assert text.EQUAL(lang, steps="300") in headline(app)
    assert ENABLE in [c.value for c in app.code]
    assert not [b for b in app.button if b.key == "live_start"]


@BOTH
def test_switched_off_by_the_operator(lang: Lang, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_LIVE", "off")
    app = open_page("live", lang=lang)
    assert said.SWITCHED_OFF(lang) in [i.value.replace("\\", "") for i in app.info]
    assert first_shown(app) == "info"
    assert ENABLE not in [c.value for c in app.code]
    assert not [b for b in app.button if b.key == "live_start"]


@pytest.mark.parametrize(("name", "given"), [("KVVIZ_LIVE_MAX_TOKENS", "lots"), ("KVVIZ_LIVE", "of")])
def test_a_setting_that_cannot_be_read_is_logged_once_whatever_page_is_opened_and_switches_runs_off(
    name: str, given: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    show._logged.cache_clear()
    operator.check_settings.cache_clear()
    monkeypatch.setenv(name, given)
    with caplog.at_level("WARNING", logger="kvviz"):
        open_page("sizing", lang="en")
        assert [r.getMessage() for r in caplog.records if f"{name}: {given} is " in r.getMessage()]
        app = open_page("live", lang="en")
        app.run()
    assert not app.error
    assert said.SWITCHED_OFF("en") in [i.value.replace("\\", "") for i in app.info]
    assert len([r for r in caplog.records if name in r.getMessage()]) == 1
    operator.check_settings.cache_clear()


def test_every_setting_of_the_operator_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = {
        "KVVIZ_LIVE": "nope",
        "KVVIZ_LIVE_DEVICE": "gpu",
        "KVVIZ_LIVE_MAX_TOKENS": "lots",
        "KVVIZ_LIV": "off",
        "HF_ENDPOINT": "http://[::1",
        "KVVIZ_ENGINES": "no address",
        "KVVIZ_COMMIT": "v1.2",
    }
    show._logged.cache_clear()
    operator.check_settings.cache_clear()
    for name, given in wrong.items():
        monkeypatch.setenv(name, given)
    with caplog.at_level("WARNING", logger="kvviz"):
        operator.check_settings()
    logged = [r.getMessage() for r in caplog.records]
    assert len(logged) == len(wrong)
    assert all(any(re.search(rf"\b{name}\b", line) for line in logged) for name in wrong)
    operator.check_settings.cache_clear()


def first_shown(app: AppTest) -> str:
    """The kind of what stands first on the page, of the recording's headline and messages."""
    kinds = (e.type for e in app.main if e.type in ("error", "info") or str(getattr(e, "value", "")).startswith("### "))
    return next(kinds)


def test_only_the_operators_models_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_LIVE_MODELS", "Qwen/Qwen3-0.6B")
    app = open_page("live", lang="en")
    assert list(app.selectbox("live_model").options) == ["tiny", "Qwen/Qwen3-0.6B"]


def test_the_kind_of_cache_outlasts_a_change_of_language() -> None:
    app = open_page("live", lang="en")
    app.selectbox("live_cache").select("none").run()
    for lang in ("ja", "en", "ja"):
        app.segmented_control("lang").set_value(lang).run()
        assert not app.exception
        assert app.selectbox("live_cache").value == "none"


def test_the_run_shown_is_named_in_the_language_of_the_page() -> None:
    """A browser goes on showing the words it has, unless it is told others."""
    app = over(started(open_page("live", lang="en")))
    for lang in ("ja", "en"):
        app.segmented_control("lang").set_value(lang).run()
        box = app.selectbox("live_shown")
        assert box.proto.set_value
        assert box.proto.raw_value == box.options[-1]
        app.run()
        assert not app.selectbox("live_shown").proto.set_value, "said again and again, it takes back what is chosen"
