"""The Sizing page as a script, in both languages: opens answered, takes links, says what is wrong, keeps the rest."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.catalogue import load
from kvviz.core.units import format_bytes, format_count
from kvviz.links import pack_config
from kvviz.scenario import FIELDS, Scenario, to_query
from kvviz.text import LANGUAGES, Lang, Text, verdict
from kvviz.text import sizing as text
from kvviz.ui import show
from tests.ui.page import errors, link, open_app, sentence, sized


@pytest.mark.parametrize("lang", LANGUAGES)
def test_opens_answered(lang: Lang) -> None:
    app = open_app(lang=lang)
    expected = sized(Scenario())
    assert all(part in sentence(app) for part in show.answer_sentence(expected, lang))
    assert format_count(expected.max_sequences_counted or 0) in sentence(app)
    assert [m.value for m in app.metric][1] == format_bytes(expected.request_bytes or 0)
    assert len(app.get("plotly_chart")) == 2
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(model="meta-llama/Llama-3.1-8B-Instruct", gpu="a100-80gb", sequences=200),
        Scenario(model="google/gemma-3-27b-it", gpu="h200", input=100_000, output=4096, sequences=7, kv_dtype="fp8"),
        Scenario(model="Qwen/Qwen3-Next-80B-A3B-Instruct", gpu="h200", gpus=2),
        Scenario(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8),
        Scenario(model="deepseek-ai/DeepSeek-V4-Flash", gpu="b200"),
        Scenario(model="openai/whisper-tiny", gpu="l4"),
        Scenario(model="facebook/bart-large-cnn", gpu=""),
        Scenario(model="Qwen/Qwen3-32B", gpu="rtx-4090"),
        Scenario(model="RWKV/rwkv-5-world-3b"),
        Scenario(memory_fraction=0.8, tp=1, block_tokens=32, batched_tokens=2048, max_model_len=8192, weights_gib=40.0),
    ],
    ids=lambda s: s.model,
)
def test_a_link_shows_what_the_core_says(scenario: Scenario, lang: Lang) -> None:
    app = open_app(**to_query(scenario), lang=lang)
    assert all(part in sentence(app) for part in show.answer_sentence(sized(scenario), lang))
    assert not app.error
    assert all(text.LINK_REJECTED(lang) not in w.value for w in app.warning)


def test_the_offered_link_carries_every_field_and_opens_the_same() -> None:
    app = open_app()
    app.selectbox(key="model").select("google/gemma-3-27b-it")
    app.text_input(key="input").input("100k")
    app.text_input(key="sequences").input("3").run()
    offered = link(app)
    assert set(FIELDS) | {"v", "lang", "by"} == set(offered)
    assert offered["input"] == "102400"
    assert offered["revision"] == load("google/gemma-3-27b-it").revision
    again = open_app(**offered)
    assert sentence(again) == sentence(app)
    assert not again.warning


def test_switching_language_keeps_every_number() -> None:
    app = open_app(model="openai/gpt-oss-120b", gpu="h200", sequences="77", input="9999", kv_dtype="fp8")
    before, numbers = link(app), [m.value for m in app.metric]
    app.segmented_control(key="lang").set_value("ja").run()
    assert not app.exception
    assert link(app) == before | {"lang": "ja"}
    assert [m.value for m in app.metric] == numbers
    assert text.GROWTH("ja") in "".join(m.value for m in app.markdown)


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("input", "abc"),
        ("input", ""),
        ("input", "-5"),
        ("input", "1e308"),
        ("input", "<script>alert(1)</script>"),
        ("output", "NaN"),
        ("output", "99999999999999999999999"),
        ("block_tokens", "0"),
        ("sequences", ""),
        ("sequences", "50.5"),
        ("gpus", "two"),
        ("memory_fraction", "92%"),
        ("weights_gib", "heavy"),
        ("max_model_len", "many"),
        ("batched_tokens", "1.5.2"),
    ],
)
def test_a_typing_error_is_told_beside_and_loses_nothing(field: str, typed: str) -> None:
    app = open_app()
    before = sentence(app)
    app.text_input(key=field).input(typed).run()
    assert not app.exception
    assert app.text_input(key=field).value == typed
    assert app.error
    assert sentence(app) == before
    good = {"gpus": "8", "memory_fraction": "0.8", "weights_gib": "40"}.get(field, "8192")
    app.text_input(key=field).input(good).run()
    assert not app.error
    assert float(link(app)[field]) == float(good)


@pytest.mark.parametrize(
    "query",
    [
        {"model": "nobody/nothing"},
        {"model": "<script>alert(1)</script>"},
        {"gpu": "<script>alert(1)</script>"},
        {"gpus": "1e308"},
        {"sequences": "-1"},
        {"memory_fraction": "nan"},
        {"input": "twelve"},
        {"kv_dtype": "bf17"},
        {"unheard_of": "1"},
        {"config": "not-a-config"},
        {"v": "99"},
        {"lang": "fr"},
        {"config": "AAAAbroken", "model": "mine"},
    ],
    ids=str,
)
def test_what_a_link_says_and_cannot_be_used_is_told(query: dict[str, str]) -> None:
    app = open_app(**query)
    assert app.warning or app.error
    shown = "".join(e.value for e in (*app.warning, *app.error))
    assert "<script>" not in shown
    assert app.selectbox(key="model")


def test_settings_that_do_not_go_together_are_told_and_can_be_mended() -> None:
    app = open_app(gpus="3")
    assert "3" in errors(app)
    assert app.text_input(key="gpus").value == "3"
    assert "on 1 ×" in sentence(app)  # what stands in is what the answer speaks of
    assert link(app)["gpus"] == "1"
    app.text_input(key="gpus").input("2").run()
    assert not app.error
    assert sentence(app)


def test_what_another_model_cannot_run_with_is_told_and_stood_in_for() -> None:
    """gpt2 has 12 heads: what 8 GPUs split before, it cannot."""
    app = open_app(gpus="8", tp="8")
    app.selectbox(key="model").select("openai-community/gpt2").run()
    assert app.error
    assert sentence(app)
    app.selectbox(key="tp").select("4").run()
    assert not app.error
    assert "on 8 ×" in sentence(app)


def test_what_is_offered_instead_can_be_had() -> None:
    """Over 3 GPUs, which its heads cannot be split over, each is an engine of its own."""
    app = open_app(model="Qwen/Qwen3-32B", gpus="8", tp="2", lang="en")
    app.text_input(key="gpus").input("3").run()
    assert "it can be 1." in errors(app)


def test_a_fix_is_one_press_and_undo_takes_it_back() -> None:
    app = open_app()
    before, asked = sentence(app), link(app)
    offered = [b for b in app.button if b.key and b.key.startswith("fix_")]
    assert 1 <= len(offered) <= 3
    assert all("✓" in b.label for b in offered)
    offered[0].click().run()
    assert not app.exception
    assert "All 50 fit" in sentence(app)
    assert link(app) != asked
    app.button(key="undo_fix").click().run()
    assert sentence(app) == before
    assert link(app) == asked


def test_undo_takes_back_what_the_fix_changed_and_no_more() -> None:
    app = open_app()
    asked = link(app)
    fix = next(b for b in app.button if b.key and b.key.startswith("fix_"))
    fix.click().run()
    changed = {name for name, value in link(app).items() if value != asked[name]}
    app.text_input(key="output").input("99").run()
    app.selectbox(key="model").select("Qwen/Qwen3-32B").run()
    undo = app.button(key="undo_fix")
    assert undo.label == "Undo: " + fix.label.split(" (")[0].split(" →")[0]
    undo.click().run()
    after = link(app)
    assert (after["output"], after["model"]) == ("99", "Qwen/Qwen3-32B")
    assert {name: after[name] for name in changed} == {name: asked[name] for name in changed}
    assert not any(b.key == "undo_fix" for b in app.button)


def test_what_was_taken_back_by_hand_cannot_be_undone() -> None:
    app = open_app()
    asked = link(app)
    next(b for b in app.button if b.key and b.key.startswith("fix_")).click().run()
    (changed,) = (name for name, value in link(app).items() if value != asked[name])
    app.selectbox(key=changed).select(asked[changed]).run()
    assert not any(b.key == "undo_fix" for b in app.button)


def test_both_lengths_nought_are_told_once() -> None:
    app = open_app(input="0")
    app.text_input(key="output").input("0").run()
    assert errors(app).replace("\\", "").startswith("Output tokens: a request needs at least one token")


def test_requests_that_a_link_gives_beside_users_are_not_dropped_without_a_word() -> None:
    told = [w.value for w in open_app(sequences="999", users="200").warning]
    assert any("999" in said and "200 users" in said for said in told)
    assert not open_app(sequences="50", users="200").warning


def test_a_pasted_config_does_not_take_the_name_of_a_bundled_model() -> None:
    app = paste(open_app(), json.dumps(CONFIG), "Qwen/Qwen3-8B")
    assert link(app)["model"] == "Qwen/Qwen3-8B (pasted)"
    app.selectbox(key="model").select("Qwen/Qwen3-8B").run()
    assert link(app)["config"] == ""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_fix_and_lever_says_its_result(lang: Lang) -> None:
    app = open_app(lang=lang, model="google/gemma-3-27b-it", input="60000", gpu="h200")
    assert not app.exception
    said = [b.label for b in app.button if b.key and b.key.startswith("fix_")]
    assert said
    for number in range(len(said)):
        again = open_app(lang=lang, model="google/gemma-3-27b-it", input="60000", gpu="h200")
        again.button(key=f"fix_{number}").click().run()
        assert not again.exception
        assert not again.error


def test_passages_and_users_change_what_is_asked() -> None:
    app = open_app()
    app.text_input(key="passages").input("8")
    app.text_input(key="passage_tokens").input("500").run()
    assert "8,096 tokens" in sentence(app)
    app.text_input(key="users").input("200")
    app.text_input(key="answer_s").input("15")
    app.text_input(key="seconds_between").input("45").run()
    # 200 x 15 / 60
    assert "of 50" in sentence(app)
    assert link(app)["users"] == "200"
    assert not app.error
    app.text_input(key="users").input("many").run()
    assert app.error


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", [text.GROWTH_TAB, text.WHY, text.LAYERS, text.WHAT_IF, text.LAUNCH], ids=lambda t: t.en)
@pytest.mark.parametrize("query", [{}, {"gpu": "none"}, {"model": "RWKV/rwkv-5-world-3b"}, {"users": "90"}], ids=str)
def test_every_tab_opens(lang: Lang, tab: Text, query: dict[str, str]) -> None:
    app = open_app(lang=lang, **query)
    app.session_state["tabs"] = tab(lang)
    app.run()
    assert not app.exception


def test_typed_weights_belong_to_their_model() -> None:
    app = open_app(model="RWKV/rwkv-5-world-3b", weights_gib="1.2")
    app.selectbox(key="model").set_value("Qwen/Qwen3-8B").run()
    assert link(app)["weights_gib"] == "auto"
    assert app.text_input(key="weights_gib").value == ""


@pytest.mark.parametrize(
    ("query", "head"),
    [
        ({"model": "deepseek-ai/DeepSeek-R1"}, verdict.WEIGHTS_TOO_LARGE("en")),
        ({"model": "google/gemma-3-27b-it", "memory_fraction": "0.7"}, verdict.NO_ROOM("en")),
        ({"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "l4", "max_model_len": "131072"}, "would not start"),
        ({"model": "Qwen/Qwen3-0.6B", "sequences": "1"}, verdict.FIT_ONE("en")),
    ],
    ids=["weights", "no room", "start", "one"],
)
def test_verdicts_that_are_no_count(query: dict[str, str], head: str) -> None:
    app = open_app(**query)
    assert head in sentence(app)
    short = [m.value for m in app.metric if m.label in (text.FACT_SHORT("en"), text.FACT_SPARE("en"))]
    assert "would not start" in head or short[0] in sentence(app)  # one number, not three


def test_a_length_beyond_the_model_stands_right_under_the_sentence() -> None:
    app = open_app(model="openai-community/gpt2")
    assert any("1,024" in w.value for w in app.warning)


def test_only_types_the_model_can_have_are_offered() -> None:
    plain = open_app().selectbox(key="kv_dtype").options
    sparse = open_app(model="deepseek-ai/DeepSeek-V3.2", gpu="h200", gpus="8").selectbox(key="kv_dtype").options
    assert "fp8_ds_mla" not in plain
    assert "int8_per_token_head" in plain
    assert "fp8_ds_mla" in sparse


def test_a_parameter_given_twice_is_told() -> None:
    app = open_app(input=["100", "200"])
    assert any("Input tokens" in w.value for w in app.warning)


CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 10,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "hidden_size": 4096,
    "vocab_size": 32000,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}


def paste(app: AppTest, pasted: str, name: str = "") -> AppTest:
    app.text_area(key="paste_box").input(pasted)
    app.text_input(key="paste_name").input(name)
    next(b for b in app.button if b.label in (text.PASTE_APPLY("en"), text.PASTE_APPLY("ja"))).click().run()
    assert not app.exception
    return app


def test_a_pasted_config_is_used_and_travels_in_the_link() -> None:
    app = paste(open_app(), json.dumps(CONFIG), "our model")
    # 2 x 10 layers x 4 heads x 128 x 2 B x 4,096 tokens
    assert next(m.value for m in app.metric) == format_bytes(2 * 10 * 4 * 128 * 2 * 4096)
    offered = link(app)
    assert offered["model"] == "our model"
    assert offered["config"] == pack_config(CONFIG)
    again = open_app(**offered)
    assert sentence(again) == sentence(app)
    app.text_input(key="weights_gib").input("4.0").run()
    assert not app.error
    assert verdict.FIT_ALL("en", needed=50) in sentence(app)


def test_unknown_weights_are_asked_for_where_one_sees_it() -> None:
    app = paste(open_app(gpu="h100-80gb"), json.dumps(CONFIG), "our model")
    assert "below the GPU" in sentence(app)
    for typed, said in (("10", "fit at once"), ("ten", "fit at once"), ("", "below the GPU")):
        app.text_input(key="weights_gib").input(typed).run()
        assert said in sentence(app)
        assert bool(app.error) == (typed == "ten")
    for page, is_in_sight in ((app, True), (open_app(), False)):
        boxes = [box.key for box in page.text_input]
        assert boxes.count("weights_gib") == 1
        assert (boxes.index("weights_gib") < boxes.index("input")) == is_in_sight


def test_one_can_leave_a_pasted_config_and_come_back() -> None:
    app = paste(open_app(), json.dumps(CONFIG), "our model")
    pasted = sentence(app)
    app.selectbox(key="model").select("openai-community/gpt2").run()
    assert link(app)["config"] == ""
    app.selectbox(key="model").select("our model").run()
    assert sentence(app) == pasted


@pytest.mark.parametrize(
    "pasted",
    [
        "",
        "not json",
        "[]",
        "NaN",
        '{"model_type": "llama"',
        "[" * 1000 + "]" * 1000,
        json.dumps({**CONFIG, "num_hidden_layers": -1}),
        json.dumps({**CONFIG, "num_hidden_layers": 10**30}),
        json.dumps({**CONFIG, "num_key_value_heads": "four"}),
        json.dumps({**CONFIG, "hidden_size": True}),
        json.dumps({**CONFIG, "model_type": "no_such_thing", "architectures": ["NoSuchThing"]}),
        "x" * 10_000_000,
    ],
    ids=lambda p: p[:40] or "empty",
)
def test_a_config_that_cannot_be_read_stays_in_the_box(pasted: str) -> None:
    app = open_app()
    before = sentence(app)
    paste(app, pasted)
    assert app.error
    assert all(len(e.value) < 2000 for e in app.error)
    assert app.text_area(key="paste_box").value == pasted
    assert sentence(app) == before


def test_the_changed_settings_are_named_without_their_units() -> None:
    app = open_app(block_tokens="32", headroom="0.1")
    named = text.MORE_CHANGED("en", names="Block size, Headroom")
    assert named not in [c.value for c in app.caption]  # open, they are in sight
    app.session_state["more"] = False
    app.run()
    assert named in [c.value for c in app.caption]


def test_the_growth_comes_before_what_is_to_be_known_beside_it() -> None:
    app = open_app(model="google/gemma-3-27b-it")
    said = [e.value for e in app.main if e.type in ("caption", "markdown")]
    notes = next(n for n, sentence in enumerate(said) if ":material/info:" in sentence)
    assert notes > said.index(f"**{text.GROWTH('en')}**")


def test_a_gpu_that_several_may_be_is_chosen_from_them() -> None:
    app = open_app(lang="en")

    def typed(gpu: str) -> None:
        box = app.selectbox(key="gpu")
        box.options.append(gpu)  # a browser sends what is no option as well
        box.select(gpu).run()

    typed("MIG")
    assert not app.exception
    assert "several" in errors(app)
    assert "H100 80GB" in errors(app)  # whose answer stands
    hits = app.get("button_group")
    assert any("MIG" in str(hit.proto.options) for hit in hits)
    typed("nobody's")
    assert "nobody's" in errors(app)
    assert "H100 80GB" in errors(app)
    typed("3090")
    assert not app.error
    assert link(app)["gpu"] == "rtx-3090"


def test_fractions_of_a_column_have_as_many_decimals() -> None:
    rows = [{"GiB": 32.031, "at": 7}, {"GiB": 50.0, "at": 1_024}, {"GiB": None, "at": 2}]
    assert show.cells(rows) == [
        {"GiB": "32.031", "at": "7"},
        {"GiB": "50.000", "at": "1,024"},
        {"GiB": "–", "at": "2"},
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_where_one_request_already_outgrows_the_weights(lang: Lang) -> None:
    one = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "h200", "gpus": "2", "input": "999000", "output": "1000"}
    app = open_app(lang=lang, **one, sequences="3")
    said = show.plain(text.CROSSOVER_ONE(lang, tokens="1,000,000", weights="7.48"))
    assert any(said in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    ("written", "gpu"), [("4090", "rtx-4090"), ("RTX 4090", "rtx-4090"), ("h200", "h200"), ("a100", "a100")]
)
def test_a_links_gpu_is_found_as_in_its_box(written: str, gpu: str) -> None:
    """What one device matches is that; of several none is taken, and the box says so."""
    app = open_app(gpu=written)
    assert app.selectbox(key="gpu").value == gpu
