"""How do mean, standard deviation and RMS of one vector belong together?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Triangle

# In units of the hypotenuse: a square smaller than this has its label outside, which takes so much room.
_ROOMY = 0.6
_LABEL = np.array([0.68, 0.38])
_AIR = np.array([0.06, 0.06])


def triangle_picture(triangle: Triangle, *, t: Text, mode: str) -> Picture:
    r"""RMS^2 = variance + mean^2 as Pythagoras: mean and standard deviation are the legs, RMS the hypotenuse.

    Parameters
    ----------
    triangle
        From `normviz.triangle`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    m, s, r = abs(triangle.mean), triangle.std, triangle.rms
    squares = {name: number(value, 5) for name, value in (("rms", r * r), ("variance", s * s), ("mean", m * m))}
    equation = t("RMS² = variance + mean²: {rms} = {variance} + {mean}", **squares)
    unit = r or 1.0
    neutral, layer, root = theme.MUTED[mode], theme.NORM_COLORS[mode]["layer_norm"], theme.NORM_COLORS[mode]["rms_norm"]
    # Corners of each side's square, going round, and where its label stands.
    sides = (
        (t("mean²"), squares["mean"], neutral, [(0, 0), (m, 0), (m, -m), (0, -m)], m, "bottom center", (m / 2, -m)),
        (t("variance"), squares["variance"], layer, [(m, 0), (m + s, 0), (m + s, s), (m, s)], s,
         "middle right" if r else "top right", (m + s, s / 2)),
        (t("RMS²"), squares["rms"], root, [(0, 0), (m, s), (m - s, s + m), (-s, m)], r, "top left", (0.0, 0.0)),
    )  # fmt: skip
    traces = []
    for name, value, color, corners, side, position, beside in sides:
        traces.append(_outline([*corners, corners[0]], color, 0.16))
        x, y = np.mean(corners, axis=0) if side >= _ROOMY * unit else beside
        place = "middle center" if side >= _ROOMY * unit else position
        traces.append(_label(x, y, f"{name}<br><b>{value}</b>", place))
    traces.append(_outline([(0, 0), (m, 0), (m, s), (0, 0)], theme.INK[mode], 0.0))
    if min(m, s) > 0.12 * unit:
        c = 0.07 * unit
        traces.append(
            {
                **_outline([(m - c, 0), (m - c, c), (m, c)], theme.INK[mode], 0.0),
                "line": {"color": theme.INK[mode], "width": 1.5},
            }
        )
    low, high = np.array([-s, -m]), np.array([m + s, s + m])
    small = np.array([r, m, s, r]) < _ROOMY * unit  # left, below, right, above
    low -= unit * np.where(small[:2], _LABEL, _AIR)
    high += unit * np.where(small[2:], _LABEL, _AIR)
    width, height = map(float, high - low)
    hidden = {"visible": False, "fixedrange": True}
    layout = theme.layout(
        mode,
        tallest=height / width,
        height=400,
        margin=dict.fromkeys("lrtb", 8),
        xaxis={**hidden, "range": [float(low[0]), float(high[0])]},
        yaxis={**hidden, "range": [float(low[1]), float(high[1])], "scaleanchor": "x", "scaleratio": 1},
        showlegend=False,
    )
    sides_said = t(
        "A right triangle with legs |mean| = {mean} and standard deviation = {std}; its hypotenuse is RMS = {rms}.",
        mean=number(m, 4),
        std=number(s, 4),
        rms=number(r, 4),
    )
    return Picture(
        name="normviz-triangle",
        title=equation,
        alt=paragraph(t, [sides_said, t("{equation}.", equation=equation)]),
        spec={"data": traces, "layout": layout},
        table=pd.DataFrame(
            {
                t("quantity"): [t("mean"), t("standard deviation"), "RMS"],
                t("value"): [triangle.mean, s, r],
                t("square"): [m * m, s * s, r * r],
            }
        ),
    )


def _outline(corners: list[tuple[float, float]], color: str, opacity: float) -> dict[str, Any]:
    x, y = np.array(corners, dtype=np.float64).T
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x.copy(),
        "y": y.copy(),
        "fill": "toself" if opacity else "none",
        "fillcolor": theme.fade(color, opacity),
        "line": {"color": color, "width": theme.LINE_WIDTH},
        "hoverinfo": "skip",
    }


def _label(x: float, y: float, text: str, position: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [float(x)],
        "y": [float(y)],
        "text": [text],
        "textposition": position,
        "marker": {"size": 12, "opacity": 0},  # keeps a label beside a square off its edge
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
