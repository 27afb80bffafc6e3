"""Who shares a statistic in [B, T, d], what do batches and pads do to it, and what does a norm throw away?"""

from normviz.figures.axes.bias import bias_picture
from normviz.figures.axes.blocks import blocks_picture
from normviz.figures.axes.estimates import estimates_picture
from normviz.figures.axes.outputs import outputs_picture
from normviz.figures.axes.padding import moved_picture
from normviz.figures.axes.pairs import pairs_picture
from normviz.figures.axes.power import gradient_picture, probe_picture, square_picture
from normviz.figures.axes.running import running_picture
from normviz.figures.axes.table import table_picture
from normviz.figures.axes.training import mismatch_picture, tokens_picture

__all__ = [
    "bias_picture",
    "blocks_picture",
    "estimates_picture",
    "gradient_picture",
    "mismatch_picture",
    "moved_picture",
    "outputs_picture",
    "pairs_picture",
    "probe_picture",
    "running_picture",
    "square_picture",
    "table_picture",
    "tokens_picture",
]
