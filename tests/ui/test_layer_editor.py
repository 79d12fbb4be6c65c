"""The layer editor: there for an architecture nobody knows, started from what was understood, and in the link."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.core.architecture import entered_config
from kvviz.links import pack_config, unpack_config
from kvviz.text import LANGUAGES, Lang
from kvviz.text import editor as text
from kvviz.text import sizing as sizing_text
from tests.ui.page import errors, link, open_app

UNKNOWN = {
    "model_type": "quux",
    "num_hidden_layers": 40,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "hidden_size": 5120,
}


def boxes(app: AppTest, field: str) -> list[Any]:
    """The boxes of all rows for one field."""
    kinds = app.selectbox if field == "kind" else app.text_input
    return [box for box in kinds if str(box.key).startswith("layers_") and str(box.key).endswith(f"_{field}")]


def pasted(lang: Lang, config: dict[str, Any]) -> AppTest:
    app = open_app(lang=lang)
    app.text_area("paste_box").set_value(json.dumps(config))
    app.text_input("paste_name").set_value("quux 40B")
    press(app, sizing_text.PASTE_APPLY(lang))
    return app


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_unknown_architecture_is_described(lang: Lang) -> None:
    app = pasted(lang, UNKNOWN)
    assert any(e.label == text.DESCRIBE(lang, name="quux 40B") for e in app.expander)
    assert [box.value for box in boxes(app, "count")] == ["40"]
    press(app, text.ADD(lang))
    boxes(app, "count")[0].set_value("10").run()
    boxes(app, "count")[1].set_value("30").run()
    boxes(app, "kind")[1].set_value("window").run()
    boxes(app, "window_tokens")[0].set_value("1k").run()
    press(app, text.USE(lang))
    assert not errors(app)
    shared = link(app)
    assert shared["model"] == "quux 40B"
    assert unpack_config(shared["config"])["layers"] == [
        {"count": 10, "kind": "full", "kv_heads": 8, "key_dim": 128, "value_dim": 128},
        {"count": 30, "kind": "window", "kv_heads": 8, "key_dim": 128, "value_dim": 128, "window_tokens": 1024},
    ]
    # 4,096 tokens: 10 x 4,096 and 30 x 1,024 of 4 KiB
    assert any("280 MiB" in caption.value for caption in app.caption)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_bad_row_gets_one_line_and_stays(lang: Lang) -> None:
    app = pasted(lang, UNKNOWN)
    boxes(app, "kv_heads")[0].set_value("eight").run()
    press(app, text.USE(lang))
    lines = [e.value for e in app.error if text.FIELDS["kv_heads"](lang) in e.value]
    assert len(lines) == 1
    assert "1" in lines[0]
    assert boxes(app, "kv_heads")[0].value == "eight"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_missing_number_is_asked_for_in_words(lang: Lang) -> None:
    app = pasted(lang, UNKNOWN)
    boxes(app, "kind")[0].set_value("window").run()
    press(app, text.USE(lang))
    label, why = text.FIELDS["window_tokens"](lang), text.NEEDED(lang)
    assert text.ROW(lang, row=1, field=label, why=why) in [e.value.replace("\\", "") for e in app.error]
    assert not any("window_tokens" in e.value for e in app.error)


def test_what_the_editor_starts_from_is_not_called_unknown() -> None:
    said = errors(pasted("en", {**UNKNOWN, "quux_cache_factor": 3})).replace("\\", "")
    assert "quux_cache_factor" in said
    assert "hidden_size" not in said
    assert "num_attention_heads" not in said


def test_rows_come_and_go() -> None:
    app = pasted("en", UNKNOWN)
    press(app, text.ADD("en"))
    boxes(app, "count")[1].set_value("7").run()
    next(b for b in app.button if str(b.key).endswith("_0_remove")).click().run()
    assert [box.value for box in boxes(app, "count")] == ["7"]


def test_a_link_to_described_layers_opens_and_can_be_changed() -> None:
    config = entered_config([{"count": 12, "kind": "latent", "latent_dim": 512, "rope_dim": 64}])
    app = open_app(lang="en", model="quux", config=pack_config(config))
    assert not errors(app)
    assert any(e.label == text.CHANGE("en") for e in app.expander)
    boxes(app, "latent_dim")[0].set_value("256").run()
    press(app, text.USE("en"))
    assert unpack_config(link(app)["config"])["layers"] == [
        {"count": 12, "kind": "latent", "latent_dim": 256, "rope_dim": 64}
    ]


def test_known_models_have_no_editor() -> None:
    assert not boxes(open_app(lang="en"), "count")
