"""What is in a grid that is too large to be shown, and which part of it is shown?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, frozen, whole_number
from normviz.grid.statistics import check_grid_shape, grid_array

OUTLIER_RATIO = 6
"""A channel stands out when its root mean square is more than this many times that of the median channel."""


@dataclass(frozen=True, kw_only=True)
class GridSummary:
    """A grid in a few numbers.

    Attributes
    ----------
    shape
        [B, T, d].
    mean, std, smallest, largest
        Over all cells; the standard deviation is biased.
    outliers
        Channels whose root mean square is more than 6 times that of the median channel.
    """

    shape: tuple[int, int, int]
    mean: float
    std: float
    smallest: float
    largest: float
    outliers: tuple[int, ...]


def summary(x: ArrayLike) -> GridSummary:
    """What a person wants to know about a grid before looking at a part of it.

    Raises
    ------
    InputError
        If x is no grid [B, T, d] of finite numbers.
    """
    grid = grid_array(x)
    batch, tokens, d = grid.shape
    rms = np.sqrt((grid**2).mean(axis=(0, 1)))
    return GridSummary(
        shape=(batch, tokens, d),
        mean=float(grid.mean()),
        std=float(grid.std()),
        smallest=float(grid.min()),
        largest=float(grid.max()),
        outliers=tuple(np.flatnonzero(rms > OUTLIER_RATIO * np.median(rms)).tolist()),
    )


def window(x: ArrayLike, b: int, t: int, c: int, *, sizes: tuple[int, int, int] = (8, 32, 64)) -> Floats:
    """The part of a grid that is shown, up to `sizes` cells long along each axis.

    Parameters
    ----------
    x
        Shape [B, T, d].
    b, t, c
        Where the part starts, from 0; moved back where it would reach over the end.
    sizes
        At most so many sequences, tokens and channels, each at least 1.

    Returns
    -------
    read-only array of float64

    Raises
    ------
    InputError
        If x is no grid, a start is negative or a size below 1.
    """
    given = np.asarray(x)
    check_grid_shape(given.shape)
    part = []
    for field, start, size, length in zip("btc", (b, t, c), sizes, given.shape, strict=True):
        size = min(whole_number(size, "sizes", 1), length)
        start = min(whole_number(start, field, 0), length - size)
        part.append(slice(start, start + size))
    # Only what is shown is read and checked: the grid may be large, and a page asks often.
    return frozen(grid_array(given[tuple(part)]))
