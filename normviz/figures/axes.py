"""Who shares a statistic in [B, T, d], as blocks and as a table, and what do counted pads do to the outputs?"""

from normviz.figures.blocks import blocks_picture
from normviz.figures.padding import padding_picture
from normviz.figures.table import table_picture

__all__ = ["blocks_picture", "padding_picture", "table_picture"]
