"""How is a row of the knob table drawn? Bounds, default and words all come from `normviz.link`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from normviz import link
from normviz.errors import InputError
from normviz.text import LANGUAGES, N_, Text
from normviz.ui import state
from normviz.ui.quoted import sentence_of

T = TypeVar("T")

FEW = 6
"""Up to this many options lie side by side; more go into a list."""


def control(page: str, name: str, t: Text, *, disabled: bool = False, label: str | None = None) -> Any:
    """Draw a control and return its value; texts have their own function, `text_control`.

    Parameters
    ----------
    label
        In the reader's language, where what the control counts depends on another one.
    """
    knob = link.knob(page, name)
    common: dict[str, Any] = {
        "label": label or t(knob.label),
        "key": _prepare(page, name),
        "help": t(knob.help) if knob.help else None,
        "on_change": state.act,
        "persist_state": "session",
        "disabled": disabled,
    }
    if knob.kind == "bool":
        return st.toggle(**common)
    if knob.kind in ("choice", "choices"):
        common |= {"options": list(knob.options), "format_func": _label(knob, t)}
    if knob.kind == "choices":
        return _at_least_one(page, knob, st.pills(**common, selection_mode="multi", wrap=True), t)
    if knob.kind == "choice":
        if len(knob.options) <= FEW:
            return st.segmented_control(**common, required=True, wrap=True)
        return st.selectbox(**common)
    assert knob.high is not None
    if knob.kind == "float":
        low, high = float(knob.low or 0), float(knob.high)
        return st.slider(**common, min_value=low, max_value=high, step=knob.step, format="%g")
    draw = st.slider if knob.high <= 64 else st.number_input
    return draw(**common, min_value=knob.low, max_value=knob.high)


def _at_least_one(page: str, knob: link.Knob, chosen: list[str], t: Text) -> list[str]:
    """What was chosen; where nothing is left, the last choice, and a word about it."""
    if chosen:
        state.keep(page, knob.id, chosen)
        return chosen
    kept: list[str] = state.good(page, knob.id) or knob.default
    state.keep(page, knob.id, kept)
    complain(InputError(N_("Choose at least one.")), t, field=knob.label, kept=", ".join(map(_label(knob, t), kept)))
    return kept


def text_control(
    page: str,
    name: str,
    t: Text,
    read: Callable[[str], T],
    *,
    area: bool = False,
    placeholder: str | None = None,
    complaints: DeltaGenerator | None = None,
) -> T:
    """Draw a text control and return what it means; a text that cannot be used is explained and the last good one kept.

    Parameters
    ----------
    read
        Turns the text into a value, or raises `InputError`.
    area
        Whether the field has several lines.
    placeholder
        What an empty field stands for.
    complaints
        Where a complaint stands, if not beside the field: one in a closed expander is not seen.
    """
    knob = link.knob(page, name)
    common: dict[str, Any] = {
        "label": t(knob.label),
        "key": _prepare(page, name),
        "help": t(knob.help) if knob.help else None,
        "on_change": state.act,
        "persist_state": "session",
        "placeholder": placeholder,
    }
    typed = st.text_area(**common, height=112) if area else st.text_input(**common)
    try:
        meaning = read(typed)
    except InputError as error:
        good = state.good(page, name)
        try:
            meaning = read(good)
        except InputError:
            good = knob.default
            meaning = read(good)
        with complaints or nullcontext():
            complain(error, t, field=knob.label, kept=good or placeholder)
    else:
        good = typed
    state.keep(page, name, good)
    return meaning


def complain(error: InputError, t: Text, *, field: str | None = None, kept: str | None = None) -> None:
    """Say what is wrong with an input, beside it, and what is shown meanwhile.

    Parameters
    ----------
    field
        English label of the control, where the sentence itself does not name it.
    kept
        The value that stays in use.
    """
    sentence = sentence_of(error, t)
    if field is not None:
        sentence = f"**{t(field)}** · {sentence}"
    if kept is not None:
        sentence += " " + t("Shown below: {kept}.", kept=_code(kept))
    st.error(sentence)


def _code(text: str) -> str:
    """A person's text as code on one line, where Streamlit finds no icon to draw."""
    line = " / ".join(text.replace("`", "'").split("\n"))
    short = line if len(line) <= 60 else line[:59] + "…"
    return "`" + short.replace(":", ":\N{ZERO WIDTH SPACE}") + "`"


def attempt(
    t: Text, compute: Callable[..., T], /, *args: Any, said: set[str] | None = None, **options: Any
) -> T | None:
    """The result of a computation, or None and the reason on the page where the input has none.

    Parameters
    ----------
    said
        Reasons that stand on the page already; one of them is not said again.
    """
    try:
        return compute(*args, **options)
    except InputError as error:
        if said is None or str(error) not in said:
            complain(error, t)
        if said is not None:
            said.add(str(error))
        return None


def link_too_long(page: str, name: str, t: Text) -> None:
    """Say so when a text is too long to travel in the link."""
    if len(state.good(page, name)) > link.MAX_TEXT:
        field = t(link.knob(page, name).label)
        st.caption(t("{field} is too long for a link; the copied link leaves it out.", field=field))


def _prepare(page: str, name: str) -> str:
    """Session key of the control, holding a value before the widget is drawn."""
    key = state.key(page, name)
    knob = link.knob(page, name)
    st.session_state.setdefault(key, knob.default)
    if knob.kind == "choice" and st.session_state[key] not in knob.options:
        # A list's browser side answers with the label that it shows, in the language before the switch.
        labels = {Text(lang)(label): option for option, label in knob.options.items() for lang in LANGUAGES}
        st.session_state[key] = labels.get(st.session_state[key], knob.default)
    return key


def _label(knob: link.Knob, t: Text) -> Callable[[str], str]:
    return lambda option: t(knob.options[option])
