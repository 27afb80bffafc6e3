"""Vector lab: what do LayerNorm and RMSNorm do to this one vector?"""

from functools import partial

import streamlit as st

import normviz as nv
from normviz.figures.vector import bars_picture, plane_picture, triangle_picture
from normviz.link import parse_eps, parse_x
from normviz.snippets import LISTED, vector_script
from normviz.steps import layer_norm_steps, rms_norm_steps
from normviz.ui.controls import attempt, link_too_long, text_control
from normviz.ui.export import script_export
from normviz.ui.language import mode, words
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.ui.steps import show_steps
from normviz.ui.table import LONGEST, vector_table
from normviz.vectors import parse_parameter

t = words()
lesson("vector", "intro", t)
entry, picture = st.columns([2, 3], gap="large")

with entry:
    x = text_control("vector", "x", t, parse_x, area=True)
    link_too_long("vector", "x", t)
    fields = st.columns(3)
    with fields[0]:
        eps = text_control("vector", "eps", t, parse_eps)
    with fields[1]:
        weight = text_control("vector", "w", t, partial(parse_parameter, d=x.size), placeholder="1")
    with fields[2]:
        bias = text_control("vector", "b", t, partial(parse_parameter, d=x.size), placeholder="0")
    if x.size <= LONGEST:
        vector_table(x, t)
    else:
        st.caption(t("{n} entries: too many for a table.", n=f"{x.size:,}"))

layer = attempt(t, nv.layer_norm, x, weight=weight, bias=bias, eps=eps)
rms = attempt(t, nv.rms_norm, x, weight=weight, eps=eps)

with picture:
    if (plane := attempt(t, nv.plane, x, eps=eps)) is not None:
        plot(plane_picture(plane, t=t, mode=mode()), key="vector.plane", t=t)
    lesson("vector", "plane", t)

columns = st.columns(2, gap="large")
with columns[0]:
    st.header("LayerNorm")
    show_steps(layer and layer_norm_steps(layer), t, key="layer_norm")
with columns[1]:
    st.header("RMSNorm")
    show_steps(rms and rms_norm_steps(rms), t, key="rms_norm")

columns = st.columns(2, gap="large")
with columns[0]:
    if (triangle := attempt(t, nv.triangle, x)) is not None:
        plot(triangle_picture(triangle, t=t, mode=mode()), key="vector.triangle", t=t)
    lesson("vector", "triangle", t)
with columns[1]:
    plot(bars_picture(layer, rms, t=t, mode=mode()), key="vector.bars", t=t)
    lesson("vector", "entries", t)

script_export(
    vector_script(x, weight=weight, bias=bias, eps=eps), "vector_lab", t, vector=x if x.size > LISTED else None
)
