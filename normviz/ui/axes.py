"""What does the axes lab need from the session: the selected cell, a usable number of groups, the table of counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from normviz.errors import InputError
from normviz.grid import normalize_grid
from normviz.link import AXIS_OPTIONS, parse_cell
from normviz.text import N_, Text
from normviz.ui import state
from normviz.ui.controls import complain
from normviz.ui.quoted import sentence_of

SHARED_OVER = {
    "layer_norm": N_("all channels of one token"),
    "rms_norm": N_("all channels of one token"),
    "batch_norm": N_("all tokens of all sequences, one channel"),
    "instance_norm": N_("all tokens of one sequence, one channel"),
    "group_norm": N_("all tokens of one sequence, one group of channels"),
}


def picked(cell: list[int] | None) -> None:
    """Make a clicked cell the selected one."""
    if cell:
        state.put("axes", "cell", ".".join(str(index) for index in cell))
        state.act()


def selected_cell(batch: int, tokens: int, d: int, t: Text) -> tuple[int, int, int]:
    """The selected cell, moved into the grid with a word about it when the grid has become too small for it."""
    b, token, c = parse_cell(state.value("axes", "cell"))
    inside = (min(b, batch - 1), min(token, tokens - 1), min(c, d - 1))
    if inside != (b, token, c):
        st.caption(t("The selected cell lies outside the grid now; its nearest neighbour is shown."))
    return inside


def usable_groups(groups: int, d: int, t: Text) -> int:
    """The number of groups if it divides d; else the largest smaller one that does, said on the page."""
    if d % groups == 0:
        return groups
    usable = next(n for n in range(min(groups, d), 0, -1) if d % n == 0)
    error = InputError(N_("Groups: {groups} does not divide the {d} channels."), groups=groups, d=d)
    complain(error, t, kept=str(usable))
    return usable


def count_table(x: NDArray[np.float64], groups: int, t: Text) -> None:
    """Draw how many statistics each norm has for this grid, over what, and the shapes of weight and bias."""
    rows = []
    for axis, name in AXIS_OPTIONS.items():
        try:
            trace = normalize_grid(x, axis, groups=groups if axis == "group_norm" else 1)
        except InputError as error:
            rows.append([t(name), "—", sentence_of(error, t), "—"])
            continue
        each = t("RMS") if trace.mean is None else t("mean, std")
        shapes = t("weight {shape}", shape=_shape(trace.parameter_shape))
        if trace.bias_shape is not None:
            shapes += ", " + t("bias {shape}", shape=_shape(trace.bias_shape))
        rows.append([t(name), f"{trace.n_statistics} × ({each})", t(SHARED_OVER[axis]), shapes])
    heads = [t("Norm"), t("Statistics"), t("Taken over"), t("Parameters")]
    st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(str(size) for size in shape)}]"
