"""Which cells of a [B, T, d] grid share a statistic, and how is a number taken over them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats

S = TypeVar("S", np.float64, np.int64)

AXES: tuple[str, ...] = ("layer_norm", "rms_norm", "batch_norm", "instance_norm", "group_norm", "everything")
"""Ids of the ways to share a statistic, in the order in which a page shows them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sharing:
    """Who shares a statistic, for the real tokens of a grid as rows [N, d] in reading order.

    Every way to share is a product: tokens that follow one another, times neighbouring channels.

    Attributes
    ----------
    starts
        The row with which each set of tokens starts, rising from 0.
    lengths
        How many rows each set has.
    parts
        Into how many equal parts the d channels are cut.
    d
        Channels.
    """

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    parts: int
    d: int

    @property
    def count(self) -> NDArray[np.int64]:
        """Cells per statistic."""
        return np.repeat(self.lengths * (self.d // self.parts), self.parts)

    @property
    def member(self) -> NDArray[np.int64]:
        """The number of each cell's statistic, from 0 in reading order, shape [N, d]."""
        return self.spread(np.arange(self.lengths.size * self.parts))

    def total(self, rows: Floats) -> Floats:
        """Sum over the cells of each statistic."""
        over_part: Floats = rows.reshape(len(rows), self.parts, -1).sum(axis=2)
        if self.lengths.size == len(rows):
            return over_part.ravel()
        if self.lengths.size == 1:
            return np.asarray(over_part.sum(axis=0))
        over_tokens: Floats = np.add.reduceat(over_part, self.starts, axis=0)
        return over_tokens.ravel()

    def first(self, rows: Floats) -> Floats:
        """The first cell of each statistic."""
        return rows[self.starts, :: self.d // self.parts].ravel()

    def spread(self, statistic: NDArray[S]) -> NDArray[S]:
        """The statistic of each cell, shape [N, d]."""
        per_row = np.repeat(statistic.reshape(-1, self.parts), self.lengths, axis=0)
        return np.repeat(per_row, self.d // self.parts, axis=1)


def sharing(mask: NDArray[np.bool_], d: int, axis: str, groups: int) -> Sharing:
    """Who shares a statistic along an axis of `AXES`, among the real tokens of a mask [B, T].

    Sequences without a real token have no statistic, so that the rest are numbered without gaps.
    """
    real = int(mask.sum())
    per_sequence = mask.sum(axis=1)
    lengths = {
        "layer_norm": np.ones(real, dtype=np.int64),
        "rms_norm": np.ones(real, dtype=np.int64),
        "batch_norm": np.array([real]),
        "instance_norm": per_sequence[per_sequence > 0],
        "group_norm": per_sequence[per_sequence > 0],
        "everything": np.array([real]),
    }[axis]
    parts = {"batch_norm": d, "instance_norm": d, "group_norm": groups}.get(axis, 1)
    return Sharing(starts=np.cumsum(lengths) - lengths, lengths=lengths, parts=parts, d=d)
