"""Axes lab: along which axis of [B, T, d] does a norm take its statistics?"""

import streamlit as st

from normviz.figures.axes import blocks_picture, padding_picture, table_picture
from normviz.grid import cell, normalize_grid, pad_lengths, pad_mask, padding_shift, sample_grid
from normviz.snippets import axes_script
from normviz.steps import cell_steps
from normviz.ui.axes import count_table, picked, selected_cell, usable_groups
from normviz.ui.controls import attempt, control
from normviz.ui.export import script_export
from normviz.ui.language import mode, words
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.ui.steps import show_steps

EPS = 1e-5
t = words()
lesson("axes", "intro", t)

norm = control("axes", "norm", t)
sizes = st.columns(4, gap="medium")
with sizes[0]:
    batch = control("axes", "batch", t)
with sizes[1]:
    tokens = control("axes", "tokens", t)
with sizes[2]:
    d = control("axes", "d", t)
with sizes[3]:
    seed = control("axes", "seed", t)
with st.container(horizontal=True, gap="large"):
    padded = control("axes", "pad", t)
    masked = control("axes", "masked", t, disabled=not padded)
groups = usable_groups(control("axes", "groups", t), d, t) if norm == "group_norm" else 1

x = sample_grid(batch, tokens, d, seed=seed)
real = pad_mask(batch, tokens, pad_lengths(batch, tokens)) if padded else None
if real is not None:
    x = x * real[..., None]
trace = attempt(t, normalize_grid, x, norm, groups=groups, eps=EPS, mask=real if masked else None)
chosen = selected_cell(batch, tokens, d, t)

if trace is not None:
    blocks, table = st.columns(2, gap="large")
    with blocks:
        plot(blocks_picture(trace, selected=chosen, t=t, mode=mode()), key="axes.blocks", t=t, on_click=picked)
    with table:
        plot(table_picture(trace, selected=chosen, mask=real, t=t, mode=mode()), key="axes.table", t=t, on_click=picked)

arithmetic, counts = st.columns(2, gap="large")
with arithmetic:
    st.header(t("Cell: sequence {b}, token {t}, channel {c}", b=chosen[0] + 1, t=chosen[1] + 1, c=chosen[2] + 1))
    show_steps(trace and cell_steps(cell(trace, *chosen), eps=EPS), t, key="cell")
with counts:
    st.header(t("How many statistics?"))
    count_table(x, groups, t)
    lesson("axes", "counts", t)

st.header(t("Padding"))
if real is None:
    lesson("axes", "no_padding", t)
else:
    lesson("axes", "padding", t)
    still = attempt(t, padding_shift, x, real, "layer_norm", eps=EPS)
    moved = attempt(t, padding_shift, x, real, "batch_norm", eps=EPS)
    if still is not None and moved is not None:
        plot(padding_picture(still, moved, t=t, mode=mode()), key="axes.padding", t=t)

script_export(
    axes_script(norm, batch, tokens, d, seed=seed, groups=groups, pad=padded, masked=masked, cell=chosen), "axes_lab", t
)
