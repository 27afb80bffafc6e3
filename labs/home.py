"""Home: what do I want to find out?"""

import streamlit as st

import normviz as nv
from normviz.families import FAMILIES, KNOWN, norm_parameters
from normviz.floats import rounded
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("home", "intro", t)

chapter = nv.layer_norm([1, 2, 3, 4], eps=0)
far = nv.rms_norm([11, 12, 13, 14], eps=0)
gpt3 = KNOWN["gpt3"]
top, bottom, last = st.columns(2, gap="medium"), st.columns(2, gap="medium"), st.columns(3, gap="medium")

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

with last[0], st.container(border=True, height="stretch", key="nv_card_4"):
    lesson("home", "placements", t)
    st.caption(t("{n} model families, each compared with its own classes.", n=len(FAMILIES)))
    st.page_link("labs/placements.py", label=t("Open the placement lab"))

with last[1], st.container(border=True, height="stretch", key="nv_card_5"):
    lesson("home", "numerics", t)
    st.caption(t("In float16 the eps of BERT, 1e-12, is {eps}.", eps=f"{rounded(1e-12, 'float16').item():g}"))
    st.page_link("labs/numerics.py", label=t("Open the numerics lab"))

with last[2], st.container(border=True, height="stretch", key="nv_card_6"):
    lesson("home", "cost", t)
    count = norm_parameters(FAMILIES[gpt3.family], gpt3.sizes)
    st.caption(t("All {norms} norms of GPT-3: {n} parameters of 175 billion.", norms=count.norms, n=f"{count.total:,}"))
    st.page_link("labs/cost.py", label=t("Open the cost lab"))

lesson("home", "end", t)
