"""How do time and memory of a sweep grow with its depth, to a thousand layers and more?

`python -m benchmarks.long_stack` measures L = 2, 4, ... up to each largest depth in a process of its own and prints
times, peaks of memory and the exponents of a power law fitted to them; 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np

from benchmarks.machine import machine, seconds
from normviz.depth.config import SweepConfig
from normviz.depth.sweep import sweep

DEPTHS = (64, 128, 256, 512, 1024)
KIB = 2**10 if sys.platform == "darwin" else 1  # ru_maxrss is in bytes there and in KiB on Linux


def config(deepest: int) -> SweepConfig:
    """Post-Norm and Pre-Norm at the default sizes (d_model 64), one seed, depths in steps of two up to the deepest."""
    depths = tuple(2**i for i in range(1, deepest.bit_length()))
    return SweepConfig(depths=depths, seeds=(0,), device="cpu")


def peak_kib() -> float:
    """The most memory that this process has had in use."""
    import resource  # not on Windows, where the other benchmarks run too

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB


def taken(deepest: int) -> dict[str, float]:
    """What this process takes for a sweep: seconds, and MiB above what torch and a tiny sweep have taken before."""
    list(sweep(replace(config(deepest), depths=(1,))))
    before = peak_kib()
    spent = seconds(lambda: list(sweep(config(deepest))))
    return {"seconds": spent, "base": before / 2**10, "memory": (peak_kib() - before) / 2**10}


def exponent(x: list[float], y: list[float]) -> float:
    """Slope of ln y against ln x, by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def report(depths: list[int]) -> None:
    """Measure each depth in its own process, and print the table and the exponents."""
    print(machine())
    print(f"{'largest L':>9}{'sum of depths':>15}{'time':>11}{'per layer':>12}{'memory above':>14}{'base':>11}")
    sums, times, peaks = [], [], []
    for deepest in depths:
        command = [sys.executable, "-m", "benchmarks.long_stack", "--only", str(deepest)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        sums.append(float(sum(config(deepest).depths)))
        times.append(found["seconds"])
        peaks.append(found["memory"])
        print(
            f"{deepest:9}{sums[-1]:15.0f}{times[-1]:9.2f} s{1e3 * times[-1] / sums[-1]:9.2f} ms"
            f"{peaks[-1]:10.0f} MiB{found['base']:7.0f} MiB"
        )
    if len(depths) > 1:
        print(f"time grows like (sum of depths)^{exponent(sums, times):.2f}")
        print(f"memory above the base grows like (largest L)^{exponent([float(depth) for depth in depths], peaks):.2f}")


def main() -> None:
    """Print the table, or, in a process for one depth, its figures as JSON."""
    parser = argparse.ArgumentParser(description="Measure time and memory of deep sweeps.")
    parser.add_argument("--depths", type=int, nargs="+", default=list(DEPTHS), help="the largest depths")
    parser.add_argument("--only", type=int, help="measure this one in this process and print JSON")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(taken(options.only)))
    else:
        report(options.depths)


if __name__ == "__main__":
    main()
