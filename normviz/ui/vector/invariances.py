"""What does a norm not see? One vector scaled and shifted, and the paper's table computed anew."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from normviz.figures import vector as figures
from normviz.figures.words import number
from normviz.invariances import CHANGE_LABELS, CHANGES, NORM_LABELS, NORM_ROWS, Cell, affine, invariance_table
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.pad import BARS, affine_pad
from normviz.ui.plot import plot
from normviz.ui.vector.given import Given
from normviz.ui.vector.source import PAGE


def invariances(given: Given, t: Text) -> None:
    """Draw a x + b with both outputs, and the table of what each norm is invariant to."""
    lesson(PAGE, "invariances", t)
    given.defined(t)
    scale, shift = state.value(PAGE, "scale"), state.value(PAGE, "shift")
    common: dict[str, Any] = {"weight": given.weight, "bias": given.bias, "eps": given.eps}
    affine_pad(given.x, scale, shift, **common, t=t, mode=mode(), key="vector.affine", released=_moved)
    if given.x.size > BARS and (found := given.attempt(t, affine, given.x, scale, shift, **common)) is not None:
        plot(figures.affine_picture(found, t=t, mode=mode()), key="vector.affine.picture", t=t)
    _table(t)


def _moved(told: dict[str, Any]) -> None:
    for name in ("scale", "shift"):
        state.put(PAGE, name, told[name])
    state.act()


def _table(t: Text) -> None:
    """The table of the RMSNorm paper, each cell with the difference that was measured now."""
    st.header(t("What each norm does not see"))
    lesson(PAGE, "table", t)
    factor = control(PAGE, "factor", t)
    cells = invariance_table(factor=float(factor))
    found = {(cell.norm, cell.change): _mark(cell) for cell in cells}
    rows = [[t(CHANGE_LABELS[change]), *(found[norm, change] for norm in NORM_ROWS)] for change in CHANGES]
    heads = [t("Change"), *(NORM_LABELS[norm] for norm in NORM_ROWS)]
    with st.container(key="nv_invariances"):
        st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
    lesson(PAGE, "table_how", t)


def _mark(cell: Cell) -> str:
    """One cell: unchanged, sign flipped or changed, and the largest change of the output in units of its RMS."""
    return f"{'✓' if cell.invariant else '±' if cell.flipped else '✗'} {number(cell.difference, 2)}"
