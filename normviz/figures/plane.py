"""Where do x, its mean part, LN(x) and RMSNorm(x) lie in the plane spanned by 1 and x?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Plane

Array = npt.NDArray[np.float64]

# In units of the figure's reach.
_NEAR = 0.13  # tips closer than this share one label
_EQUAL = 1e-9
_CORNER = 0.07  # side of the right angle's mark
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
    across, along = plane.radius, (-plane.radius, plane.radius)
    for point in points.values():
        across, along = max(across, point[1]), (min(along[0], point[0]), max(along[1], point[0]))
    missing = [t("{name} is undefined here.", name=names[name]) for name in names if name not in points]
    layout = theme.layout(
        mode,
        height=460,
        xaxis=_axis(mode, t("along 1: √d · mean"), [along[0] - 0.45 * reach, along[1] + 0.45 * reach]),
        yaxis=_axis(mode, t("across 1: √d · std"), [-0.3 * reach, across + 0.2 * reach], scaleanchor="x", scaleratio=1),
        shapes=_right_angle(plane, reach, mode),
        showlegend=False,
    )
    if missing:
        note = {
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "top",
            "showarrow": False,
        }
        layout["annotations"] = [{**note, "text": "<br>".join(missing), "align": "left"}]
    return Picture(
        name="plane",
        title=t(
            "The plane through 1 and x, to scale; vectors on the circle have RMS 1 and length √d = {radius}",
            radius=number(plane.radius),
        ),
        alt=paragraph(t, [_story(plane, t), *missing]),
        spec={
            "data": [_circle(plane, t, mode), *_arrows(points, names, reach, t, mode), _labels(points, names, reach)],
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


def _axis(mode: str, title: str, ends: list[float], **more: Any) -> dict[str, Any]:
    return theme.axis(mode, title, range=ends, zeroline=True, zerolinecolor=theme.MUTED[mode], zerolinewidth=1, **more)


def _circle(plane: Plane, t: Text, mode: str) -> dict[str, Any]:
    angle = np.linspace(0, 2 * np.pi, 181)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": plane.radius * np.cos(angle),
        "y": plane.radius * np.sin(angle),
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
                    "symbol": ["circle", "arrow" if np.hypot(*point) > _EQUAL * reach else "circle"],
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


def _labels(points: dict[str, Array], names: dict[str, str], reach: float) -> dict[str, Any]:
    """The names at the tips; tips in one place share a label, joined by = where the vectors are equal."""
    outward, inward = ("right", "left") if points["x"][0] >= 0 else ("left", "right")
    places = {
        "x": f"top {outward}",
        "mean_part": "bottom center",
        "centered": "top center",
        "layer_norm": f"middle {inward}",
        "rms_norm": f"bottom {outward}",
    }
    groups: list[list[str]] = []
    for name in points:
        near = [group for group in groups if _gap(points, group[0], name) < _NEAR * reach]
        if near:
            near[0].append(name)
        else:
            groups.append([name])
    texts, anchors = [], []
    for group in groups:
        text = names[group[0]]
        for before, name in pairwise(group):
            equal = _gap(points, before, name) < _EQUAL * reach
            text += (" = " if equal else ", ") + names[name]
        anchor = f"top {inward}" if group[:2] == ["x", "mean_part"] else places[group[0]]
        if np.hypot(*points[group[0]]) < _EQUAL * reach:
            text, anchor = f"{text} = 0", f"bottom {inward}"
        texts.append(f" {text} ")
        anchors.append(anchor)
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": np.array([points[group[0]][0] for group in groups]),
        "y": np.array([points[group[0]][1] for group in groups]),
        "text": texts,
        "textposition": anchors,
        "marker": {"size": 12, "opacity": 0},  # keeps the words off the arrow's head
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _gap(points: dict[str, Array], first: str, second: str) -> float:
    return float(np.hypot(*(points[first] - points[second])))


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
