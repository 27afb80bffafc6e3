"""Which tokens of a grid are pads, and how far do pads move the output of the real ones?"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from reprlib import repr as shown

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import Floats, frozen, token_mask, whole_number
from normviz.errors import InputError
from normviz.grid.statistics import normalize_grid

LARGEST_SEED = 2**31 - 1
"""Seeds above this are cut by the browser's and the cluster's number types."""

LARGEST_GRID = 10_000_000
"""Cells of a grid, 80 MB as float64; `normalize_grid` keeps some ten arrays of that size."""


def sample_grid(batch: int, tokens: int, d: int, *, seed: int) -> Floats:
    """Draw a [batch, tokens, d] grid of standard normal numbers, rounded to one decimal so that a person can follow.

    Parameters
    ----------
    batch, tokens, d
        Sizes, each at least 1, with a product up to 10 million.
    seed
        From 0 to 2**31 - 1; the same seed gives the same grid everywhere.

    Raises
    ------
    InputError
        If a size or the seed is out of its range.
    """
    shape = grid_sizes(batch=batch, tokens=tokens, d=d)
    draw = np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED)).standard_normal(shape)
    # Adding 0 turns the -0.0 that rounding leaves into 0.0.
    return frozen(draw.round(1) + 0.0)


def pad_lengths(batch: int, tokens: int) -> tuple[int, ...]:
    """Lengths of an example batch: the first sequence is full, none is longer than the one before, none is empty."""
    batch, tokens = grid_sizes(batch=batch, tokens=tokens)
    return tuple(-(-tokens * (batch - b) // batch) for b in range(batch))


def pad_mask(batch: int, tokens: int, lengths: Sequence[int]) -> NDArray[np.bool_]:
    """Mask [batch, tokens] of sequences padded on the right: True for the first `lengths[b]` tokens of sequence b.

    Raises
    ------
    InputError
        If there is not one length from 1 to `tokens` for each sequence, or a size is out of its range.
    """
    batch, tokens = grid_sizes(batch=batch, tokens=tokens)
    try:
        given = list(lengths)
    except TypeError:
        raise InputError(
            "lengths is a list of whole numbers, one per sequence; got {value}.", value=shown(lengths)
        ) from None
    if len(given) != batch:
        raise InputError(
            "lengths has one number per sequence, {batch} in all; got {count}.", batch=batch, count=len(given)
        )
    ends = np.array([whole_number(n, "lengths", 1, tokens) for n in given])
    return frozen(np.arange(tokens) < ends[:, None])


def grid_sizes(**sizes: int) -> list[int]:
    """The sizes of a grid, each at least 1, and together no more cells than a computer holds."""
    checked = [whole_number(size, field, 1) for field, size in sizes.items()]
    if prod(checked) > LARGEST_GRID:
        raise InputError(
            "{fields} multiply to at most {limit} cells; got {got}.",
            fields=" x ".join(sizes),
            limit=LARGEST_GRID,
            got=" x ".join(map(str, checked)),
        )
    return checked


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
