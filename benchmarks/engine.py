"""How much faster than a plain script is the depth sweep's engine, and how near to the matrix-multiply rate?

`python -m benchmarks.engine` measures three widths, the plain script (benchmarks/plain.py) and the engine in turn, and
prints medians, their ratios and, where a width is large enough for it to matter, the share of the rate at which the
same machine multiplied matrices in between.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.machine import MatmulRate, machine, seconds
from benchmarks.plain import PLACEMENTS as PLAIN_PLACEMENTS
from benchmarks.plain import Given, Sizes, measure
from normviz.depth.config import SweepConfig
from normviz.depth.cost import slice_cost
from normviz.depth.model import draw
from normviz.depth.plan import BATCH_FLOPS, Slice, slices
from normviz.depth.points import DepthPoint
from normviz.depth.sweep import sweep
from normviz.placements import PLACEMENTS

SIZES = {
    64: Sizes(d_model=64, n_heads=4, batch=4, seq_len=32, depths=(2, 4, 8, 16, 32), seeds=(0, 1, 2, 3)),
    256: Sizes(d_model=256, n_heads=4, batch=8, seq_len=64, depths=(2, 4, 8, 16, 32), seeds=(0, 1)),
    512: Sizes(d_model=512, n_heads=8, batch=8, seq_len=64, depths=(2, 4, 8), seeds=(0,)),
}
DEVIATIONS = ("grad_w2", "residual_mean_square")
HALF_FROM = 512  # narrower models spend too little of their time in products for half precision to pay


def sweep_config(sizes: Sizes, **changes: Any) -> SweepConfig:
    """The engine's name for the plain script's models."""
    fields: dict[str, Any] = {
        "placements": PLAIN_PLACEMENTS,
        "depths": sizes.depths,
        "d_model": sizes.d_model,
        "n_heads": sizes.n_heads,
        "d_ff": 4 * sizes.d_model,
        "batch": sizes.batch,
        "seq_len": sizes.seq_len,
        "vocab_size": sizes.vocab_size,
        "seeds": sizes.seeds,
        "device": "cpu",
    }
    return SweepConfig(**(fields | changes))


def drawn(config: SweepConfig) -> Callable[[str, int, int], Given]:
    """The engine's own numbers for the plain script, which must then measure what the engine does."""

    def numbers(placement: str, depth: int, seed: int) -> Given:
        ends, layers = draw(config, PLACEMENTS[placement], depth, (seed,), torch.device("cpu"))
        return Given(
            tokens=ends.tokens[0],
            labels=ends.labels[0],
            head=ends.head[0],
            layers=[{name: matrix[0] for name, matrix in layer.items()} for layer in layers],
        )

    return numbers


def sweep_slices(config: SweepConfig) -> tuple[Slice, ...]:
    """What `sweep` measures together."""
    return slices(config, flops=BATCH_FLOPS)


def sweep_flops(config: SweepConfig) -> float:
    """Operations of all matrix products of a sweep."""
    return sum(slice_cost(config, keys).flops for keys in sweep_slices(config))


def deviation(points: list[DepthPoint], others: list[DepthPoint], quantity: str) -> float:
    """Largest relative difference of a quantity over all layers and models; the second ones are the measure."""
    own = {point.key: point.profiles[quantity].value for point in points}
    return float(
        max(np.max(np.abs(own[o.key] / o.profiles[quantity].value - 1)) for o in others if quantity in o.profiles)
    )


@dataclass
class Row:
    """Something measured over and over: its name, what runs, the operations in it, its times."""

    name: str
    work: Callable[[], object]
    flops: float | None = None
    dtype: str = "float32"
    times: list[float] = field(default_factory=list)


def rows(sizes: Sizes) -> list[Row]:
    """The plain script first, then the engine in its ways."""
    config = sweep_config(sizes)
    found = [Row("plain script", lambda: list(measure(sizes)))]

    def engine(name: str, changed: SweepConfig) -> None:
        found.append(Row(name, lambda: list(sweep(changed)), sweep_flops(changed), changed.dtype))

    engine("engine", config)
    engine("engine, gradients of W2 only", replace(config, gradients=("w2",)))
    if sizes.d_model >= HALF_FROM:
        for dtype in ("mixed", "bfloat16"):
            engine(f"engine, {dtype}", replace(config, dtype=dtype))
    return found


def report(sizes: Sizes, repeats: int) -> None:
    """Measure one width and print its table."""
    taken = rows(sizes)
    rates = {row.dtype: MatmulRate(row.dtype) for row in taken}
    for turn in range(repeats + 1):
        for row in taken:
            spent = seconds(row.work)
            if turn:  # the first round warms up
                row.times.append(spent)
        for rate in rates.values():
            rate.take()
    print(
        f"\nd_model {sizes.d_model}, {sizes.n_heads} heads, batch {sizes.batch} x {sizes.seq_len} tokens, "
        f"seeds {', '.join(map(str, sizes.seeds))}, L = {', '.join(map(str, sizes.depths))}, Post-Norm and Pre-Norm"
    )
    print(
        f"{'median of ' + str(repeats):34}{'time':>10}{'plain/this':>12}{'from - to':>14}"
        f"{'GFLOP/s':>9}{'matmul':>9}{'share':>7}"
    )
    for row in taken:
        spent = median(row.times)
        # Round by round, since another program may have slowed a whole round down.
        ratios = [plain / own for plain, own in zip(taken[0].times, row.times, strict=True)]
        line = f"{row.name:34}{spent:8.3f} s{median(ratios):12.2f}{f'{min(ratios):.2f} - {max(ratios):.2f}':>14}"
        if row.flops is not None:
            speed, limit = row.flops / spent, rates[row.dtype].rate
            line += f"{speed / 1e9:9.0f}{limit / 1e9:9.0f}{speed / limit:7.0%}"
        print(line)
    if sizes.d_model >= HALF_FROM:
        print_deviations(sizes)


def print_deviations(sizes: Sizes) -> None:
    """Print how far half precision is from float32."""
    exact = list(sweep(sweep_config(sizes)))
    for dtype in ("mixed", "bfloat16"):
        points = list(sweep(sweep_config(sizes, dtype=dtype)))
        found = ", ".join(f"{name} {deviation(points, exact, name):.1e}" for name in DEVIATIONS)
        print(f"{dtype}: largest relative deviation from float32: {found}")


def main() -> None:
    """Print one table for each width."""
    parser = argparse.ArgumentParser(description="Compare the depth sweep's engine with a plain script.")
    parser.add_argument("--width", type=int, nargs="+", choices=SIZES, default=list(SIZES), help="d_model")
    parser.add_argument("--repeats", type=int, default=5, help="measured rounds")
    options = parser.parse_args()
    print(machine())
    for width in options.width:
        report(SIZES[width], options.repeats)


if __name__ == "__main__":
    main()
