"""Which tokens of a grid are pads, and how far do pads move the output of the real ones?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import Floats, frozen, token_mask, whole_number
from normviz.errors import InputError
from normviz.grid.statistics import normalize_grid

LARGEST_SEED = 2**31 - 1
"""Seeds above this are cut by the browser's and the cluster's number types."""


def sample_grid(batch: int, tokens: int, d: int, *, seed: int) -> Floats:
    """Draw a [batch, tokens, d] grid of standard normal numbers, rounded to one decimal so that a person can follow.

    Parameters
    ----------
    batch, tokens, d
        Sizes, each at least 1.
    seed
        From 0 to 2**31 - 1; the same seed gives the same grid everywhere.

    Raises
    ------
    InputError
        If a size or the seed is out of its range.
    """
    shape = [whole_number(n, field, 1) for field, n in (("batch", batch), ("tokens", tokens), ("d", d))]
    draw = np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED)).standard_normal(shape)
    # Adding 0 turns the -0.0 that rounding leaves into 0.0.
    return frozen(draw.round(1) + 0.0)


def pad_lengths(batch: int, tokens: int) -> tuple[int, ...]:
    """Lengths of an example batch: the first sequence is full, none is longer than the one before, none is empty."""
    batch, tokens = whole_number(batch, "batch", 1), whole_number(tokens, "tokens", 1)
    return tuple(-(-tokens * (batch - b) // batch) for b in range(batch))


def pad_mask(batch: int, tokens: int, lengths: Sequence[int]) -> NDArray[np.bool_]:
    """Mask [batch, tokens] of sequences padded on the right: True for the first `lengths[b]` tokens of sequence b.

    Raises
    ------
    InputError
        If there is not one length from 1 to `tokens` for each sequence.
    """
    batch, tokens = whole_number(batch, "batch", 1), whole_number(tokens, "tokens", 1)
    if len(lengths) != batch:
        raise InputError(
            "lengths has one number per sequence, {batch} in all; got {count}.", batch=batch, count=len(lengths)
        )
    ends = np.array([whole_number(n, "lengths", 1, tokens) for n in lengths])
    return frozen(np.arange(tokens) < ends[:, None])


def padding_shift(
    x: ArrayLike,
    mask: ArrayLike,
    axis: str,
    *,
    groups: int = 1,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> Floats:
    """How far each real token's output moves when the pads are counted in the statistics.

    The largest |output with the pads counted - output over real tokens only| over the channels of a token. It is 0 for
    "layer_norm" and "rms_norm", whose statistics never leave the token.

    Parameters
    ----------
    x
        Shape [B, T, d]; what stands on the pads (often 0) is what is counted.
    mask
        Shape [B, T], True for real tokens.
    axis, groups, weight, bias, eps
        As in `normalize_grid`.

    Returns
    -------
    array of float64, shape [B, T], NaN on pads

    Raises
    ------
    InputError
        As `normalize_grid`.
    """
    counted = normalize_grid(x, axis, groups=groups, weight=weight, bias=bias, eps=eps)
    left_out = normalize_grid(x, axis, groups=groups, weight=weight, bias=bias, eps=eps, mask=mask)
    shift = np.abs(counted.output - left_out.output).max(axis=-1)
    return frozen(np.where(token_mask(mask, shift.shape), shift, np.nan))
