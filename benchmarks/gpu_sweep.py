"""Does a GPU measure what the CPU measures, how fast is it, and what happens when its memory runs out?

`python -m benchmarks.gpu_sweep` takes less than ten minutes. Without a GPU it does the same on the CPU at smaller
sizes. It checks every placement on both devices, measures the engine and the plain script (benchmarks/plain.py) at
several widths and arithmetics, runs a sweep whose slices do not fit, and prints all of it in Markdown.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import torch

from benchmarks.checks import agreement, arithmetic, out_of_memory
from benchmarks.engine import deviation, sweep_config, sweep_flops, sweep_slices
from benchmarks.machine import MatmulRate, machine, seconds
from benchmarks.plain import Sizes, measure
from normviz.depth.config import SweepConfig
from normviz.depth.model import draw
from normviz.depth.points import DepthPoint
from normviz.depth.sweep import sweep
from normviz.placements import PLACEMENTS

LIMIT = 480.0  # seconds after which no further line of the table is begun
MODES = {"cpu": ("float32", "mixed", "bfloat16"), "cuda": ("float32", "TF32", "mixed", "bfloat16")}
SMALL = Sizes(d_model=32, n_heads=4, batch=2, seq_len=16, depths=(2, 4), seeds=(0, 1), vocab_size=100)
CROWDED = {
    device: Sizes(d_model=d, n_heads=4, batch=8, seq_len=length, depths=(8, 16), seeds=(0, 1, 2, 3))
    for device, d, length in (("cpu", 64, 64), ("cuda", 256, 128))
}
TINY = Sizes(d_model=16, n_heads=2, batch=2, seq_len=8, depths=(1, 2), seeds=(0,), vocab_size=20)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """A line of the table: seconds, operations per second, and how far the numbers are from float32's."""

    d_model: int
    arithmetic: str
    plain: float
    engine: float
    drawing: float
    flops_per_second: float
    matmul: float
    deviation: float


def sizes(device: str) -> list[Sizes]:
    """What is measured: as on a researcher's GPU, or small enough for two cores."""
    if device == "cpu":
        return [Sizes(d_model=d, n_heads=4, batch=4, seq_len=32, depths=(2, 4, 8), seeds=(0,)) for d in (64, 256)]
    return [
        Sizes(d_model=d, n_heads=max(4, d // 64), batch=8, seq_len=256, depths=depths, seeds=seeds)
        for d, depths, seeds in (
            (64, (2, 4, 8, 16, 32), (0, 1, 2, 3)),
            (256, (2, 4, 8, 16, 32), (0, 1)),
            (512, (2, 4, 8, 16), (0,)),
            (1024, (2, 4, 8, 16), (0,)),
            (2048, (2, 4, 8), (0,)),
        )
    ]


def speeds(chosen: list[Sizes], device: str, repeats: int, deadline: float) -> Iterator[Speed]:
    """Measure every width in every arithmetic until time is up."""
    rows = 8192 if device == "cuda" else 1024
    for size in chosen:
        exact: list[DepthPoint] = []
        for mode in MODES[device]:
            if time.monotonic() > deadline:
                print(f"(time is up before {mode} at d_model {size.d_model})")
                return
            with arithmetic(mode) as dtype:
                config = sweep_config(size, device=device, dtype=dtype)
                points = list(sweep(config))  # warms up, too
                exact = exact or points
                list(measure(size, device=device, dtype=dtype))
                rate = MatmulRate(dtype, rows=rows, device=device)
                plain, engine = [], []
                for _ in range(repeats):
                    plain.append(seconds(lambda: list(measure(size, device=device, dtype=dtype))))  # noqa: B023
                    engine.append(seconds(lambda: list(sweep(config))))  # noqa: B023
                    rate.take()
                yield Speed(
                    d_model=size.d_model,
                    arithmetic=mode,
                    plain=median(plain),
                    engine=median(engine),
                    drawing=seconds(lambda: _draw(config)),  # noqa: B023
                    flops_per_second=sweep_flops(config) / median(engine),
                    matmul=rate.rate,
                    deviation=deviation(points, exact, "grad_w2"),
                )


def _draw(config: SweepConfig) -> None:
    """Draw what the sweep draws: on the CPU, so that every device has the same numbers, and then moved."""
    device = torch.device(config.device)
    for keys in sweep_slices(config):
        seeds = tuple(dict.fromkeys(key.seed for key in keys))
        _, layers = draw(config, PLACEMENTS[keys[0].placement], max(key.depth for key in keys), seeds, device)
        for _ in layers:
            pass
    if device.type == "cuda":
        torch.cuda.synchronize()


def table(found: list[Speed]) -> str:
    """The speeds in Markdown: drawing is part of the engine's time, the deviation grad_w2's from float32's at most."""
    lines = [
        "| d_model | arithmetic | plain script | engine | ratio | drawing | TFLOP/s | matmul | share | deviation |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {s.d_model} | {s.arithmetic} | {s.plain:.3f} s | {s.engine:.3f} s | {s.plain / s.engine:.2f} | "
        f"{s.drawing:.3f} s | {s.flops_per_second / 1e12:.2f} | {s.matmul / 1e12:.2f} | "
        f"{s.flops_per_second / s.matmul:.0%} | {s.deviation:.1e} |"
        for s in found
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Check, measure and print; stops with a message where devices differ."""
    parser = argparse.ArgumentParser(description="Check and measure the depth sweep on a GPU, or on the CPU.")
    parser.add_argument("--device", choices=MODES, default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeats", type=int, default=3, help="measured rounds")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which no line is begun")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes, to try the script itself")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args(arguments)
    deadline = time.monotonic() + options.limit
    heading = machine(options.device)
    print(heading, flush=True)
    notes = agreement(TINY if options.tiny else SMALL, options.device)
    print(*notes, sep="\n", flush=True)
    notes.append(out_of_memory(options.device, CROWDED[options.device]))
    print(notes[-1], flush=True)
    chosen = [TINY] if options.tiny else sizes(options.device)
    found = list(speeds(chosen, options.device, options.repeats, deadline))
    print(f"\n{table(found)}")
    if options.json:
        values = {"machine": heading, "notes": notes, "speeds": [asdict(speed) for speed in found]}
        options.json.write_text(json.dumps(values, indent=1))


if __name__ == "__main__":
    main()
