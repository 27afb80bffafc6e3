"""How are arrows, circles, a plane and a sphere drawn in space, and where do they stand in a narrow figure?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme

Array = npt.NDArray[np.float64]

_SIDES = 20  # of the cone that stands for an arrow's head
_SLIM = 0.34  # half the width of a head, in units of its length
_MERIDIANS = 3  # great circles through both poles
_STEPS = 72  # around a circle

# Rounds of scaling and centring, each a little better; the points' extent in the scene is searched from the least by up
# to so large a factor, halving the logarithm of what is left.
_ROUNDS, _HALVINGS = 4, 10
_LEAST, _MOST = 0.3, 10.0

# Tangent of half the camera's field of view, which is plotly's.
_VIEW = float(np.tan(np.pi / 8))


@dataclass(frozen=True, kw_only=True)
class Camera:
    """Where the camera stands, in units of the scene; it looks at the scene's middle, the third axis upwards."""

    eye: Array

    @property
    def screen(self) -> Array:
        """What leads right and up by half the figure's height, at the distance of the scene's middle, [2, 3]."""
        forward = -self.eye / np.linalg.norm(self.eye)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        half = float(np.linalg.norm(self.eye)) * _VIEW
        return half * np.stack([right, np.cross(right, forward)])

    def flat(self, points: Array) -> Array:
        """Where points of the box [n, 3] appear, in units of half the figure's height, right and up, [n, 2]."""
        distance = float(np.linalg.norm(self.eye))
        half = distance * _VIEW
        # A point nearer than the middle looks larger.
        depth = 1 - points @ self.eye / distance**2
        flat: Array = points @ self.screen.T / half**2 / depth[:, None]
        return flat


def line(points: Array, color: str, width: float, **more: Any) -> dict[str, Any]:
    """A line through points [n, 3]; `more` replaces or adds entries."""
    return {
        "type": "scatter3d",
        "mode": "lines",
        **_columns(points),
        "line": {"color": color, "width": width},
        "hoverinfo": "skip",
        "showlegend": False,
        **more,
    }


def arrow(tip: Array, color: str, width: float, *, head: float, name: str, hover: str) -> list[dict[str, Any]]:
    """An arrow from the origin: a line, and a cone of length `head`; a mark where it has no length to point with."""
    length = float(np.linalg.norm(tip))
    told = {"name": name, "hovertemplate": hover, "hoverinfo": "all"}
    if length < head / 4:
        marker = {"symbol": "circle", "size": 5, "color": color}
        return [line(tip[None], color, width, mode="markers", marker=marker, **told)]
    head = min(head, 0.8 * length)
    along = tip / length
    foot = tip - head * along
    # Points on the way answer a pointer; only the ends would with two.
    shaft = np.linspace(np.zeros(3), foot, 9)
    return [line(shaft, color, width, **told), _cone(tip, foot, along, _SLIM * head, color)]


def _cone(tip: Array, foot: Array, along: Array, radius: float, color: str) -> dict[str, Any]:
    side, other = across(along)
    angle = np.linspace(0, 2 * np.pi, _SIDES, endpoint=False)[:, None]
    rim = foot + radius * (np.cos(angle) * side + np.sin(angle) * other)
    here = np.arange(_SIDES)
    after = (here + 1) % _SIDES
    ends = np.repeat([_SIDES, _SIDES + 1], _SIDES)
    return {
        "type": "mesh3d",
        **_columns(np.concatenate([rim, [tip, foot]])),
        **dict(zip("ijk", (np.tile(here, 2), np.tile(after, 2), ends), strict=True)),
        "color": color,
        "lighting": {"ambient": 0.85, "diffuse": 0.35, "specular": 0.02},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def square(corners: Array, color: str, opacity: float) -> dict[str, Any]:
    """A translucent parallelogram with these corners [4, 3], going round."""
    return {
        "type": "mesh3d",
        **_columns(corners),
        "i": [0, 0],
        "j": [1, 2],
        "k": [2, 3],
        "color": color,
        "opacity": opacity,
        "lighting": {"ambient": 1.0, "diffuse": 0.0, "specular": 0.0},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def sphere(pole: Array, radius: float) -> Array:
    """One line along the sphere's meridians, with `pole` its unit axis, [n, 3]; the equator is left to the caller."""
    side, other = across(pole)
    angle = np.linspace(0, 2 * np.pi, _STEPS + 1)[:, None]
    turns = np.pi * np.arange(_MERIDIANS) / _MERIDIANS
    return radius * np.concatenate(
        [np.cos(angle) * pole + np.sin(angle) * (np.cos(turn) * side + np.sin(turn) * other) for turn in turns]
    )


def across(along: Array) -> tuple[Array, Array]:
    """Two unit vectors perpendicular to a unit vector and to each other."""
    side = np.cross(along, np.eye(3)[int(np.abs(along).argmin())])
    side /= np.linalg.norm(side)
    return side, np.cross(along, side)


def fitted(points: Array, camera: Camera, figure: Array, room: float) -> tuple[Array, float]:
    """What lies in the middle of the picture and how large a unit is, so that the points fill a figure.

    Parameters
    ----------
    points
        What has to be seen, [n, 3].
    camera
        Where it is seen from.
    figure, room
        Width and height in CSS pixels, and how many to leave free on each side.

    Returns
    -------
    middle, zoom
        The middle of the scene in the points' units, [3], and how much of the scene one such unit takes.
    """
    middle: Array = (points.min(axis=0) + points.max(axis=0)) / 2
    size = float(np.ptp(points, axis=0).max()) or 1.0
    limit = (figure - 2 * room) / figure[1]
    for _ in range(_ROUNDS):
        best = _LEAST / size
        for step in _MOST ** (0.5 ** np.arange(1, _HALVINGS)):
            if (np.abs(camera.flat((points - middle) * best * step)) <= limit).all():
                best *= float(step)
        seen = camera.flat((points - middle) * best)
        middle = middle + (seen.min(axis=0) + seen.max(axis=0)) / 2 @ camera.screen / best
    return middle, best


def scene(camera: Camera, points: Array, middle: Array, zoom: float, notes: list[dict[str, Any]]) -> dict[str, Any]:
    """A scene without walls that holds the points, with equal units along its three axes."""
    # Plotly cuts off what lies outside the axes.
    half = 1.02 * float(np.abs(points - middle).max())
    axes = {
        f"{name}axis": {"visible": False, "showspikes": False, "range": [float(place - half), float(place + half)]}
        for name, place in zip("xyz", middle, strict=True)
    }
    return {
        "camera": {
            "eye": dict(zip("xyz", camera.eye.tolist(), strict=True)),
            "center": dict.fromkeys("xyz", 0.0),
            "up": {"x": 0.0, "y": 0.0, "z": 1.0},
        },
        "aspectmode": "manual",
        "aspectratio": dict.fromkeys("xyz", 2 * half * zoom),
        "annotations": notes,
        **axes,
    }


def note(text: str, tip: Array, right: float, up: float, color: str, mode: str) -> dict[str, Any]:
    """A word beside a point, so many CSS pixels to its right and above."""
    return {
        "text": text,
        **dict(zip("xyz", map(float, tip), strict=True)),
        "ax": right,
        "ay": -up,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": theme.fade(theme.MUTED[mode], 0.6),
        "font": {"color": color, "size": theme.FONT_SIZE - 1},
        "bgcolor": theme.fade(theme.BACKGROUND[mode], 0.7),
        "borderpad": 1,
    }


def _columns(points: Array) -> dict[str, Array]:
    return dict(zip("xyz", (column.copy() for column in points.T), strict=True))
