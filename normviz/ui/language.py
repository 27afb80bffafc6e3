"""Which language does this person read, and is the page light or dark?"""

from __future__ import annotations

from functools import cache
from typing import Literal

import streamlit as st

from normviz.text import LANGUAGES, Text
from normviz.ui import state

NAMES = {"en": "English", "zh": "中文"}

_CHOSEN = "app.lang"
_SWITCH = "app.lang.switch"
_LINK = "app.lang.link"


def words() -> Text:
    """The reader's words: what the switch or the link says, else the browser's first language."""
    return _text(chosen() or _browser_language())


def chosen() -> str | None:
    """The language that the person chose, by the switch or by the link; only a choice travels in the link."""
    asked = st.query_params.get("lang")
    if asked in LANGUAGES and asked != st.session_state.get(_LINK):
        st.session_state[_CHOSEN] = asked  # the link changed: a new arrival, or the back button
    st.session_state[_LINK] = asked
    picked: str | None = st.session_state.get(_CHOSEN)
    return picked


def written() -> None:
    """Note that the choice now stands in the link, so that it is not taken for a new one there."""
    st.session_state[_LINK] = st.session_state.get(_CHOSEN)


def switch(t: Text) -> None:
    """Draw the language switch."""
    st.session_state[_SWITCH] = t.lang
    st.segmented_control(
        "Language · 语言",
        LANGUAGES,
        format_func=NAMES.__getitem__,
        key=_SWITCH,
        on_change=_choose,
        required=True,
        label_visibility="collapsed",
    )


def _choose() -> None:
    st.session_state[_CHOSEN] = st.session_state[_SWITCH]
    state.act()


def mode() -> Literal["light", "dark"]:
    """Whether the page is light or dark now."""
    return "dark" if st.context.theme.type == "dark" else "light"


def _browser_language() -> str:
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


@cache
def _text(lang: str) -> Text:
    return Text(lang)
