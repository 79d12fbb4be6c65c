"""The log page as a script, in both languages: an example at a press, what is missing, and nothing of it in a link."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.core.architecture import used_fields
from kvviz.engine_log import EngineLog, read_log
from kvviz.text import LANGUAGES, Lang
from kvviz.text import engine_log as log_text
from kvviz.text import log_check as text
from kvviz.text import sizing as sizing_text
from kvviz.ui.log_check import EXAMPLES
from kvviz.ui.show import PARTED
from tests.ui.page import kept, open_page, press, sentence, sized, turn_to

LOGS = Path(__file__).parent.parent / "data" / "logs"
QWEN3_14B = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "hidden_size": 5_120,
    "torch_dtype": "bfloat16",
}
PROFILE = (
    "the current vLLM instance can use total_gpu_memory (23.98GiB) x gpu_memory_utilization (0.96) = 23.02GiB\n"
    "model weights take 18.91GiB; non_torch_memory takes 0.25GiB; PyTorch activation peak memory takes 1.42GiB; the"
    " rest of the memory reserved for KV Cache is 2.44GiB.\n"
)


def pasted(log: str, lang: Lang = "en") -> AppTest:
    app = open_page("check_log", lang=lang)
    app.text_area(key="log_text").set_value(log).run()
    assert not app.exception
    return app


def excerpt(name: str) -> str:
    return next(LOGS.glob(f"*{name}*")).read_text(encoding="utf-8")


def said(app: AppTest) -> str:
    boxes = (*app.success, *app.warning, *app.error, *app.info, *app.caption, *app.markdown)
    return "\n".join(box.value for box in boxes).replace("\\", "")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_opens_empty(lang: Lang) -> None:
    app = open_page("check_log", lang=lang)
    assert text.INTRO(lang) in said(app)
    assert not any((app.success, app.warning, app.error, app.table))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("engine", EXAMPLES)
def test_an_example_is_one_press(engine: str, lang: Lang) -> None:
    app = open_page("check_log", lang=lang)
    app.button(key=f"try_{engine}").click().run()
    assert not app.exception
    assert app.success
    assert EXAMPLES[engine][1] in said(app)
    table = app.table[0].value.to_csv()
    assert "✓" in table
    assert "✗" not in table
    assert not re.search(r"\d [KMG]iB", table)  # a unit has no line of its own
    app.button(key="log_clear").click().run()
    assert not any((app.success, app.table))


def test_the_token_line_of_a_hybrid_is_explained() -> None:
    app = pasted(excerpt("28228"))
    assert text.CAUSES["tokens_line_is_groups"].en in said(app)
    assert "Predicted for moonshotai/Kimi-Linear-48B-A3B-Instruct · TP\u00a02" in said(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_only_what_the_log_lacks_is_asked_for(lang: Lang) -> None:
    app = pasted(excerpt("1739"), lang)
    assert app.info
    assert {box.key for box in app.text_input} == {"log_tp"}
    app.text_area(key="log_config").set_value(json.dumps(QWEN3_14B)).run()
    assert app.success
    assert app.table[0].value.to_csv().count("✓") == 4
    assert not app.text_input


def test_a_bundled_model_can_be_chosen_instead() -> None:
    app = pasted(excerpt("1739"))
    app.selectbox(key="log_model").set_value("Qwen/Qwen3-32B").run()
    assert "4 of 4 figures are not what is predicted for Qwen/Qwen3-32B" in said(app)
    assert {box.key for box in app.text_input} == {"log_tp"}
    app.text_input(key="log_tp").set_value("2").run()
    assert not app.exception
    assert "TP\u00a02" in said(app)
    app.text_input(key="log_tp").set_value("many").run()
    assert "many" in said(app)
    assert app.text_input(key="log_tp").value == "many"


def test_a_config_that_cannot_be_read() -> None:
    app = pasted(excerpt("1739"))
    app.text_area(key="log_config").set_value("{").run()
    assert not app.exception
    assert app.error
    assert app.text_area(key="log_config").value == "{"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_recognisable_is_one_line(lang: Lang) -> None:
    app = pasted("GET / 200", lang)
    (error,) = app.error
    assert log_text.NOTHING_FOUND(lang) in error.value.replace("\\", "").replace(PARTED, "")
    assert not app.table


def test_measured_terms_go_to_sizing() -> None:
    app = pasted(PROFILE)
    app.button(key="use_measured").click().run()
    assert not app.exception
    scenario = kept(app)["valid"]
    assert (scenario.weights_gib, scenario.activations_gib, scenario.non_torch_gib) == (18.91, 1.42, 0.25)
    assert scenario.memory_fraction == 0.96


START = """\
INFO 11-28 10:01:29 [core.py:58] Initializing a V1 LLM engine (v0.11.0) with config:\
 model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1,\
 pipeline_parallel_size=1, kv_cache_dtype=auto
INFO 11-28 10:01:45 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 4.1 seconds
INFO 11-28 10:02:01 [gpu_worker.py:298] Available KV cache memory: 54.12 GiB
INFO 11-28 10:02:01 [kv_cache_utils.py:1087] GPU KV cache size: 443,344 tokens
INFO 11-28 10:02:01 [kv_cache_utils.py:1091] Maximum concurrency for 8,192 tokens per request: 54.12x
INFO 11-28 10:02:10 [gpu_model_runner.py:3480] Graph capturing finished in 7 secs, took 0.55 GiB
"""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_logs_settings_go_to_sizing_and_back(lang: Lang) -> None:
    """Whatever Sizing was asked before: as many fit as the log says."""
    asked = {"kv_dtype": "fp8", "sequences": "100", "gpu": "h100-80gb", "headroom": "0.1"}
    app = open_page("check_log", lang=lang, **asked)
    app.text_area(key="log_text").set_value(START).run()
    assert text.TAKEN_POOL(lang, value="54.12 GiB") in said(app)
    assert text.NOT_TAKEN(lang, missing=text.MISSING["no_gpu"](lang)) in said(app)
    before = kept(app)["valid"]
    press(app, "use_measured")
    scenario = kept(app)["valid"]
    assert (scenario.model, scenario.kv_dtype) == ("meta-llama/Llama-3.1-8B-Instruct", "bf16")
    sizing = sized(scenario)
    assert sizing.budget is not None
    assert (f"{sizing.budget.max_concurrency:.2f}", sizing.max_sequences_counted) == ("54.12", 54)
    assert "54" in sentence(app)
    turn_to(app, "sizing").run()
    undo = app.button(key="undo_fix")
    assert undo.label == sizing_text.UNDO(lang, what=text.SETTINGS_OF_LOG(lang))
    undo.click().run()
    assert kept(app)["valid"] == before


def test_a_log_is_there_for_whoever_comes_back() -> None:
    app = pasted(excerpt("1739"))
    app.selectbox(key="log_model").set_value("Qwen/Qwen3-32B").run()
    app.text_input(key="log_tp").set_value("2").run()
    before = said(app)
    turn_to(app, "sizing").run()
    assert not app.exception
    turn_to(app, "check_log").run()
    assert app.text_area(key="log_text").value.strip() == excerpt("1739").strip()
    assert app.text_input(key="log_tp").value == "2"
    assert said(app) == before
    press(app, "log_clear")
    turn_to(app, "sizing").run()
    turn_to(app, "check_log").run()
    assert not app.text_area(key="log_text").value
    assert not any((app.success, app.error, app.table))


def test_a_file_is_there_for_whoever_comes_back() -> None:
    app = open_page("check_log", lang="en")
    app.file_uploader(key="log_file_0").upload("vllm.log", START.encode(), "text/plain").run()
    assert app.success
    turn_to(app, "sizing").run()
    turn_to(app, "check_log").run()
    assert app.success
    assert "vllm.log" in said(app)
    press(app, "log_clear")
    assert not any((app.success, app.table))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_foot_names_the_logs_engine(lang: Lang) -> None:
    app = open_page("check_log", lang=lang)
    assert "vLLM 0.33" not in app.caption[-1].value
    assert "llama.cpp" in press(app, "try_llama.cpp").caption[-1].value
    assert "vLLM 0.20" in press(app, "try_vLLM").caption[-1].value
    assert "vLLM 0.33" in turn_to(app, "sizing").run().caption[-1].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_model_that_is_not_bundled_can_be_given(lang: Lang) -> None:
    app = pasted(START.replace("meta-llama/Llama-3.1-8B-Instruct", "acme/private-8b"), lang)
    assert text.NOT_BUNDLED(lang, model="acme/private-8b") in said(app)
    app.selectbox(key="log_model").set_value("meta-llama/Llama-3.1-8B-Instruct").run()
    assert app.success


def test_nothing_of_a_log_is_in_the_address() -> None:
    secret = "hf_" + "Zz9" * 12
    app = pasted(f"HF_TOKEN={secret} vllm serve {secret}/{secret}\n{excerpt('28228')}")
    address = " ".join(str(value) for value in app.query_params.values())
    assert secret not in address
    assert "Kimi" not in address
    assert secret not in said(app)


def test_the_pasted_config_is_one_that_kvviz_reads() -> None:
    assert used_fields(QWEN3_14B)


def test_a_log_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(pasted: str) -> EngineLog:
        read.append(pasted)
        return read_log(pasted)

    monkeypatch.setattr("kvviz.ui.log_check.read_log", counted)
    app = pasted(excerpt("1739-qwen3-14b"))
    app.run()
    assert len(read) == 1
    app.text_area(key="log_text").set_value("nothing").run()
    app.run()
    assert len(read) == 2
    assert said(app)
