"""Which norms are there? One file per norm; the name of that file in `NORMS` is all that adds it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from normviz.norms.batch_norm import batch_norm
from normviz.norms.dyt import dyt
from normviz.norms.layer_norm import layer_norm
from normviz.norms.rms_norm import rms_norm
from normviz.norms.trace import NormRecord, NormTrace, RunningStats

NORMS: Mapping[str, NormRecord] = MappingProxyType(
    {
        name: import_module(f"{__name__}.{name}").RECORD
        for name in (
            "layer_norm",
            "rms_norm",
            "batch_norm",
            "dyt",
            "none",
        )
    }
)

__all__ = ["NORMS", "NormRecord", "NormTrace", "RunningStats", "batch_norm", "dyt", "layer_norm", "rms_norm"]
