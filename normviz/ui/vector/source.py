"""Which vector is it? Typed, drawn from a seed, out of a file, or from the list of presets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from normviz import link
from normviz.arrays import vectors
from normviz.errors import InputError
from normviz.link import parse_x
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import control, link_too_long, text_control
from normviz.ui.files import file_field, taken_out
from normviz.ui.table import LONGEST, vector_table
from normviz.vectors import (
    LARGEST_FILE,
    VECTORS,
    format_vector,
    hidden_state,
    parse_parameter,
    random_vector,
    read_vector_file,
)

PAGE = "vector"
OWN = "own"
"""What the list of presets shows where the controls are no preset's."""

_PRESET = "vector.preset"
_LENT = "vector.preset.eps"
_HELD = "vector.held"
_UPLOAD = "vector.upload"
_MIB = 2**20

Array = NDArray[np.float64]


class Source(NamedTuple):
    """The vector, and the name, length and seed it is drawn from, if it is."""

    x: Array
    origin: tuple[str, int, int] | None


def source(t: Text) -> Source:
    """Draw the controls that say which vector it is, and return it."""
    kind = control(PAGE, "source", t)
    if kind == "typed":
        x = text_control(PAGE, "x", t, parse_x, area=True)
        link_too_long(PAGE, "x", t)
        if x.size <= LONGEST:
            with st.expander(t("x as a table")):
                vector_table(x, t)
        return Source(x, None)
    if kind == "file":
        return Source(_file(t), None)
    length, seed = st.columns(2)
    with length:
        d = control(PAGE, "d", t)
    with seed:
        drawn = control(PAGE, "seed", t)
    return Source({"random": random_vector, "hidden": hidden_state}[kind](d, drawn), (kind, d, drawn))


def take(x: Array) -> None:
    """Make a vector that no control stands for the page's: as text while a table helps, else held by the session."""
    if x.size <= LONGEST:
        state.put(PAGE, "x", format_vector(x))
        state.put(PAGE, "source", "typed")
    else:
        st.session_state[_HELD] = x
        state.put(PAGE, "source", "file")
    state.act()


def _file(t: Text) -> Array:
    """Draw the field for a file, and return what it held; until there is one, the vector that was typed."""
    label = t("A vector as .npy, .csv or .txt, up to {limit} MiB", limit=LARGEST_FILE // _MIB)
    file_field(label, ["npy", "csv", "txt"], LARGEST_FILE, opened=_open, key=_UPLOAD, t=t)
    held: Array | None = st.session_state.get(_HELD)
    if held is None or taken_out(_UPLOAD):
        st.caption(t("No file is open on this page; shown is the typed vector. A file is not in the link."))
        return parse_x(state.good(PAGE, "x"))
    st.caption(t("{n} numbers, held by this page while it is open; the link leaves them out.", n=f"{held.size:,}"))
    return held


def _open(name: str, data: bytes) -> None:
    take(vectors(read_vector_file(name, data)))


def presets(t: Text) -> None:
    """Draw the list of presets with the chosen one's sentence; it shows the one that the controls are at."""
    current = next((name for name in VECTORS if _is_at(name)), OWN)
    st.session_state[_PRESET] = current
    labels = {name: t(entry.label) for name, entry in VECTORS.items()} | {OWN: t("your own vector")}
    st.selectbox(
        t("Start from"),
        [*VECTORS, *([OWN] if current == OWN else [])],
        format_func=labels.__getitem__,
        key=_PRESET,
        on_change=_choose,
    )
    if current != OWN:
        st.caption(t(VECTORS[current].sentence))


def _values(name: str) -> dict[str, Any]:
    """What the controls are where they stand for a preset."""
    entry = VECTORS[name]
    if entry.x is not None:
        return {"source": "typed", "x": entry.x}
    return {"source": entry.source, "d": entry.d, "seed": entry.seed}


def _is_at(name: str) -> bool:
    return all(state.good(PAGE, row) == value for row, value in _values(name).items())


def _choose() -> None:
    chosen = st.session_state[_PRESET]
    if chosen not in VECTORS:  # the list still answers with a label of the language before the switch
        return
    entry = VECTORS[chosen]
    for row, value in _values(chosen).items():
        state.put(PAGE, row, value)
    _choose_eps(entry.eps)
    for row in ("w", "b", "g"):
        _clear_unless_it_fits(row, entry.d)
    state.act()


def _clear_unless_it_fits(row: str, d: int) -> None:
    """Empty a field with one number per entry of a vector of another length."""
    try:
        parse_parameter(state.good(PAGE, row), d=d)
    except InputError:
        state.put(PAGE, row, link.knob(PAGE, row).default)


def _choose_eps(wanted: str | None) -> None:
    """Give eps the value that a preset needs, and take it back with the next preset; a person's own eps stays."""
    lent, eps = st.session_state.pop(_LENT, None), state.good(PAGE, "eps")
    if eps == lent:
        eps = link.knob(PAGE, "eps").default
        state.put(PAGE, "eps", eps)
    if wanted is not None and float(eps) == 0:
        state.put(PAGE, "eps", wanted)
        st.session_state[_LENT] = wanted
