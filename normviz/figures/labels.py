"""Where do names stand so that they cover neither an arrow nor each other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normviz.figures import theme

Array = npt.NDArray[np.float64]

# All lengths are CSS pixels; up is positive.
_LINE = 20.0  # height of a line of text
_SPACING = 3.0  # between the points that stand for a path
_CLEARANCE = 6.0  # half the width of a broad arrow, and a little air
_LETTERS = {"capital": 0.72, "square": 1.0, "other": 0.58}  # widths in units of the font size; Chinese is square

# Directions from a tip to the middle of its label, in halves of the label's size, and the air between the two.
_DIRECTIONS = np.array(
    [*((x / 4, y) for y in (1.0, -1.0) for x in range(-4, 5)), *((x, y / 2) for x in (1.0, -1.0) for y in (-1, 0, 1))]
)
_GAPS = np.array([5.0, 10.0, 16.0, 22.0, 30.0, 40.0])
_SWEEPS = 4

# What a place costs: another label or tip covered, an arrow between label and tip, a point of a path covered, each pixel
# out of the frame or away from the tip, and leading towards the origin.
_LABEL, _TIP, _BETWEEN, _POINT, _FRAME, _FAR, _INWARD = 400.0, 60.0, 150.0, 6.0, 8.0, 0.8, 5.0


@dataclass(frozen=True, kw_only=True)
class Path:
    """What a label should not cover: corners [n, 2], and how bad it is; 1 is an arrow, less a line behind a word."""

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


def places(texts: Sequence[str], tips: Sequence[Array], paths: Sequence[Path], frame: tuple[Array, Array]) -> list[Place]:
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
    arrows = [path.corners for path in paths if path.weight >= 1]
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
    return [Place(*map(float, shift[best]), float(gaps[best])) for shift, best in zip(shifts, chosen, strict=True)]


def _settled(costs: list[Array], boxes: list[tuple[Array, Array]]) -> list[int]:
    """Each label's candidate, after every label has moved in turn to where the others let it stand best."""
    clash = {
        (one, other): _LABEL * _overlap(boxes[one], boxes[other]) for one, other in permutations(range(len(costs)), 2)
    }
    chosen = [int(cost.argmin()) for cost in costs]
    for _ in range(_SWEEPS):
        for one, cost in enumerate(costs):
            taken = sum((clash[one, other][:, chosen[other]] for other in range(len(costs)) if other != one), cost)
            chosen[one] = int(taken.argmin())
    return chosen


def _overlap(one: tuple[Array, Array], other: tuple[Array, Array]) -> npt.NDArray[np.bool_]:
    """Which boxes of one label touch which of another, [candidates, candidates]."""
    apart = (one[0][:, None] >= other[1][None] + 2) | (other[0][None] >= one[1][:, None] + 2)
    touching: npt.NDArray[np.bool_] = ~apart.any(axis=-1)
    return touching


def _width(line: str) -> float:
    kinds = ("square" if ord(letter) > 0x2E7F else "capital" if letter.isupper() else "other" for letter in line)
    return theme.FONT_SIZE * sum(_LETTERS[kind] for kind in kinds)


def _points(corners: Array) -> Array:
    """Points along a path, evenly spaced."""
    steps = np.diff(corners, axis=0)
    counts = np.ceil(np.hypot(*steps.T) / _SPACING).astype(np.intp) + 1
    return np.concatenate(
        [start + np.linspace(0, 1, n)[:, None] * step for start, step, n in zip(corners, steps, counts, strict=False)]
    )


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
    inside: npt.NDArray[np.bool_] = ((low[:, None] < points) & (points < high[:, None])).all(axis=-1)
    return inside
