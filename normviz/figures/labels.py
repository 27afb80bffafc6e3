"""Where do names stand so that they cover neither an arrow nor each other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normviz.figures import theme

Array = npt.NDArray[np.float64]

# All lengths are CSS pixels; up is positive.
_LINE = 20.0  # height of a line of text
_SPACING = 6.0  # between the points that stand for a path
_CLEARANCE = 6.0  # half the width of a broad arrow, and a little air
_LETTERS = {"capital": 0.72, "square": 1.0, "other": 0.58}  # widths in units of the font size; Chinese is square

# Directions from a tip to the middle of its label, in halves of the label's size, and the air between the two.
_DIRECTIONS = np.array(
    [*((x / 4, y) for y in (1.0, -1.0) for x in range(-4, 5)), *((x, y / 2) for x in (1.0, -1.0) for y in (-1, 0, 1))]
)
_GAPS = np.array([5.0, 10.0, 16.0, 22.0, 30.0, 40.0])
_ROUNDS = 2

# What a place costs: another label or tip covered, an arrow between label and tip, a point of a path covered, each
# pixel out of the frame or away from the tip, and leading towards the origin.
_LABEL, _TIP, _BETWEEN, _POINT, _FRAME, _FAR, _INWARD = 400.0, 60.0, 150.0, 6.0, 8.0, 0.8, 5.0


@dataclass(frozen=True, kw_only=True)
class Path:
    """What a label should not cover: corners [n, 2], and how bad it is.

    An arrow, which has two corners, is 1, a line behind a word less, another word more.
    """

    corners: Array
    weight: float = 1.0


class Place(NamedTuple):
    """From a tip to the middle of its label, and the air between the two."""

    right: float
    up: float
    gap: float


def text_size(text: str) -> Array:
    """About how wide and high a text is at the figures' font size; `<br>` starts a line."""
    lines = text.split("<br>")
    return np.array([max(map(_width, lines)), _LINE * len(lines)])


def places(
    texts: Sequence[str], tips: Sequence[Array], paths: Sequence[Path], frame: tuple[Array, Array]
) -> list[Place]:
    """Where each text stands beside its tip.

    Each covers least of paths, tips and other labels, stays inside the frame and near its tip, and leads away from
    the origin.

    Parameters
    ----------
    texts, tips
        Each label, and where it belongs, shape [2].
    paths
        What is drawn.
    frame
        Lower left and upper right corner of the drawing.
    """
    marks = [_points(path.corners) for path in paths]
    points = np.concatenate(marks)
    weights = np.repeat([path.weight for path in paths], [len(mark) for mark in marks])
    arrows = [path.corners for path in paths if path.weight == 1]
    gaps = np.repeat(_GAPS, len(_DIRECTIONS))
    shifts, boxes, costs = [], [], []
    for text, tip in zip(texts, tips, strict=True):
        half = text_size(text) / 2
        shift = np.concatenate([_DIRECTIONS * (half + gap) for gap in _GAPS])
        low, high = tip + shift - half, tip + shift + half
        others = np.array([other for other in tips if other is not tip]).reshape(-1, 2)
        outside = (np.maximum(frame[0] - low, 0) + np.maximum(high - frame[1], 0)).sum(axis=1)
        away = shift / np.hypot(*shift.T)[:, None]
        costs.append(
            _POINT * (_inside(points, low - _CLEARANCE, high + _CLEARANCE) @ weights)
            + _TIP * _inside(others, low - 2 * _CLEARANCE, high + 2 * _CLEARANCE).sum(axis=1)
            + _BETWEEN * _crossed(tip + away * _SPACING, tip + shift, arrows)
            + _FRAME * outside
            + _FAR * gaps
            - _INWARD * (away @ tip) / (np.hypot(*tip) or 1.0)
        )
        shifts.append(shift)
        boxes.append((low, high))
    chosen = _settled(costs, boxes)
    return [
        Place(right=float(shift[best, 0]), up=float(shift[best, 1]), gap=float(gaps[best]))
        for shift, best in zip(shifts, chosen, strict=True)
    ]


def _settled(costs: list[Array], boxes: list[tuple[Array, Array]]) -> list[int]:
    """Each label's candidate: one label is placed after another, then each moves to where the others let it stand best.

    The outcome depends on who is first, so each label is once.
    """
    n = len(costs)
    found: list[tuple[float, list[int]]] = []
    for first in range(n):
        chosen: dict[int, int] = {}
        order = [*range(first, n), *range(first)]
        for one in order * _ROUNDS:
            cost, (low, high) = costs[one].copy(), boxes[one]
            for other, best in chosen.items():
                other_low, other_high = boxes[other][0][best], boxes[other][1][best]
                if other != one:
                    cost += _LABEL * ((low < other_high + 2) & (other_low < high + 2)).all(axis=1)
            chosen[one] = int(cost.argmin())
        found.append((_total(chosen, costs, boxes), [chosen[one] for one in range(n)]))
    return min(found)[1]


def _total(chosen: dict[int, int], costs: list[Array], boxes: list[tuple[Array, Array]]) -> float:
    low, high = (np.array([boxes[one][side][best] for one, best in chosen.items()]) for side in (0, 1))
    touching = ((low[:, None] < high + 2) & (low < high[:, None] + 2)).all(axis=-1)
    return float(sum(costs[one][best] for one, best in chosen.items()) + _LABEL * (touching.sum() - len(chosen)) / 2)


def _width(line: str) -> float:
    kinds = ("square" if ord(letter) > 0x2E7F else "capital" if letter.isupper() else "other" for letter in line)
    return theme.FONT_SIZE * sum(_LETTERS[kind] for kind in kinds)


def _points(corners: Array) -> Array:
    """Points along a path, evenly spaced."""
    way = np.append(0, np.hypot(*np.diff(corners, axis=0).T).cumsum())
    steps = np.arange(0, way[-1] + _SPACING, _SPACING)
    return np.stack([np.interp(steps, way, corners[:, 0]), np.interp(steps, way, corners[:, 1])], axis=1)


def _crossed(starts: Array, ends: Array, arrows: Sequence[Array]) -> npt.NDArray[np.bool_]:
    """Which segments cross an arrow: the ends of each lie on different sides of the other."""
    crossed = np.zeros(len(starts), dtype=np.bool_)
    for foot, head in arrows:
        sides = _side(foot, head, starts) * _side(foot, head, ends)
        crossed |= (sides < 0) & (_side(starts, ends, foot) * _side(starts, ends, head) < 0)
    return crossed


def _side(start: Array, end: Array, point: Array) -> Array:
    """Positive to the left of the way from start to end, negative to its right."""
    (along, up), (right, above) = (end - start).T, (point - start).T
    side: Array = along * above - up * right
    return side


def _inside(points: Array, low: Array, high: Array) -> npt.NDArray[np.bool_]:
    """Which points lie in which boxes, [boxes, points]."""
    (left, bottom), (right, top), (x, y) = low.T[..., None], high.T[..., None], points.T
    inside: npt.NDArray[np.bool_] = (left < x) & (x < right) & (bottom < y) & (y < top)
    return inside
