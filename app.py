"""normviz in the browser: the list of pages."""

from normviz.text import N_
from normviz.ui import frame

frame.run(
    {
        "home": "normviz",
        "vector": N_("Vector lab"),
        "axes": N_("Axes lab"),
        "depth": N_("Depth lab"),
        "placements": N_("Placement lab"),
        "numerics": N_("Numerics lab"),
        "cost": N_("Cost lab"),
    }
)
