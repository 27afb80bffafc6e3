"""Ready-made benchmarks with chosen times, for the tests of the results and of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from normviz.cost import BenchConfig, BenchPoint, NormBench, collect

ROUNDS = 5


def point(config: BenchConfig, copies: Mapping[str, float], **changes: Any) -> BenchPoint:
    """A point whose variants take so many copies into new memory, each round slower than the one before."""
    fresh = 2e-3 * np.arange(1.0, ROUNDS + 1)
    values: dict[str, Any] = {
        "seconds": {name: copies[name] * fresh for name in config.variants if name in copies},
        "copy": fresh / 4,
        "fresh": fresh,
        "matmul": np.full(ROUNDS, 1e-3),
        "side": 100,
        "warm_up": 2,
        "calls": dict.fromkeys(config.variants, 1),
        "device": "cpu",
        "threads": 1,
        "torch_version": "2",
    }
    return BenchPoint(**(values | changes))


def bench(copies: Mapping[str, float], *, config: BenchConfig | None = None, **changes: Any) -> NormBench:
    """A result with that point."""
    config = config or BenchConfig(tokens=8, d=16)
    return collect(config, [point(config, copies, **changes)])


COPIES = {
    "layer_norm/eager": 9.0,
    "layer_norm/functional": 1.25,
    "layer_norm/compiled": 1.5,
    "rms_norm/eager": 4.5,
    "rms_norm/functional": 5.0,
    "rms_norm/compiled": 1.2,
    "add_rms_norm/eager": 6.0,
    "add_rms_norm/functional": 6.5,
    "add_rms_norm/compiled": 2.5,
}
