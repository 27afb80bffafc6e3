"""Which controls does each page have? One file per lab, one row per control."""

from __future__ import annotations

from collections.abc import Mapping

from normviz.link.knob import Knob
from normviz.link.table.axes import AXES, AXIS_OPTIONS, MOST_SHOWN
from normviz.link.table.depth import DEPTH
from normviz.link.table.vector import VECTOR

__all__ = ["AXIS_OPTIONS", "KNOBS", "MOST_SHOWN"]

KNOBS: Mapping[str, tuple[Knob, ...]] = {"home": (), "vector": VECTOR, "axes": AXES, "depth": DEPTH}
"""Page id -> its controls."""
