"""Which names stand at the tips of a plane's arrows, and where?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.labels import Path, places, text_size

Array = npt.NDArray[np.float64]

EQUAL = 1e-9
"""Points closer than this, in units of the figure's reach, are one."""

_NEAR = 0.13  # tips closer than this share one label, in the same units
_THIN = 0.05  # how bad it is that a thin line runs behind a word; an arrow is 1

# CSS pixels.
_LONGEST = 180  # line of a label
_SPILL = 12  # labels may leave the plot by so much
_LED = 15  # a label further than this from its tip has a line to it


def tip_labels(
    points: Mapping[str, Array],
    names: Mapping[str, str],
    *,
    reach: float,
    thin: Sequence[Array],
    frame: tuple[Array, Array],
    scale: float,
    mode: str,
) -> list[dict[str, Any]]:
    """Annotations with the names of the points; points in one place share one, joined by = where they are equal.

    Parameters
    ----------
    points, names
        The tips of arrows from the origin, and what they are called, by the same keys.
    reach
        Length of the longest arrow.
    thin
        Other lines of the drawing, shape [n, 2] each.
    frame
        Lower left and upper right corner of the plot.
    scale
        The fewest CSS pixels for a unit. With more, the lines only move away from the words.
    mode
        "light" or "dark".
    """
    groups = joined_names(points, names, reach=reach)
    texts = list(groups.values())
    tips = [points[name] for name in groups]
    paths = [Path(corners=np.array([np.zeros(2), point]) * scale) for point in points.values()]
    paths += [Path(corners=corners * scale, weight=_THIN) for corners in thin]
    low, high = frame
    found = places(texts, [tip * scale for tip in tips], paths, (low * scale - _SPILL, high * scale + _SPILL))
    return [
        {
            "text": text,
            "x": float(tip[0]),
            "y": float(tip[1]),
            "ax": place.right,
            "ay": -place.up,
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": theme.MUTED[mode] if place.gap > _LED else theme.CLEAR,
            "bgcolor": theme.fade(theme.BACKGROUND[mode], 0.7),
            "borderpad": 1,
        }
        for text, tip, place in zip(texts, tips, found, strict=True)
    ]


def joined_names(
    points: Mapping[str, Array], names: Mapping[str, str], *, reach: float, near: float = _NEAR
) -> dict[str, str]:
    """The text at each tip, by the key of its first point: the points near it share one, joined by = where equal.

    Parameters
    ----------
    points, names
        The tips of arrows from the origin in two or three dimensions, and what they are called, by the same keys.
    reach
        Length of the longest arrow.
    near
        Tips closer than this share one text, in units of `reach`.
    """
    groups: list[list[str]] = []
    for name in points:
        close = [group for group in groups if _gap(points, group[0], name) < near * reach]
        if close:
            close[0].append(name)
        else:
            groups.append([name])
    return {group[0]: _joined(group, points, names, reach) for group in groups}


def _joined(group: list[str], points: Mapping[str, Array], names: Mapping[str, str], reach: float) -> str:
    """The names of vectors that end in one place, on as many lines as a narrow figure needs."""
    lines = [names[group[0]]]
    for before, name in pairwise(group):
        joint = " = " if _gap(points, before, name) < EQUAL * reach else ", "
        if text_size(lines[-1] + joint + names[name])[0] > _LONGEST:
            lines[-1] += joint.rstrip()
            lines.append(names[name])
        else:
            lines[-1] += joint + names[name]
    return "<br>".join(lines) + " = 0" * bool(np.linalg.norm(points[group[0]]) < EQUAL * reach)


def _gap(points: Mapping[str, Array], first: str, second: str) -> float:
    return float(np.linalg.norm(points[first] - points[second]))
