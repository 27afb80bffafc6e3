"""Home: what do I want to find out?"""

import streamlit as st

import normviz as nv
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("home", "intro", t)

chapter = nv.layer_norm([1, 2, 3, 4], eps=0)
far = nv.rms_norm([11, 12, 13, 14], eps=0)
top, bottom = st.columns(2, gap="medium"), st.columns(2, gap="medium")

with top[0], st.container(border=True, height="stretch", key="nv_card_0"):
    lesson("home", "axes", t)
    st.caption(
        t("B = 8 sequences, T = 128 tokens, d = 768 channels: {rows} means or {columns}.", rows=8 * 128, columns=768)
    )
    st.page_link("labs/axes.py", label=t("Open the axes lab"), query_params={"norm": "batch_norm"})

with top[1], st.container(border=True, height="stretch", key="nv_card_1"):
    lesson("home", "vector", t)
    st.caption(t("LayerNorm of 1, 2, 3, 4: {output}", output=", ".join(f"{value:.4f}" for value in chapter.output)))
    st.page_link("labs/vector.py", label=t("Open the vector lab"))

with bottom[0], st.container(border=True, height="stretch", key="nv_card_2"):
    lesson("home", "depth", t)
    st.caption(
        t(
            "The first view trains nothing and fakes nothing: {n} real models, 2 to 32 layers.",
            n=len(nv.SweepConfig().keys()),
        )
    )
    st.page_link("labs/depth.py", label=t("Open the depth lab"))

with bottom[1], st.container(border=True, height="stretch", key="nv_card_3"):
    lesson("home", "rms", t)
    st.caption(t("RMSNorm of 11, 12, 13, 14: {output}", output=", ".join(f"{value:.4f}" for value in far.output)))
    st.page_link("labs/vector.py", label=t("See it on a vector far from zero"), query_params={"x": "11, 12, 13, 14"})

lesson("home", "end", t)
