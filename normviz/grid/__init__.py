"""Which cells of a [B, T, d] grid share a statistic, how many statistics are there, and what do pads do to them?"""

from __future__ import annotations

from normviz.grid.batches import PADS, Batch, batch, embedding
from normviz.grid.bias import PaddingBias, padding_bias
from normviz.grid.files import LARGEST_GRID_FILE, read_grid_file
from normviz.grid.moved import Moved, moved, resized
from normviz.grid.padding import pad_lengths, pad_mask, padding_shift, sample_grid
from normviz.grid.pairs import Pairs, pairs
from normviz.grid.sharing import AXES
from normviz.grid.statistics import cell, normalize_grid
from normviz.grid.summary import GridSummary, summary, window
from normviz.grid.synthetic import SYNTHETIC, synthetic_batch
from normviz.grid.trace import CellTrace, GridTrace
from normviz.grid.words import Sentences, sentences_batch, split_sentences

__all__ = [
    "AXES",
    "LARGEST_GRID_FILE",
    "PADS",
    "SYNTHETIC",
    "Batch",
    "CellTrace",
    "GridSummary",
    "GridTrace",
    "Moved",
    "PaddingBias",
    "Pairs",
    "Sentences",
    "batch",
    "cell",
    "embedding",
    "moved",
    "normalize_grid",
    "pad_lengths",
    "pad_mask",
    "padding_bias",
    "padding_shift",
    "pairs",
    "read_grid_file",
    "resized",
    "sample_grid",
    "sentences_batch",
    "split_sentences",
    "summary",
    "synthetic_batch",
    "window",
]
