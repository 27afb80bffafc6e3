"""Which directions are perpendicular to each other, also where squares would leave float64?"""

from __future__ import annotations

import numpy as np

from normviz.arrays import Floats

# Entries at once, so that a million of them need no further arrays of their size (fresh memory costs more than sums).
BLOCK = 1 << 15


def length(vector: Floats) -> float:
    """L2 norm of one vector."""
    near_one, exponent = scaled(vector)
    return float(np.ldexp(np.sqrt(near_one @ near_one), exponent))


def unit(vector: Floats) -> Floats:
    """The vector divided by its L2 norm, which is not 0."""
    direction, _ = scaled(vector)
    direction /= np.sqrt(direction @ direction)
    return direction


def scaled(vector: Floats) -> tuple[Floats, int]:
    """The vector over a power of two that leaves its largest entry between 0.5 and 1, and that power's exponent."""
    exponent = int(np.frexp(max(vector.max(), -vector.min()))[1])
    near_one: Floats = np.ldexp(vector, -exponent)
    return near_one, exponent


def rest(vector: Floats, frame: Floats) -> Floats:
    """What of a vector lies outside the span of the frame's rows, which are orthonormal; it replaces the vector."""
    # Twice: the first difference still holds the rounding of the part that was taken away.
    for _ in range(2):
        parts = frame @ vector
        for start in range(0, vector.size, BLOCK):
            block = slice(start, start + BLOCK)
            vector[block] -= parts @ frame[:, block]
    return vector


def share(part: Floats, whole: Floats) -> float:
    """The share (0 to 1) of the whole's squared length that the part holds; 0 where the whole is zero."""
    return min(1.0, (length(part) / length(whole)) ** 2) if whole.any() else 0.0
