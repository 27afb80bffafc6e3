"""How far do the other sentences' outputs move when one sentence of a batch gets longer or shorter?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, frozen, whole_number
from normviz.grid.batches import Batch
from normviz.grid.batches import batch as padded_batch
from normviz.grid.padding import LARGEST_GRID
from normviz.grid.statistics import normalize_grid


@dataclass(frozen=True, kw_only=True, eq=False)
class Moved:
    """What the change of one sentence's length does to the others.

    Attributes
    ----------
    before, after
        The batch before and after the change.
    row
        The sentence whose length changed.
    shift
        Per token of `before`, shape [B, T], the largest |output after - output before| over its channels; NaN on pads
        and on the changed sentence. For "layer_norm", "batch_norm" (pads counted) and "masked" (BatchNorm over real
        tokens).
    """

    before: Batch
    after: Batch
    row: int
    shift: Mapping[str, Floats]


def resized(batch: Batch, row: int, change: int) -> Batch:
    """The batch with one sentence longer or shorter; a longer one starts over from its first token.

    Parameters
    ----------
    batch
        A padded batch.
    row
        Which sentence, from 0.
    change
        How many tokens more, or fewer if negative; at least one is left.

    Raises
    ------
    InputError
        If there is no such sentence, none of its tokens would be left, or the grid would have over 10 million cells.
    """
    rows, _, d = batch.x.shape
    row = whole_number(row, "row", 0, rows - 1)
    length = batch.lengths[row]
    change = whole_number(change, "change", 1 - length, LARGEST_GRID // (rows * d) - length)
    order = np.arange(length + change) % length
    sequences = list(batch.sequences)
    sequences[row] = sequences[row][order]
    words = None if batch.words is None else list(batch.words)
    if words is not None:
        words[row] = tuple(words[row][at] for at in order)
    return padded_batch(sequences, words=words, pads=batch.pads, seed=batch.seed)


def moved(batch: Batch, row: int, change: int, *, eps: float = 1e-5) -> Moved:
    """How far each token of the other sentences moves when one sentence gets `change` tokens longer.

    LayerNorm's amount is exactly 0: its statistics never leave the token.

    Parameters
    ----------
    batch, row, change
        As in `resized`.
    eps
        As in `normalize_grid`.

    Raises
    ------
    InputError
        As `resized` and `normalize_grid`.
    """
    after = resized(batch, row, change)
    stays = batch.mask.copy()
    stays[row] = False
    shift = {}
    for key, axis, masked in (
        ("layer_norm", "layer_norm", True),
        ("batch_norm", "batch_norm", False),
        ("masked", "batch_norm", True),
    ):
        outputs = [
            normalize_grid(state.x, axis, eps=eps, mask=state.mask if masked else None).output
            for state in (batch, after)
        ]
        both = min(output.shape[1] for output in outputs)
        amount = np.full(stays.shape, np.nan)
        amount[:, :both] = np.abs(outputs[1][:, :both] - outputs[0][:, :both]).max(axis=2)
        shift[key] = frozen(np.where(stays, amount, np.nan))
    return Moved(before=batch, after=after, row=row, shift=MappingProxyType(shift))
