"""Where does the state of a page live? In the session while it is used, in the link when it travels.

The link is read when the person arrives, goes back or edits the address, and written once, after the page ran.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from normviz import link
from normviz.errors import InputError

_PAGE = "link.page"
_QUERY = "link.query"
_ACTED = "link.acted"
_PROBLEMS = "link.problems"
_WHOLE = "link.whole"


def key(page: str, name: str) -> str:
    """Session key of a control; the widget of that control uses the same key."""
    return f"{page}.{name}"


def act() -> None:
    """Note that a person used a control: the session, not the address, now holds the truth.

    Every widget calls this. The browser's address may still be the one from before the last answer, so without it
    a quick second click would look like the back button.
    """
    st.session_state[_ACTED] = True
    st.session_state.pop(_PROBLEMS, None)


def act_on_all() -> None:
    """As `act`, for a widget of a fragment that changes what lies outside: the whole page has to be drawn anew."""
    act()
    st.session_state[_WHOLE] = True


def whole_page_due() -> bool:
    """Whether the fragment that asks has to have the whole page drawn; answered once."""
    return bool(st.session_state.pop(_WHOLE, False))


def enter(page: str) -> None:
    """Bring the session in line with the link, if the link is what changed."""
    query = {name: text for name, text in st.query_params.items() if name not in link.APP_WORDS}
    acted = st.session_state.pop(_ACTED, False)
    arrived = st.session_state.get(_PAGE) != page
    moved = not acted and query != st.session_state.get(_QUERY)
    if arrived or moved:
        values, problems = link.read(page, query)
        for name, value in values.items():
            put(page, name, value)
        st.session_state[_PROBLEMS] = problems
    st.session_state[_PAGE] = page


def leave(page: str, lang: str | None) -> None:
    """Write the page's state into the address bar."""
    query = query_of(page)
    st.session_state[_QUERY] = query
    words = {"lang": lang} if lang else {}
    if dict(st.query_params) != query | words:
        st.query_params.from_dict(query | words)


def leave_from_part(page: str, lang: str | None) -> None:
    """As `leave`, for a fragment that changed the state without the rest of the page."""
    leave(page, lang)
    st.session_state.pop(_ACTED, None)


def query_of(page: str) -> dict[str, str]:
    """The query string of a page as the session knows it; empty for a page not visited yet."""
    return link.write(page, {row.id: good(page, row.id) for row in link.KNOBS[page]})


def problems() -> list[InputError]:
    """What in the link could not be used."""
    return list(st.session_state.get(_PROBLEMS, []))


def value(page: str, name: str) -> Any:
    """What the control shows now, usable or not; a list that has just changed its language may still hold a label."""
    knob = link.knob(page, name)
    found = st.session_state.get(key(page, name), knob.default)
    return knob.default if knob.kind == "choice" and found not in knob.options else found


def good(page: str, name: str) -> Any:
    """The last value of the control that could be used; it feeds the figures and the link."""
    return st.session_state.get(key(page, name) + ".good", value(page, name))


def put(page: str, name: str, new: Any) -> None:
    """Set a control's value from code, before its widget is drawn or in a callback."""
    st.session_state[key(page, name)] = new
    st.session_state.pop(key(page, name) + ".good", None)


def keep(page: str, name: str, usable: Any) -> None:
    """Remember a value that could be used, in case the next one cannot."""
    st.session_state[key(page, name) + ".good"] = usable
