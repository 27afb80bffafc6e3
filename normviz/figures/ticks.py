"""Which numbers stand along an axis, few enough to be read?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from normviz.figures.words import number

MOST = 6
"""So many labels at most."""

# With fewer of the usual 1, 2 and 5 in each decade, evenly spaced values say more.
_FEWEST = 3
# Widths in px: of a digit, of the room between two labels, of an axis on a phone 390 px wide.
_LETTER = 8.5
_GAP = 8.0
_AXIS = 240.0
_MANTISSAS = ((1, 2, 5), (1, 3), (1,))


def log_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Two to `MOST` round values on the log axis from `low` to `high`, and their labels.

    Parameters
    ----------
    low, high
        Positive ends of the axis, `high` at least 1.3 times `low`.
    """
    values = next(values for values in _candidates(low, high) if len(values) <= MOST)
    if len(values) < _FEWEST:
        values = next(steps for steps in _steps(low, high) if len(steps) <= MOST)
    return values.tolist(), [number(value) for value in values]


def sparse(labels: Sequence[str], places: npt.NDArray[np.float64]) -> list[str]:
    """The labels that fit along an axis on a phone, the others empty: the last one, and the first ones where room is.

    Parameters
    ----------
    labels
        One for each place.
    places
        Where they stand, rising, in any unit.
    """
    length = max(float(np.ptp(places)), 1e-9)
    # Centre and half the width of each label, in units of the axis.
    half = [(len(label) * _LETTER + _GAP) / 2 / _AXIS for label in labels]
    middle = ((places - places[0]) / length).tolist()
    end = len(labels) - 1
    shown: list[str] = []
    free = -np.inf
    for place, label in enumerate(labels):
        ahead = np.inf if place == end else middle[end] - half[end]
        fits = place == end or (middle[place] - half[place] >= free and middle[place] + half[place] <= ahead)
        shown.append(label if fits else "")
        free = middle[place] + half[place] if fits else free
    return shown


def _candidates(low: float, high: float) -> Iterator[npt.NDArray[np.float64]]:
    """Round values within the axis, from many to few: 1-2-5 in each decade, 1-3, then ever sparser powers of ten."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    for mantissas in _MANTISSAS:
        yield _within([float(f"{m}e{power}") for power in range(first, last) for m in mantissas], low, high)
    for step in range(2, last - first + 2):
        powers = range(-(-first // step) * step, last, step)
        yield _within([float(f"1e{power}") for power in powers], low, high)


def _steps(low: float, high: float) -> Iterator[npt.NDArray[np.float64]]:
    """Multiples of a round step within the axis, from many to few."""
    power = int(np.floor(np.log10(high - low))) - 1
    for step in (float(f"{m}e{power + up}") for up in range(3) for m in _MANTISSAS[0]):
        yield step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)


def _within(values: list[float], low: float, high: float) -> npt.NDArray[np.float64]:
    found = np.array(values, dtype=np.float64)
    return found[(found >= low) & (found <= high)]
