"""What only the browser knows and does: whether the screen is a phone's, what is being typed, and the address bar.

The address bar always shows the full link. Streamlit's own query parameters push a history entry a change, so that Back
would have to be pressed once per step of a slider; bound widgets leave out defaults, so that the link would mean
something else after a default changes. Replacing the address in place does neither.
"""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from kvviz.text import Lang
from kvviz.ui.session import session

PHONE = "(max-width: 900px), (max-height: 500px) and (pointer: coarse)"
"""Too narrow for controls beside the answer, or a phone turned on its side: turning it must not redraw the page."""

_JS = """
export default function ({ data, setStateValue, setTriggerValue }) {
  if (data.query) {
    const { pathname, search, hash } = window.location;
    // What makes it an embedded page is Streamlit's, and must stay.
    const embedding = new URLSearchParams(search);
    for (const name of [...embedding.keys()]) {
      if (!name.startsWith("embed")) embedding.delete(name);
    }
    const wanted = "?" + [data.query, embedding.toString()].filter(Boolean).join("&");
    if (search !== wanted) window.history.replaceState(window.history.state, "", pathname + wanted + hash);
  }
  document.documentElement.lang = data.lang;
  // A phone's keyboard must push up the verdict at the bottom, not cover it.
  const viewport = document.querySelector("meta[name=viewport]");
  if (viewport && !viewport.content.includes("interactive-widget")) {
    viewport.content += ", interactive-widget=resizes-content";
  }
  const narrow = window.matchMedia(data.media);
  const report = () => { if (narrow.matches !== data.phone) setStateValue("phone", narrow.matches); };
  report();
  narrow.addEventListener("change", report);
  // The model box tells the server nothing before Enter: say what is in it once the typing pauses.
  let pause;
  const typed = ({ target }) => {
    if (!target.matches(".st-key-model input")) return;
    clearTimeout(pause);
    const words = target.value.trim();
    const unchanged = () => target.value.trim() === words && target.ariaExpanded === "true";
    if (words.length > 2) pause = setTimeout(() => { if (unchanged()) setTriggerValue("typed", words); }, 400);
  };
  document.addEventListener("input", typed);
  // After a lost connection the server may be another one, which knows this page by its link alone and would read the
  // link once more at the first change, instead of the change.
  const app = document.querySelector("[data-test-connection-state]");
  let lost = false;
  const connection = new MutationObserver(() => {
    if (app.dataset.testConnectionState !== "CONNECTED") lost = true;
    else if (lost) { lost = false; setTriggerValue("returned", true); }
  });
  if (app) connection.observe(app, { attributeFilter: ["data-test-connection-state"] });
  return () => {
    connection.disconnect();
    narrow.removeEventListener("change", report);
    document.removeEventListener("input", typed);
  };
}
"""


def is_phone() -> bool:
    """True on a narrow screen: what the browser reported, else a guess from its first request."""
    reported = st.session_state.get("browser", {}).get("phone")
    if reported is not None:
        return bool(reported)
    if "phone_guess" not in session():  # asked several times a run, and reading headers is slow
        headers = st.context.headers
        guess = headers.get("Sec-Ch-Ua-Mobile") == "?1" or "Mobi" in (headers.get("User-Agent") or "")
        session()["phone_guess"] = guess
    return bool(session()["phone_guess"])


def foremost() -> Literal["primary", "secondary"]:
    """The type of the button that a page is about: white on the accent colour, where that can be read."""
    return "secondary" if st.context.theme.type == "dark" else "primary"


def typed() -> str:
    """What is being typed into the model box; only in the callback that ``sync`` was given."""
    return str(st.session_state["browser"].get("typed") or "")


def sync(query: str, lang: Lang, *, on_typed: Callable[[], None]) -> None:
    """Put ``query`` into the address bar, tell the browser the page's language, learn its width. Draws nothing.

    ``on_typed`` is called when the typing of a model's name pauses.
    """
    mount = st.components.v2.component("kvviz_browser", html="<span></span>", js=_JS)
    mount(
        key="browser",
        data={"query": query, "lang": lang, "phone": is_phone(), "media": PHONE},
        height=1,
        on_phone_change=lambda: None,
        on_typed_change=on_typed,
        on_returned_change=lambda: None,
    )


_SVG_JS = """
export default function ({ data, parentElement }) {
  parentElement.querySelector("div").innerHTML = data.svg;
}
"""


def svg(drawing: str, *, key: str) -> None:
    """A drawing in the page itself, so that its tooltips work and it follows the theme (``st.html`` strips SVG)."""
    mount = st.components.v2.component("kvviz_svg", html="<div></div>", js=_SVG_JS)
    mount(key=key, data={"svg": drawing})
