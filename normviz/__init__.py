"""See and measure what normalization does in a Transformer.

The map of the package; every name below is imported on first use, so that `import normviz` costs nothing.

======================  ====================================================================
`layer_norm`, ...       one vector, every intermediate (`normviz.norms`)
`plane`, `space`, ...   the exact geometry of one vector, its Jacobians (`normviz.geometry`)
`affine`, ...           what a norm does not see (`normviz.invariances`)
`slip`                  a common mistake beside the right formula (`normviz.slips`)
`normalize_grid`, ...   which cells of [B, T, d] share a statistic, what pads do (`normviz.grid`)
`history`, `estimates`  small batches, running statistics, PowerNorm (`normviz.streams`)
`SweepConfig`, `sweep`  gradients and residual streams against depth (`normviz.depth`)
`preset`                published settings as configurations (`normviz.depth.presets`)
`PLACEMENTS`            where the norm sits, one function per wiring (`normviz.placements`)
======================  ====================================================================
"""

# ruff: noqa: F401  (the imports below tell type checkers and editors what `__getattr__` returns)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from normviz.depth.config import PointKey, SweepConfig
    from normviz.depth.presets import PRESETS, Preset, preset
    from normviz.depth.results import DepthPoint, DepthSweep, Profile, collect, load
    from normviz.depth.sweep import sweep
    from normviz.errors import InputError
    from normviz.geometry import (
        Cloud,
        Lengths,
        Plane,
        Pullback,
        Space,
        Spectrum,
        Triangle,
        cloud,
        jacobian,
        lengths,
        plane,
        pullback,
        space,
        spectra,
        spectrum,
        triangle,
    )
    from normviz.grid import (
        Batch,
        CellTrace,
        GridTrace,
        cell,
        normalize_grid,
        pad_mask,
        padding_bias,
        padding_shift,
        read_grid_file,
        sample_grid,
        sentences_batch,
        synthetic_batch,
    )
    from normviz.invariances import Affine, affine, invariance_table
    from normviz.norms import NORMS, NormRecord, NormTrace, RunningStats, batch_norm, dyt, layer_norm, rms_norm
    from normviz.placements import PLACEMENTS, Placement
    from normviz.slips import SLIPS, Slip, slip
    from normviz.streams import (
        Estimates,
        History,
        Population,
        PowerState,
        Stream,
        estimates,
        history,
        power_norm,
        power_norm_backward,
    )
    from normviz.vectors import format_vector, hidden_state, parse_vector, random_vector, read_vector_file

__version__ = "0.1.0"

_HOME = {
    "normviz.depth.config": ("PointKey", "SweepConfig"),
    "normviz.depth.presets": ("PRESETS", "Preset", "preset"),
    "normviz.depth.results": ("DepthPoint", "DepthSweep", "Profile", "collect", "load"),
    "normviz.depth.sweep": ("sweep",),
    "normviz.errors": ("InputError",),
    "normviz.geometry": (
        "Cloud",
        "Lengths",
        "Plane",
        "Pullback",
        "Space",
        "Spectrum",
        "Triangle",
        "cloud",
        "jacobian",
        "lengths",
        "plane",
        "pullback",
        "space",
        "spectra",
        "spectrum",
        "triangle",
    ),
    "normviz.grid": (
        "Batch",
        "CellTrace",
        "GridTrace",
        "cell",
        "normalize_grid",
        "pad_mask",
        "padding_bias",
        "padding_shift",
        "read_grid_file",
        "sample_grid",
        "sentences_batch",
        "synthetic_batch",
    ),
    "normviz.invariances": ("Affine", "affine", "invariance_table"),
    "normviz.norms": (
        "NORMS",
        "NormRecord",
        "NormTrace",
        "RunningStats",
        "batch_norm",
        "dyt",
        "layer_norm",
        "rms_norm",
    ),
    "normviz.placements": ("PLACEMENTS", "Placement"),
    "normviz.slips": ("SLIPS", "Slip", "slip"),
    "normviz.streams": (
        "Estimates",
        "History",
        "Population",
        "PowerState",
        "Stream",
        "estimates",
        "history",
        "power_norm",
        "power_norm_backward",
    ),
    "normviz.vectors": ("format_vector", "hidden_state", "parse_vector", "random_vector", "read_vector_file"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    *_MODULE,
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'normviz' has no attribute {name!r}")
    value = getattr(import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
