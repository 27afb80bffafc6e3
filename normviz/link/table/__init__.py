"""Which controls does each page have? One file per lab, one row per control."""

from __future__ import annotations

from collections.abc import Mapping

from normviz.link.knob import Knob
from normviz.link.table.axes import AXES, AXIS_OPTIONS, MOST_SHOWN
from normviz.link.table.cost import COST
from normviz.link.table.depth import DEPTH
from normviz.link.table.numerics import NUMERICS
from normviz.link.table.placements import PLACEMENT_LAB
from normviz.link.table.vector import VECTOR

__all__ = ["AXIS_OPTIONS", "KNOBS", "MOST_SHOWN"]

KNOBS: Mapping[str, tuple[Knob, ...]] = {
    "home": (),
    "vector": VECTOR,
    "axes": AXES,
    "depth": DEPTH,
    "placements": PLACEMENT_LAB,
    "numerics": NUMERICS,
    "cost": COST,
}
"""Page id -> its controls."""
