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
from kvviz.ui.log_check import EXAMPLES
from kvviz.ui.show import PARTED
from tests.ui.page import kept, open_page

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
