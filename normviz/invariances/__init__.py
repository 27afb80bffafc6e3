"""Which changes of a vector, of the weights or of the data leave a norm's output as it is?"""

from normviz.invariances.affine import SAME, VERDICTS, Affine, affine
from normviz.invariances.table import (
    CHANGE_LABELS,
    CHANGES,
    NORM_LABELS,
    NORM_ROWS,
    PUBLISHED,
    Cell,
    invariance_table,
)

__all__ = [
    "CHANGES",
    "CHANGE_LABELS",
    "NORM_LABELS",
    "NORM_ROWS",
    "PUBLISHED",
    "SAME",
    "VERDICTS",
    "Affine",
    "Cell",
    "affine",
    "invariance_table",
]
