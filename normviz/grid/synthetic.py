"""Which example batches have tokens that depend on each other, or channels that stand out?"""

from __future__ import annotations

import numpy as np

from normviz.arrays import finite_number
from normviz.errors import InputError
from normviz.grid.batches import Batch
from normviz.grid.batches import batch as padded_batch
from normviz.grid.padding import pad_lengths, sample_grid

SYNTHETIC: tuple[str, ...] = ("independent", "correlated", "outlier")
"""Ids of the kinds of example batches, in the order in which a page shows them."""

OUTLIER_SCALE = 20
"""How much larger an outlier channel is than the others, about as in the residual stream of a trained model."""

OUTLIER_EVERY = 16
"""One outlier channel in so many, the first of them channel d // 3."""


def synthetic_batch(
    kind: str,
    batch: int,
    tokens: int,
    d: int,
    *,
    seed: int = 0,
    rho: float = 0.5,
    padded: bool = False,
    pads: str = "zero",
) -> Batch:
    r"""Draw an example batch; every number has one decimal.

    - "independent": standard normal, as `sample_grid`;
    - "correlated": $\sqrt{1-\rho}\,e+\sqrt\rho\,u$ with standard normal e per cell and u per sequence and channel: two
      tokens of one sequence have correlation $\rho$;
    - "outlier": as "independent", and a few fixed channels are 20 times as large.

    Parameters
    ----------
    kind
        One of `SYNTHETIC`.
    batch, tokens, d, seed
        As in `sample_grid`.
    rho
        $\rho$ from 0 to 1, used by "correlated" alone.
    padded
        Whether the sequences have the lengths of `pad_lengths` rather than all `tokens`.
    pads
        As in `batch`.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    if kind not in SYNTHETIC:
        raise InputError("kind is one of {allowed}; got {value!r}.", allowed=", ".join(SYNTHETIC), value=kind)
    x = sample_grid(batch, tokens, d, seed=seed)
    if kind == "correlated":
        rho = finite_number(rho, "rho")
        if not 0 <= rho <= 1:
            raise InputError("rho is a correlation from 0 to 1; got {value:g}.", value=rho)
        draw = np.random.default_rng(seed)
        own, shared = draw.standard_normal((batch, tokens, d)), draw.standard_normal((batch, 1, d))
        x = (np.sqrt(1 - rho) * own + np.sqrt(rho) * shared).round(1) + 0.0
    elif kind == "outlier":
        scale = np.where(np.isin(np.arange(d), np.arange(d // 3, d, OUTLIER_EVERY)), OUTLIER_SCALE, 1)
        x = (x * scale).round(1) + 0.0
    lengths = pad_lengths(batch, tokens) if padded else (tokens,) * batch
    return padded_batch([row[:length] for row, length in zip(x, lengths, strict=True)], pads=pads, seed=seed)
