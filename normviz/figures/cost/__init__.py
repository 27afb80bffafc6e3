"""What does a norm cost: under a device's roof, on this machine, in a whole layer, and in the paper's tables?"""

from normviz.figures.cost.bench import bench_notes, bench_picture
from normviz.figures.cost.paper import paper_picture
from normviz.figures.cost.roofline import bench_roofline, roofline_picture
from normviz.figures.cost.share import share_notes, share_picture

__all__ = [
    "bench_notes",
    "bench_picture",
    "bench_roofline",
    "paper_picture",
    "roofline_picture",
    "share_notes",
    "share_picture",
]
