"""A page with nothing but figures, for test_plot.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from normviz.figures.picture import Picture
from normviz.figures.theme import STILL
from normviz.text import Text
from normviz.ui.plot import plot

t = Text("en")
dark = st.context.theme.type == "dark"
ink, paper = ("#fafafa", "#0e1117") if dark else ("#31333f", "#ffffff")
base = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"color": ink, "size": 16, "family": "sans-serif"},
    "margin": {"l": 60, "r": 20, "t": 20, "b": 60},
    "meta": {"background": paper},
}
state = st.session_state
state.setdefault("clicks", [])


def line(shift: float, label: str = "shift") -> Picture:
    x = np.arange(300)
    y = np.sin(x / 30) + shift
    y[3], y[4] = np.nan, np.inf
    return Picture(
        name="line",
        title=f"A line lifted by {shift:g}",
        alt=f"A sine wave around {shift:g}.",
        spec={
            "data": [
                {"x": x, "y": y, "customdata": np.stack([x, x + 1], axis=1), "mode": "markers", "name": "points"},
                {"x": [0, 299], "y": [shift, shift], "mode": "lines", "name": "middle"},
            ],
            "layout": {**base, "xaxis": {"title": {"text": label}}, "showlegend": True, "dragmode": "zoom"},
        },
        table=pd.DataFrame({"x": x, "y": y, "名": ["a,b" if i % 2 else 'say "c"' for i in x]}),
    )


def layers(name: str, link: str | None) -> Picture:
    x = np.arange(9)
    return Picture(
        name=name,
        title=f"Layers of {name}",
        alt="A straight line.",
        spec={
            "data": [{"x": x, "y": x, "mode": "markers", "marker": {"size": 12}}],
            "layout": {**base, "meta": {**base["meta"], "link": link}, "dragmode": "zoom"},
        },
        table=pd.DataFrame({"x": x}),
    )


def blocks(shift: float) -> Picture:
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
    i = [0, 0, 4, 4, 0, 0, 2, 2, 0, 0, 1, 1]
    j = [1, 3, 6, 7, 4, 5, 3, 7, 2, 6, 5, 7]
    k = [3, 2, 7, 5, 5, 1, 7, 6, 6, 4, 7, 3]
    x, y, z = corners.T
    return Picture(
        name="blocks",
        title="A block",
        alt="One cube.",
        spec={
            "data": [
                {
                    "type": "mesh3d",
                    "x": x,
                    "y": y,
                    "z": z * (1 + shift),
                    "i": i,
                    "j": j,
                    "k": k,
                    "customdata": [[7, 8, 9]] * 8,
                    "intensity": z,
                    "showscale": False,
                }
            ],
            "layout": {
                **base,
                "meta": {**base["meta"], "tallest": 0.75},
                "scene": {"camera": {"eye": {"x": 1.4, "y": 1.4, "z": 0.8}}},
            },
        },
        table=pd.DataFrame({"x": x, "y": y, "z": z}),
    )


def still(shift: float) -> Picture:
    z = np.sin(np.arange(2400.0)).reshape(40, 60)
    cells = np.indices(z.shape).transpose(1, 2, 0)
    row = {"type": "rect", "x0": -0.5, "x1": 59.5, "y0": shift - 0.5, "y1": shift + 0.5, "line": {"color": ink}}
    return Picture(
        name="still",
        title=f"Row {shift:g}",
        alt=f"A frame around row {shift:g}.",
        spec={
            "data": [{"type": "heatmap", "z": z, "customdata": cells, "showscale": False, "meta": STILL}],
            "layout": {**base, "xaxis": {"range": [-0.5, 59.5]}, "yaxis": {"range": [-0.5, 39.5]}, "shapes": [row]},
        },
        table=pd.DataFrame({"z": z.ravel(), "place": np.arange(2400)}),
    )


def words(shift: float) -> Picture:
    typed = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\uff1d1", "a=b", None, "−1"]
    return replace(line(shift), table=pd.DataFrame({"x": np.arange(-5, 5), "word": typed}))


def clicked(point: list[int]) -> None:
    state.clicks = [*state.clicks, point]


which = st.query_params.get("figure", "line")
shift = float(st.slider("Shift", 0, 10, 0))
st.button("Again")
st.text(f"Runs {state.setdefault('runs', 0)}")
state.runs += 1
st.text(f"Clicks {state.clicks}")

if which == "live":

    @st.fragment(run_every=0.5)
    def live() -> None:
        state.tick = state.get("tick", 0) + 1
        plot(line(state.tick), key="live", t=t)
        st.text(f"Tick {state.tick}")

    live()
elif which == "many":
    for number in range(5):
        plot(blocks(number), key=f"blocks{number}", t=t, height=200)
elif which == "linked":
    for name, link in (("first", "layer"), ("second", "layer"), ("alone", None)):
        plot(layers(name, link), key=name, t=t, height=220)
elif which == "removed":
    if st.checkbox("Shown", value=True):
        plot(blocks(shift), key="blocks", t=t)
else:
    picture = {
        "line": line,
        "blocks": blocks,
        "still": still,
        "words": words,
        "math": lambda s: line(s, r"$\sqrt{d}\,\lVert x\rVert$"),
    }[which](shift)
    plot(picture, key="figure", t=t, on_click=clicked)
