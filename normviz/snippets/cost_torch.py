"""How are norms timed in turns with nothing but PyTorch?"""

from __future__ import annotations

from normviz.cost import BenchConfig


def bench_lines(config: BenchConfig) -> str:
    """The benchmark as a script of its own."""
    device = '"cuda" if torch.cuda.is_available() else "cpu"' if config.device == "auto" else f'"{config.device}"'
    kinds = ", ".join(f'"{kind}"' for kind in config.kinds)
    eager = '    works[f"{kind}/eager"] = partial(eager, kind)\n' if "eager" in config.ways else ""
    functional = '    works[f"{kind}/functional"] = partial(functional, kind)\n' if "functional" in config.ways else ""
    return f"""\
import statistics
import time
from functools import partial

import torch
import torch.nn.functional as F

device = {device}
tokens, d, dtype, repeats, eps = {config.tokens}, {config.d}, torch.{config.dtype}, {config.repeats}, 1e-6
torch.set_grad_enabled(False)
x, f = (torch.randn(tokens, d, device=device).to(dtype) for _ in range(2))
weight, bias = (torch.randn(d, device=device).to(dtype) for _ in range(2))


def eager(kind):
    stream = x + f if kind.startswith("add_") else x
    wide = stream.float() if dtype.itemsize < 4 else stream  # the statistics need float32
    if kind.endswith("layer_norm"):
        wide = wide - wide.mean(-1, keepdim=True)
    wide = wide * (wide.pow(2).mean(-1, keepdim=True) + eps).rsqrt()
    y = wide.to(dtype) * weight
    if kind.endswith("layer_norm"):
        y = y + bias
    return (stream, y) if kind.startswith("add_") else (y,)


def functional(kind):
    stream = x + f if kind.startswith("add_") else x
    if kind.endswith("layer_norm"):
        y = F.layer_norm(stream, (d,), weight, bias, eps)
    else:
        y = F.rms_norm(stream, (d,), weight, eps)
    return (stream, y) if kind.startswith("add_") else (y,)


def seconds(work, calls):
    if device == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        for _ in range(calls):
            work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / calls
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


works = {{"fresh": x.clone}}
for kind in ({kinds},):
{eager}{functional}{_COMPILED if "compiled" in config.ways else ""}
# Everything is timed once in each round, so that what slows a round down cancels out of the ratios.
calls = {{}}
for name, work in works.items():
    seconds(work, 2)  # warm-up
    calls[name] = max(1, min(500, round(1e-3 / max(seconds(work, 1), 1e-9))))
rounds = []
for _ in range(repeats):
    rounds.append({{name: min(seconds(work, calls[name]) for _ in range(3)) for name, work in works.items()}})
ratios = {{name: [taken[name] / taken["fresh"] for taken in rounds] for name in works if name != "fresh"}}
for name, values in ratios.items():
    low, middle, high = statistics.quantiles(values, n=4)
    print(f"{{name}}: {{middle:.2f}} copies of x (half of the rounds {{low:.2f}} to {{high:.2f}})")
"""


_COMPILED = """\
    try:
        compiled = torch.compile(eager, dynamic=False, fullgraph=True)
        compiled(kind)
        works[f"{kind}/compiled"] = partial(compiled, kind)
    except Exception as error:
        print("torch.compile cannot run here:", str(error).splitlines()[0])
"""
