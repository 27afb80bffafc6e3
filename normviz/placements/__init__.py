"""Where does the norm go? A wiring is a function in `wirings`, and a record in `record` is all that adds it."""

from normviz.placements.record import PLACEMENTS, Placement
from normviz.placements.trace import Node, Trace, identity_nodes, ordered, trace, trace_wirings
from normviz.placements.wirings import At, Stream, enter, join, leave

__all__ = [
    "PLACEMENTS",
    "At",
    "Node",
    "Placement",
    "Stream",
    "Trace",
    "enter",
    "identity_nodes",
    "join",
    "leave",
    "ordered",
    "trace",
    "trace_wirings",
]
