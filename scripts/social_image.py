"""Draws assets/social.png, the picture a link to kvviz is shown with: 1200 × 630, one request in five models.

    python scripts/social_image.py

The numbers are the core's own; Chrome or Chromium turns the drawing into pixels (KVVIZ_BROWSER names another).
"""

import os
import shutil
from html import escape
from pathlib import Path

from playwright.sync_api import sync_playwright

from kvviz import catalogue
from kvviz.charts.layers import CACHE_COLOURS, layer_counts, layer_strip_svg
from kvviz.core.cache import FullAttention, LatentAttention, RecurrentState, SlidingWindow
from kvviz.core.units import format_bytes, format_count
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import sizing as text

OUT = Path(__file__).resolve().parents[1] / "assets" / "social.png"
WIDE, TALL = 1200, 630
TOKENS = 8_192
MODELS = (
    "Qwen/Qwen-7B-Chat",
    "meta-llama/Llama-3.1-8B-Instruct",
    "google/gemma-3-27b-it",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "deepseek-ai/DeepSeek-R1",
)
KINDS = (
    (FullAttention, "full attention"),
    (SlidingWindow, "sliding window"),
    (RecurrentState, "fixed state"),
    (LatentAttention, "latent (MLA)"),
)
_STYLE = """
* { box-sizing: border-box; margin: 0; }
body { width: 1200px; height: 630px; background: #FFFFFF; color: #111111; padding: 44px 56px;
  font: 22px/1.3 "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 62px; line-height: 1; letter-spacing: -1px; }
p { font-size: 27px; color: #333333; margin: 8px 0 22px; }
.row { display: grid; grid-template-columns: 300px 1fr 150px; gap: 20px; align-items: center; height: 72px;
  border-top: 1px solid #CCCCCC; }
.row small { display: block; font-size: 16px; color: #555555; }
.row svg { width: 100%; height: 44px; display: block; }
.row b { font-size: 32px; text-align: right; white-space: nowrap; }
footer { display: flex; gap: 26px; align-items: center; border-top: 1px solid #CCCCCC; padding-top: 14px;
  font-size: 18px; color: #333333; white-space: nowrap; }
footer span:first-child { flex: 1; }
i { display: inline-block; width: 16px; height: 16px; margin-right: 8px; vertical-align: -2px; }
"""


def sized(model: str) -> Sizing:
    """One request, no GPU."""
    scenario = Scenario(model=model, gpu="", input=TOKENS, output=0, sequences=1)
    return size(catalogue.load(model).architecture, scenario, weights=None)


def row(sizing: Sizing) -> str:
    """A model's name and layers, its face, and what the request takes."""
    name = escape(sizing.scenario.model.rpartition("/")[2].removesuffix("-Instruct"))
    return (
        f'<div class="row"><div>{name}<small>{escape(layer_counts(sizing, "en"))}</small></div>'
        f"<div>{layer_strip_svg(sizing, 'en', compact=True)}</div><b>{format_bytes(sizing.content_bytes)}</b></div>"
    )


def page() -> str:
    """The picture as a page of its own."""
    rows = "".join(row(sized(model)) for model in MODELS)
    kinds = "".join(f'<span><i style="background:{CACHE_COLOURS[kind]}"></i>{name}</span>' for kind, name in KINDS)
    said = f"One request of {format_count(TOKENS)} tokens in 16 bits, layer by layer"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{_STYLE}</style><body><h1>{text.APP("en")}</h1>'
        f"<p>{escape(text.TAGLINE('en'))}</p>{rows}<footer><span>{said}</span>{kinds}</footer></body></html>"
    )


def main() -> None:
    browser = os.environ.get("KVVIZ_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = chrome.new_page(viewport={"width": WIDE, "height": TALL})
        tab.set_content(page())
        tab.screenshot(path=OUT)
        chrome.close()
    print(OUT)


if __name__ == "__main__":
    main()
