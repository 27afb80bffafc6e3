"""A page with the diagrams of some placements and families, for test_diagram.py: `?show=post_norm,family:gemma2`."""

from __future__ import annotations

import streamlit as st

from normviz.families import FAMILIES
from normviz.figures.placements.variants import family_diagrams, placement_diagrams
from normviz.placements import PLACEMENTS
from normviz.text import Text
from normviz.ui.diagram import diagrams

st.set_page_config(layout="wide")
asked = st.query_params
t = Text(asked.get("lang", "en"))
mode = "dark" if st.context.theme.type == "dark" else "light"
chosen = asked.get("show", "post_norm,pre_norm").split(",")
if st.button("Other"):
    chosen = ["b2t"]
if st.button("Again"):
    st.text("Ran again")
drawn = [
    one
    for name in chosen
    for one in (
        family_diagrams(FAMILIES[name.removeprefix("family:")], t=t, mode=mode)
        if name.startswith("family:")
        else placement_diagrams(PLACEMENTS[name], t=t, mode=mode)
    )
]
diagrams(drawn, key="diagrams", t=t, mode=mode)
