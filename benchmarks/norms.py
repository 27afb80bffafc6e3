"""What does a norm cost on this machine, in copies of its tensor and beside LayerNorm?

`python -m benchmarks.norms` times every norm in every way in turns (normviz.cost.timing) and prints ratios first: the
time in copies of x into new memory, what the bytes alone would say, RMSNorm beside LayerNorm, and the addition in one
kernel beside two. `--json FILE` keeps the numbers, `--save FILE` the result that the cost lab reads.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from benchmarks.machine import machine
from normviz.cost import DTYPES, KINDS, PAPER, WAYS, BenchConfig, LayerSizes, NormBench, collect
from normviz.cost.timing import measure
from normviz.depth.device import resolve_device


def lines(result: NormBench) -> list[str]:
    """The result in Markdown: a table of every variant, and the ratios that the lab is about."""
    point = result.point
    if point is None:
        return ["nothing was measured"]
    config, roof, fresh = result.config, result.roof(), result.roof(into="fresh")
    found = [
        f"- {config.tokens} tokens of width {config.d} in {config.dtype}; {point.rounds} rounds in turns after "
        f"{point.warm_up} calls each, medians (quartiles)",
        f"- copy {roof.bandwidth / 1e9:.1f} GB/s, into new memory {fresh.bandwidth / 1e9:.1f} GB/s; "
        f"product of {point.side} x {point.side} matrices {roof.rate / 1e9:.0f} GFLOP/s",
        *beyond_caches(result),
        "",
        "| norm | way | copies of x | by its bytes | of the copy's bandwidth | time |",
        "|---|---|---|---|---|---|",
    ]
    for name in result.measured:
        kind, way = name.split("/")
        copies, seconds = result.copies(name), result.spread(name)
        found.append(
            f"| {KINDS[kind]} | {WAYS[way]} | **{copies.middle:.2f}** ({copies.low:.2f} to {copies.high:.2f}) "
            f"| {result.expected_copies(name):.2f} | {result.copy_share(name):.0%} | {1e6 * seconds.middle:.0f} µs |"
        )
    found += ["", *ratios(result)]
    found += [f"- {WAYS[way]} is missing: {reason}" for way, reason in point.why_not.items()]
    return found


def beyond_caches(result: NormBench) -> list[str]:
    """The bandwidth of a copy that no cache holds, if there was room for one."""
    far = result.roof_for(LayerSizes(dtype=result.config.dtype))
    if result.point is None or far is None:
        return []
    return [f"- copy of {result.point.far_bytes / 2**21:.0f} MiB, beyond the caches, {far.bandwidth / 1e9:.1f} GB/s"]


def ratios(result: NormBench) -> list[str]:
    """RMSNorm beside LayerNorm, the addition in one kernel beside two, and the paper's range."""
    pairs = [(f"RMSNorm / LayerNorm, {WAYS[way]}", f"rms_norm/{way}", f"layer_norm/{way}") for way in WAYS]
    pairs += [
        ("addition + RMSNorm in one kernel / its operations", "add_rms_norm/compiled", "add_rms_norm/eager"),
        ("addition + RMSNorm in one kernel / in two", "add_rms_norm/compiled", "add_rms_norm/functional"),
    ]
    found = []
    for name, one, other in pairs:
        if {one, other} <= set(result.measured):
            ratio = result.ratio(one, other)
            found.append(f"- {name}: {ratio.middle:.2f} ({ratio.low:.2f} to {ratio.high:.2f})")
    shares = [1 - row.saved for row in PAPER]
    found.append(f"- RMSNorm / LayerNorm in the paper's tables, whole steps: {min(shares):.2f} to {max(shares):.2f}")
    return found


def main() -> None:
    """Measure once and print."""
    parser = argparse.ArgumentParser(description="Time norms in turns and print their ratios.")
    parser.add_argument("--tokens", type=int, default=8192, help="rows")
    parser.add_argument("--d", type=int, default=2048, help="width")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--repeats", type=int, default=20, help="rounds")
    parser.add_argument("--threads", type=int, help="of torch; as many as it takes by itself")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--json", type=Path, help="file for the ratios")
    parser.add_argument("--save", type=Path, help="file for the result")
    options = parser.parse_args()
    config = BenchConfig(
        kinds=tuple(KINDS),
        ways=tuple(way for way in WAYS if not (options.no_compile and way == "compiled")),
        tokens=options.tokens,
        d=options.d,
        dtype=options.dtype,
        device=options.device,
        repeats=options.repeats,
    )
    if options.threads:
        torch.set_num_threads(options.threads)
    result = collect(config, measure(config, 0))
    print(machine(resolve_device(config.device).type), *lines(result), sep="\n")
    if options.json:
        values = {name: result.copies(name)._asdict() for name in result.measured}
        options.json.write_text(json.dumps({"config": config.to_dict(), "copies": values}, indent=1))
    if options.save:
        options.save.write_bytes(result.to_bytes())


if __name__ == "__main__":
    main()
