"""Who shares a statistic? The grid as blocks and as a table, one cell's arithmetic, the counts of each norm."""

from __future__ import annotations

from math import prod
from typing import Any

import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from normviz.errors import InputError
from normviz.figures.axes import blocks_picture, table_picture
from normviz.grid import Batch, CellTrace, GridTrace, cell, normalize_grid
from normviz.link import AXIS_OPTIONS, parse_cell
from normviz.snippets import torch_line
from normviz.steps import cell_steps
from normviz.text import N_, Text
from normviz.ui import state
from normviz.ui.axes.data import PAGE, data
from normviz.ui.controls import attempt, complain, control
from normviz.ui.language import chosen as chosen_language
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.ui.quoted import quoted, sentence_of
from normviz.ui.steps import show_steps

EPS = 1e-5

SHARED_OVER = {
    "layer_norm": N_("all channels of one token"),
    "rms_norm": N_("all channels of one token"),
    "batch_norm": N_("all tokens of all sequences, one channel"),
    "instance_norm": N_("all tokens of one sequence, one channel"),
    "group_norm": N_("all tokens of one sequence, one group of channels"),
    "everything": N_("all channels of all tokens of all sequences"),
}

_PLACES = {"b": N_("Sequence"), "token": N_("Token"), "c": N_("Channel")}


def grid(t: Text) -> dict[str, Any]:
    """Draw the grid under one norm, and return what a script needs to compute it."""
    left, right = st.columns(2, gap="large")
    with left:
        given = data(t)
    made = given.batch
    with right:
        norm = control(PAGE, "norm", t)
        groups = _usable_groups(made.x.shape[-1], norm == "group_norm", t)
        with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
            values = control(PAGE, "values", t)
            masked = control(PAGE, "masked", t) if made.pad_share else False
        line = torch_line(norm, made.x.shape, groups=groups, eps=EPS, masked=masked)
        st.code(line, language="python", wrap_lines=True)
        lesson(PAGE, f"line_{norm}", t)
    mask = made.mask if masked else None
    trace = attempt(t, normalize_grid, made.x, norm, groups=_of(norm, groups), eps=EPS, mask=mask)
    if trace is not None:
        _cell(trace, made, values, t)
    st.header(t("How many statistics?"))
    _count_table(made.x, groups, t)
    lesson(PAGE, "counts", t)
    return given.spec | {"norm": norm, "groups": groups, "masked": masked, "cell": _inside(made)}


@st.fragment
def _cell(trace: GridTrace, made: Batch, values: str, t: Text) -> None:
    """Draw what a click on a cell changes: a part of its own, so that the rest of the page need not be drawn again."""
    if state.whole_page_due():
        st.rerun()
    chosen = _selected(made, t)
    _figures(trace, made, chosen, values, t)
    st.header(t("Cell: sequence {b}, token {t}, channel {c}", b=chosen[0] + 1, t=chosen[1] + 1, c=chosen[2] + 1))
    _arithmetic(cell(trace, *chosen), made, t)
    state.leave_from_part(PAGE, chosen_language())


def _figures(trace: GridTrace, made: Batch, chosen: tuple[int, int, int], values: str, t: Text) -> None:
    common: dict[str, Any] = {"selected": chosen, "values": values, "words": made.words, "t": t, "mode": mode()}
    blocks, table = st.columns(2, gap="large")
    with blocks:
        plot(blocks_picture(trace, **common), key="axes.blocks", t=t, on_click=_picked)
    with table:
        mask = made.mask if made.pad_share else None
        plot(table_picture(trace, mask=mask, **common), key="axes.table", t=t, on_click=_picked)


def _picked(index: list[int] | None) -> None:
    """Make a clicked cell the selected one."""
    if index:
        state.put(PAGE, "cell", ".".join(map(str, index)))
        # The scripts below name the cell.
        (state.act_on_all if st.session_state.get("axes.scripts") else state.act)()


def _selected(made: Batch, t: Text) -> tuple[int, int, int]:
    """Draw the selected cell's place, which can be typed as well as clicked, and return it, moved into the grid."""
    b, token, c = _inside(made)
    with st.container(horizontal=True, gap="small"):
        for name, place, size in zip(_PLACES, (b, token, c), made.x.shape, strict=True):
            key = f"axes.cell.{name}"
            st.session_state[key] = place + 1
            st.number_input(t(_PLACES[name]), min_value=1, max_value=size, key=key, on_change=_typed, width=112)
    if (b, token, c) != parse_cell(state.good(PAGE, "cell")):
        st.caption(t("The selected cell lies outside the grid now; its nearest neighbour is shown."))
    return b, token, c


def _inside(made: Batch) -> tuple[int, int, int]:
    """The selected cell, or the nearest one that the grid has."""
    index = parse_cell(state.good(PAGE, "cell"))
    b, token, c = (min(place, size - 1) for place, size in zip(index, made.x.shape, strict=True))
    return b, token, c


def _typed() -> None:
    _picked([st.session_state[f"axes.cell.{name}"] - 1 for name in _PLACES])


def _arithmetic(found: CellTrace, made: Batch, t: Text) -> None:
    """The statistic of one cell with its numbers, and what becomes of the cell."""
    b, token, _ = found.index
    if made.words is not None and made.mask[b, token]:
        st.markdown(t("The token is the word {word}.", word=f"“{quoted(made.words[b][token])}”"))
    if found.count:
        st.markdown(t("Cells that share its statistic: {n} of {total}.", n=found.count, total=made.x.size))
    show_steps(cell_steps(found, eps=EPS), t, key="cell")


def _of(norm: str, groups: int) -> int:
    """The groups where the norm has some."""
    return groups if norm == "group_norm" else 1


def _usable_groups(d: int, asked: bool, t: Text) -> int:
    """The number of groups if it divides d; else the largest smaller one that does, said on the page if asked for."""
    groups: int = control(PAGE, "groups", t) if asked else state.value(PAGE, "groups")
    usable = next(n for n in range(min(groups, d), 0, -1) if d % n == 0)
    if usable == groups or not asked:
        return usable
    error = InputError(N_("Groups: {groups} does not divide the {d} channels."), groups=groups, d=d)
    complain(error, t, kept=str(usable))
    return usable


def _count_table(x: NDArray[Any], groups: int, t: Text) -> None:
    """How many statistics each norm has for this grid, over what, and its weight and bias."""
    rows = []
    for axis, name in AXIS_OPTIONS.items():
        try:
            trace = normalize_grid(x, axis, groups=_of(axis, groups))
        except InputError as error:
            rows.append([t(name), "—", sentence_of(error, t), "—", "—"])
            continue
        each = t("RMS") if trace.mean is None else t("mean, std")
        shapes = [trace.parameter_shape, *([trace.bias_shape] if trace.bias_shape else [])]
        names = (t("weight {shape}", shape=_shape(trace.parameter_shape)), t("bias {shape}", shape=_shape(shapes[-1])))
        count = f"{sum(map(prod, shapes)):,}" + (" †" if axis == "instance_norm" else "")
        rows.append(
            [t(name), f"{trace.n_statistics} × ({each})", t(SHARED_OVER[axis]), ", ".join(names[: len(shapes)]), count]
        )
    heads = [t("Norm"), t("Statistics"), t("Taken over"), t("Weight and bias"), t("Parameters")]
    st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
    st.caption(t("† With affine=True; without it PyTorch's InstanceNorm has none. GroupNorm: {n} groups.", n=groups))


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"
