"""Where do many random vectors lie before and after LayerNorm and RMSNorm?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Cloud

Array = npt.NDArray[np.float64]

_MARGIN = {"l": 68, "r": 14, "t": 14, "b": 112}
_ROOM = 0.06  # around the points, in units of the drawing's width
_FLATTEST, _TALLEST = 0.6, 1.15  # of what is drawn, in units of the width
_NARROW = 320  # px; the width for which the figure is laid out
_SIZE = 6  # px; the marks lie on top of each other where a norm puts all vectors in one place


def cloud_picture(cloud: Cloud, *, t: Text, mode: str) -> Picture:
    r"""Each random vector, its LN and its RMSNorm as points (sqrt(d) mean, sqrt(d) std), to scale.

    Each vector has its own half-plane span{1, x}; they are drawn on top of each other. Lengths and the angle with 1 are
    those in d dimensions.

    Parameters
    ----------
    cloud
        From `normviz.cloud`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    kinds = groups(cloud, t)
    radius = float(np.sqrt(cloud.d))
    angle = np.linspace(0, np.pi, 121)
    arc = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    low, high = _frame(np.concatenate([arc, *kinds.values()]))
    width, height = map(float, high - low)
    drawn = _NARROW - _MARGIN["l"] - _MARGIN["r"]
    layout = theme.layout(
        mode,
        tallest=min(_TALLEST, (drawn * height / width + _MARGIN["t"] + _MARGIN["b"]) / _NARROW),
        height=480,
        margin=_MARGIN,
        xaxis=_axis(mode, t("along 1: √d · mean"), low[0], high[0]),
        yaxis=_axis(mode, t("across 1: √d · std"), low[1], high[1], scaleanchor="x", scaleratio=1),
        showlegend=True,
    )
    circle = {
        "type": "scatter",
        "mode": "lines",
        "x": arc[:, 0].copy(),
        "y": arc[:, 1].copy(),
        "line": {"color": theme.MUTED[mode], "width": 1.5},
        "hovertemplate": t("every vector here has RMS 1") + "<extra></extra>",
        "showlegend": False,
    }
    marks = [_marks(name, points, style) for (name, points), style in zip(kinds.items(), styles(mode), strict=True)]
    marks = [marks[0], marks[2], marks[1]]  # LN's one point is drawn over the many of RMSNorm
    title = t(
        "{n} random vectors with {d} entries, each in its own plane through 1: LN keeps one point, RMSNorm the circle",
        n=cloud.n,
        d=cloud.d,
    )
    if cloud.eps > 0:
        title = t(
            "{n} random vectors with {d} entries, each in its own plane through 1, before and after the norms",
            n=cloud.n,
            d=cloud.d,
        )
    return Picture(
        name="normviz-cloud",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told(cloud, t)]),
        spec={"data": [circle, *marks], "layout": layout},
        table=pd.concat(
            [
                pd.DataFrame(
                    {
                        t("vector"): name,
                        t("number"): np.arange(1, cloud.n + 1),
                        t("along 1"): points[:, 0],
                        t("across 1"): points[:, 1],
                        t("L2 norm"): np.hypot(*points.T),
                    }
                )
                for name, points in kinds.items()
            ],
            ignore_index=True,
        ),
    )


def groups(cloud: Cloud, t: Text) -> dict[str, Array]:
    """The three groups of points by their names."""
    return {t("random x"): cloud.before, t("their LN(x)"): cloud.layer_norm, t("their RMSNorm(x)"): cloud.rms_norm}


def styles(mode: str) -> list[tuple[str, str]]:
    """Symbol and colour of each group."""
    colors = theme.NORM_COLORS[mode]
    norms = [(theme.SYMBOLS[norm], colors[norm]) for norm in ("layer_norm", "rms_norm")]
    return [("x", theme.mix(theme.INK[mode], theme.BACKGROUND[mode], 0.3)), *norms]


def told(cloud: Cloud, t: Text) -> list[str]:
    """The lengths of each group, from the shortest to the longest."""
    said = []
    for name, points in groups(cloud, t).items():
        length = np.hypot(*points.T)
        ends = {"low": number(float(length.min())), "high": number(float(length.max()))}
        said.append(t("{name}: {n} points, L2 norm from {low} to {high}.", name=name, n=cloud.n, **ends))
    return said


def _frame(points: Array) -> tuple[Array, Array]:
    low, high = points.min(axis=0), points.max(axis=0)
    room = _ROOM * max(high[0] - low[0], high[1] - low[1])
    low, high = low - room, high + room
    width, height = high - low
    # Neither flat nor narrow.
    beside, above = max(0.0, height - width) / 2, max(0.0, _FLATTEST * width - height)
    # No standard deviation lies below 0.
    return low - np.array([beside, 0.0]), high + np.array([beside, above])


def _axis(mode: str, title: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    ends = [float(low), float(high)]
    zero = {"zeroline": True, "zerolinecolor": theme.MUTED[mode], "zerolinewidth": 1}
    return theme.axis(mode, title, range=ends, nticks=7, **zero, **more)


def _marks(name: str, points: Array, style: tuple[str, str]) -> dict[str, Any]:
    symbol, color = style
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": points[:, 0].copy(),
        "y": points[:, 1].copy(),
        "marker": {
            "symbol": symbol,
            "size": _SIZE + 3 if symbol == theme.SYMBOLS["layer_norm"] else _SIZE,
            "color": color,
            "opacity": 0.7,
        },
        "hovertemplate": f"<b>{name}</b> (%{{x:.4~g}}, %{{y:.4~g}})<extra></extra>",
    }
