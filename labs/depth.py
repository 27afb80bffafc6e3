"""Depth lab: where does the norm go, and what does that do to gradients and the residual stream as depth grows?"""

import streamlit as st

from normviz.link import parse_eps
from normviz.snippets import depth_script
from normviz.ui import depth, state
from normviz.ui.controls import control, text_control
from normviz.ui.depth.scripts import standalone_export
from normviz.ui.export import script_export
from normviz.ui.language import words
from normviz.ui.lesson import lesson

t = words()
lesson("depth", "intro", t)

first, second = st.columns(2, gap="large")
with first:
    depth.presets(t)
    control("depth", "depths", t)
    control("depth", "seeds", t)
with second:
    control("depth", "placements", t)
    control("depth", "norm", t)
    control("depth", "init", t)

with st.expander(t("More knobs: model, data, arithmetic")):
    columns = st.columns(3, gap="large")
    for column, names in zip(
        columns,
        (
            ("d_model", "n_heads", "ff", "activation", "wo"),
            ("batch", "seq_len", "attention", "qk_norm", "loss"),
            ("dtype", "device"),
        ),
        strict=True,
    ):
        with column:
            for name in names:
                control("depth", name, t)
    with columns[2]:
        text_control("depth", "eps", t, parse_eps)

config = depth.sweep_config(t)
depth.explain(config.placements, t)
depth.run_bar(config, t)

chosen = {"view": control("depth", "view", t)}
for column, name in zip(st.columns(4, gap="large"), depth.VIEW_KNOBS[chosen["view"]], strict=False):
    with column:
        chosen[name] = control("depth", name, t)

depth.live(chosen, t)

depth.upload(t)
shown, quantity = depth.shown_config(config), state.good("depth", "quantity")
script_export(depth_script(shown, quantity=quantity), "depth_lab", t)
standalone_export(shown, quantity, t)
