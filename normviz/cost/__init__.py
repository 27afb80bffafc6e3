"""What does a norm cost in parameters, operations, bytes and time?"""

from __future__ import annotations

from normviz.cost.bench import DEVICES, BenchConfig, BenchPoint, NormBench, Spread, check_memory, collect, slices
from normviz.cost.counts import Kernel, NormCost, norm_cost
from normviz.cost.files import from_bytes
from normviz.cost.layer import PARTS, LayerShare, Part, layer_share
from normviz.cost.paper import CLAIM, HARDWARE, PAPER, SOURCE, PaperRow
from normviz.cost.roofline import Roof, RooflinePoint, roofline
from normviz.cost.sizes import BOUNDS, DTYPES, KINDS, LAYERS, WAYS, LayerSizes

__all__ = [
    "BOUNDS",
    "CLAIM",
    "DEVICES",
    "DTYPES",
    "HARDWARE",
    "KINDS",
    "LAYERS",
    "PAPER",
    "PARTS",
    "SOURCE",
    "WAYS",
    "BenchConfig",
    "BenchPoint",
    "Kernel",
    "LayerShare",
    "LayerSizes",
    "NormBench",
    "NormCost",
    "PaperRow",
    "Part",
    "Roof",
    "RooflinePoint",
    "Spread",
    "check_memory",
    "collect",
    "from_bytes",
    "layer_share",
    "norm_cost",
    "roofline",
    "slices",
]
