"""How are the entries of a long vector distributed: how many lie where, and which values are its quantiles?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

SHARES: tuple[float, ...] = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""The quantiles that are shown, as shares of the entries."""

BINS = 60

# Each bin is cut so finely that only a few entries have to be put in order to find a quantile.
_FINE = 256
_MANY = 100_000


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """How the n entries of one vector are distributed.

    Attributes
    ----------
    ends
        The ends of the bins, rising, [BINS + 1]; from the smallest to the largest entry.
    counts
        How many entries lie in each bin, [BINS]. Every entry is counted.
    quantiles
        The values at `SHARES`, exact: between two entries in order, on the straight line that joins them.
    n
        How many entries there are.
    """

    ends: Array
    counts: Counts
    quantiles: Array
    n: int


def distribution(values: Array) -> Distribution:
    r"""Histogram and quantiles of all entries, in a few passes and without sorting them.

    Quantile $p$ lies at position $p(n-1)$ of the sorted entries, counted from 0 (`numpy.quantile`'s default). Fine bins
    keep the order of the entries, so that only the entries of the bins in which a quantile falls are sorted.

    Parameters
    ----------
    values
        One finite vector, shape [n] with n >= 1.
    """
    low, high = _span(values)
    place, fine = _cells(values, low, high)
    position = np.array(SHARES) * (values.size - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, values.size - 1)
    ranks = np.unique(np.concatenate([below, above]))
    entry = _entries(values, ranks, place, fine)
    lower, upper = entry[np.searchsorted(ranks, below)], entry[np.searchsorted(ranks, above)]
    return Distribution(
        ends=np.linspace(low, high, BINS + 1),
        counts=fine.reshape(BINS, _FINE).sum(axis=1),
        quantiles=lower + (upper - lower) * (position - below),
        n=values.size,
    )


def _cells(values: Array, low: float, high: float) -> tuple[npt.NDArray[np.intp], Counts]:
    """The fine bin of each entry, which never falls where the entry grows, and how many entries each bin has."""
    cells = BINS * _FINE
    scaled = values - low
    scaled /= high - low
    scaled *= np.nextafter(cells, 0)  # the largest entry belongs to the last bin
    place = scaled.astype(np.intp)
    return place, np.bincount(place, minlength=cells)


def _entries(values: Array, ranks: Counts, place: npt.NDArray[np.intp], fine: Counts) -> Array:
    """The entries at these ranks, rising and counted from 0, of the sorted values."""
    cell = np.searchsorted(fine.cumsum(), ranks, side="right")
    found = np.empty(ranks.size)
    # One far entry puts nearly all others into one bin, which is then cut up in its turn.
    crowded = fine[cell] > _MANY
    for one in np.unique(cell[crowded]):
        here = values[place == one]
        own = ranks[cell == one] - fine[:one].sum()
        low, high = float(here.min()), float(here.max())
        found[cell == one] = _entries(here, own, *_cells(here, low, high)) if low < high else low
    chosen = np.zeros(fine.size, dtype=np.bool_)
    chosen[cell[~crowded]] = True
    few = values[chosen[place]]
    # Among the few, a rank is less by the entries of the bins before it that were left out.
    own = (ranks - np.where(chosen, 0, fine).cumsum()[cell])[~crowded]
    few.partition(own)
    found[~crowded] = few[own]
    return found


def _span(values: Array) -> tuple[float, float]:
    """From the smallest to the largest value, widened where float64 has too few numbers between them for the bins."""
    low, high = float(values.min()), float(values.max())
    least = 1e-9 * max(abs(low), abs(high)) or 1.0
    return (low, high) if high - low > least else (low - least, high + least)
