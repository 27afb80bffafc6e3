"""Where do x, its mean part, LN(x) and RMSNorm(x) lie in the plane spanned by 1 and x?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.tips import EQUAL, tip_labels
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Plane

Array = npt.NDArray[np.float64]

# In units of the figure's reach.
_CORNER = 0.07  # side of the right angle's mark
_ROOM = 0.12  # around the drawing, in units of its width
_FLATTEST, _TALLEST = 0.6, 1.05  # least height of what is drawn, largest of the figure, in units of the width

# CSS pixels. Plotly chooses equal scales before it makes room for an axis, so the room is there from the start.
_MARGIN = {"l": 68, "r": 14, "t": 24, "b": 58}
_NARROW = 320  # width of the figure that it is laid out for: a phone, or a narrow column
_BEFORE, _AFTER = 8, 3  # line widths in px: x and its parts are broad and pale, the normalized vectors thin and strong


def plane_picture(plane: Plane, *, t: Text, mode: str) -> Picture:
    r"""The plane span{1, x} to scale: x, its mean and centred parts, LN(x), RMSNorm(x), the circle of radius sqrt(d).

    Parameters
    ----------
    plane
        From `normviz.plane`.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        A normalized vector that is undefined is left out, and the picture says so.
    """
    names = {
        "x": "x",
        "mean_part": t("mean part"),
        "centered": t("centred part"),
        "layer_norm": "LN(x)",
        "rms_norm": "RMSNorm(x)",
    }
    points = {name: point for name in names if (point := getattr(plane, name)) is not None}
    reach = max(plane.radius, *(float(np.hypot(*point)) for point in points.values()))
    low, high = _frame(plane, points)
    tallest, scale = _fitted(high - low)
    x, y = plane.x
    thin = [_arc(plane), np.array([(x, 0), (x, y), (0, y)]), np.array([(low[0], 0), (high[0], 0)])]
    labels = tip_labels(points, names, reach=reach, thin=thin, frame=(low, high), scale=scale, mode=mode)
    missing = [t("{name} is undefined here.", name=names[name]) for name in names if name not in points]
    layout = theme.layout(
        mode,
        tallest=tallest,
        height=460,
        margin=_MARGIN,
        xaxis=_axis(mode, t("along 1: √d · mean"), [low[0], high[0]]),
        yaxis=_axis(mode, t("across 1: √d · std"), [low[1], high[1]], scaleanchor="x", scaleratio=1),
        shapes=_right_angle(plane, reach, mode),
        annotations=[*_note(missing), *labels],
        showlegend=False,
    )
    return Picture(
        name="normviz-plane",
        title=t(
            "The plane through 1 and x, to scale; vectors on the circle have RMS 1 and length √d = {radius}",
            radius=number(plane.radius),
        ),
        alt=paragraph(t, [_story(plane, t), *missing]),
        spec={
            "data": [_circle(plane, t, mode), *_arrows(points, names, reach, t, mode)],
            "layout": layout,
        },
        table=pd.DataFrame(
            {
                t("vector"): [names[name] for name in points],
                t("along 1"): [point[0] for point in points.values()],
                t("across 1"): [point[1] for point in points.values()],
                t("L2 norm"): [np.hypot(*point) for point in points.values()],
            }
        ),
    )


def _frame(plane: Plane, points: dict[str, Array]) -> tuple[Array, Array]:
    """Lower left and upper right corner of the plot."""
    corners = np.array([(-plane.radius, -plane.radius), (plane.radius, plane.radius), *points.values()])
    low, high = corners.min(axis=0), corners.max(axis=0)
    room = _ROOM * (high[0] - low[0])
    low, high = low - room, high + room
    width, height = high - low
    more = np.array([0.0, max(0.0, _FLATTEST * width - height) / 2])
    return low - more, high + more


def _fitted(size: Array) -> tuple[float, float]:
    """The figure's height in widths that leaves no room to spare, and a unit's CSS pixels in a narrow figure."""
    beside, below = _MARGIN["l"] + _MARGIN["r"], _MARGIN["t"] + _MARGIN["b"]
    width, height = map(float, size)
    tallest = min(_TALLEST, ((_NARROW - beside) * height / width + below) / _NARROW)
    return tallest, min((_NARROW - beside) / width, (tallest * _NARROW - below) / height)


def _axis(mode: str, title: str, ends: list[float], **more: Any) -> dict[str, Any]:
    return theme.axis(mode, title, range=ends, zeroline=True, zerolinecolor=theme.MUTED[mode], zerolinewidth=1, **more)


def _arc(plane: Plane) -> Array:
    angle = np.linspace(0, 2 * np.pi, 181)
    return plane.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _circle(plane: Plane, t: Text, mode: str) -> dict[str, Any]:
    x, y = _arc(plane).T
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x.copy(),
        "y": y.copy(),
        "line": {"color": theme.MUTED[mode], "width": 1.5},
        "hovertemplate": t("every vector here has RMS 1") + "<extra></extra>",
    }


def _arrows(points: dict[str, Array], names: dict[str, str], reach: float, t: Text, mode: str) -> list[dict[str, Any]]:
    ink, layer, rms = theme.INK[mode], theme.NORM_COLORS[mode]["layer_norm"], theme.NORM_COLORS[mode]["rms_norm"]
    styles = {
        "mean_part": (theme.fade(theme.MUTED[mode], 0.55), _BEFORE),
        "centered": (theme.fade(layer, 0.35), _BEFORE),
        "x": (theme.fade(ink, 0.5), _BEFORE),
        "layer_norm": (layer, _AFTER),
        "rms_norm": (rms, _AFTER),
    }
    traces = []
    for name, (color, width) in styles.items():
        if name not in points:
            continue
        point = points[name]
        length = t("L2 norm {length}", length=number(float(np.hypot(*point)), 5))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": names[name],
                "x": np.array([0.0, point[0]]),
                "y": np.array([0.0, point[1]]),
                "line": {"color": color, "width": width},
                "marker": {
                    # An arrow of no length has no direction.
                    "symbol": ["circle", "arrow" if np.hypot(*point) > EQUAL * reach else "circle"],
                    "angleref": "previous",
                    "size": [0, 24 if width == _BEFORE else 17],
                    "color": color,
                    "opacity": 1,
                    "line": {"width": 0},
                },
                "hovertemplate": f"<b>{names[name]}</b><br>(%{{x:.4~g}}, %{{y:.4~g}})<br>{length}<extra></extra>",
            }
        )
    return traces


def _note(missing: list[str]) -> list[dict[str, Any]]:
    if not missing:
        return []
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": 0, "xanchor": "left", "yanchor": "bottom"}
    return [{**place, "text": "<br>".join(missing), "align": "left", "showarrow": False}]


def _right_angle(plane: Plane, reach: float, mode: str) -> list[dict[str, Any]]:
    """The other sides of the rectangle that x and its two parts span, and the mark of its right angle."""
    x, y = map(float, plane.x)
    if min(abs(x), y) < _CORNER * reach:
        return []
    line = {"color": theme.MUTED[mode], "width": 1}
    corner = _CORNER * reach * np.sign(x)
    sides = [(x, 0, x, y), (0, y, x, y)]
    mark = [(x - corner, 0, x - corner, abs(corner)), (x - corner, abs(corner), x, abs(corner))]
    return [
        {"type": "line", **dict(zip(("x0", "y0", "x1", "y1"), map(float, ends), strict=True)), "line": line}
        for ends in (*sides, *mark)
    ]


def _story(plane: Plane, t: Text) -> str:
    def length(point: Array | None) -> str:
        return "" if point is None else number(float(np.hypot(*point)))

    sentences = [
        t(
            "x has L2 norm {x}; its mean part, along the direction of equal entries, has {mean}, "
            "its centred part {rest}.",
            x=length(plane.x),
            mean=length(plane.mean_part),
            rest=length(plane.centered),
        )
    ]
    if plane.layer_norm is not None:
        said = t("LN(x) points along the centred part and has L2 norm {length}.", length=length(plane.layer_norm))
        sentences.append(said)
    if plane.rms_norm is not None:
        sentences.append(t("RMSNorm(x) points along x and has L2 norm {length}.", length=length(plane.rms_norm)))
    return paragraph(t, sentences)
