"""Which cells of a [B, T, d] grid share a statistic, how many statistics are there, and what do pads do to them?"""

from __future__ import annotations

from normviz.grid.padding import pad_lengths, pad_mask, padding_shift, sample_grid
from normviz.grid.statistics import AXES, cell, normalize_grid
from normviz.grid.trace import CellTrace, GridTrace

__all__ = [
    "AXES",
    "CellTrace",
    "GridTrace",
    "cell",
    "normalize_grid",
    "pad_lengths",
    "pad_mask",
    "padding_shift",
    "sample_grid",
]
