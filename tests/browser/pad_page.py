"""A page with one pad of each kind, for test_pad.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from normviz.text import Text
from normviz.ui.pad import affine_pad, gradient_pad, pad

st.set_page_config(layout="wide")
state = st.session_state
asked = st.query_params
t = Text(asked.get("lang", "en"))
mode = "dark" if st.context.theme.type == "dark" else "light"
kind = asked.get("kind", "vector")
eps = float(asked.get("eps", "1e-5"))

state.setdefault("x", np.array([float(part) for part in asked.get("x", "1,2,3,4").split(",")]))
if "d" in asked and "long" not in state:
    state.x = np.random.default_rng(int(asked["d"])).normal(1.5, 2.0, int(asked["d"]))
    state.long = True
state.setdefault("gradient", np.array([1.0, -2.0, 0.5, 0.0]))
state.setdefault("map", (1.0, 0.0))
weight = np.linspace(0.5, 2.0, state.x.size) if "weight" in asked else None
bias = np.linspace(-1.0, 1.0, state.x.size) if "weight" in asked else None


def released(value: dict[str, Any]) -> None:
    state.value = value
    if "x" in value:
        state.x = np.array(value["x"])
    elif "mean" in value:
        x = state.x
        state.x = value["mean"] + value["std"] / x.std() * (x - x.mean())
    elif "gradient" in value:
        state.gradient = np.array(value["gradient"])
    else:
        state.map = value["scale"], value["shift"]


state.runs = state.get("runs", 0) + 1
st.text(f"Runs {state.runs}")
if st.button("Preset"):
    state.x = np.array([4.0, -3.0, 2.0, -1.0])
eps = 10.0 if st.checkbox("Large eps") else eps
if kind == "live":

    @st.fragment(run_every=0.5)
    def live() -> None:
        state.tick = state.get("tick", 0) + 1
        pad(np.array([1.0, 2.0, 3.0, 4.0 + 0.1 * state.tick]), eps=eps, t=t, mode=mode, key="pad", released=released)
        st.text(f"Tick {state.tick}")

    live()
elif kind == "vector":
    pad(state.x, weight=weight, bias=bias, eps=eps, t=t, mode=mode, key="pad", released=released)
elif kind == "gradient":
    gradient_pad(state.x, state.gradient, weight=weight, eps=eps, t=t, mode=mode, key="pad", released=released)
else:
    affine_pad(state.x, *state.map, weight=weight, bias=bias, eps=eps, t=t, mode=mode, key="pad", released=released)
st.text(f"Value {state.get('value')}")
