"""Vector lab: what do LayerNorm and RMSNorm do to this one vector?"""

import streamlit as st

from normviz.ui import vector
from normviz.ui.controls import control
from normviz.ui.language import mode, words
from normviz.ui.lesson import lesson
from normviz.ui.pad import pad

t = words()
lesson("vector", "intro", t)
start, entry, rest = st.columns([3, 4, 4], gap="medium")
with entry:
    x, origin = vector.source(t)
with start:
    vector.presets(t)
with rest:
    eps = vector.epsilon(t)
    with st.expander(t("Weight and bias")):
        stored, bias, offset = vector.parameters(x.size, t, complaints=rest)

given = vector.Given(x=x, origin=origin, stored=stored, offset=offset, bias=bias, eps=eps)
pad(x, weight=given.weight, bias=bias, eps=eps, t=t, mode=mode(), key="vector.pad", released=given.dragged)
lesson("vector", "pad", t)

view = control("vector", "view", t)
vector.draw(view, given, t)
vector.export(view, given, t)
