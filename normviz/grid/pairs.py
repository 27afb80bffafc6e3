"""Which tokens does a norm bring together: how far are they from each other before and after it?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import Floats, frozen, whole_number
from normviz.errors import InputError
from normviz.grid.batches import Batch
from normviz.grid.statistics import normalize_grid


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Distances of pairs of tokens.

    Attributes
    ----------
    first, second
        (sequence, token) of two different real tokens, int64 [n, 2]; the first comes before the second.
    before, layer_norm, rms_norm
        Their Euclidean distance as they are and after each norm, shape [n]; NaN where a norm has no value for one of
        them, which at eps 0 is a token of equal numbers, or of zeros for RMSNorm.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    before: Floats
    layer_norm: Floats
    rms_norm: Floats


def pairs(
    batch: Batch,
    *,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    most: int = 500,
) -> Pairs:
    """Distances between the real tokens of a batch before and after LayerNorm and RMSNorm.

    Parameters
    ----------
    batch
        With at least two real tokens.
    weight, bias, eps
        As in `normalize_grid`; the bias moves both tokens of a pair alike, and RMSNorm has none.
    most
        Up to so many pairs; if there are more, a choice that is always the same.

    Raises
    ------
    InputError
        If there are fewer than two real tokens, `most` is below 1, or as `normalize_grid`.
    """
    most = whole_number(most, "most", 1)
    places = np.argwhere(batch.mask)
    n = len(places)
    if n < 2:
        raise InputError("A pair is two real tokens; got {n}.", n=n)
    total = n * (n - 1) // 2
    chosen = np.arange(total) if total <= most else np.sort(np.random.default_rng(0).choice(total, most, replace=False))
    # Pairs are numbered row by row: token i with the n - 1 - i that follow it.
    row_starts = np.cumsum(np.arange(n - 1, 0, -1)) - np.arange(n - 1, 0, -1)
    i = np.searchsorted(row_starts, chosen, side="right") - 1
    j = i + 1 + chosen - row_starts[i]

    tokens = batch.x[batch.mask]
    flat = (tokens == tokens[:, :1]).all(axis=1) if eps == 0 else np.zeros(n, dtype=np.bool_)

    def distances(axis: str, undefined: NDArray[np.bool_], bias: ArrayLike | None = None) -> Floats:
        output = np.full(tokens.shape, np.nan)
        if not undefined.all():
            defined = tokens[~undefined][None]
            output[~undefined] = normalize_grid(defined, axis, weight=weight, bias=bias, eps=eps).output[0]
        return frozen(np.linalg.norm(output[i] - output[j], axis=1))

    return Pairs(
        first=frozen(places[i]),
        second=frozen(places[j]),
        before=frozen(np.linalg.norm(tokens[i] - tokens[j], axis=1)),
        layer_norm=distances("layer_norm", flat, bias),
        rms_norm=distances("rms_norm", flat & (tokens[:, 0] == 0)),
    )
