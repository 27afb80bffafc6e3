"""What will a depth sweep cost, and which knob makes it cheaper?"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import gcd
from pathlib import Path
from typing import Any

from normviz.depth.config import SweepConfig
from normviz.depth.cost import slice_cost
from normviz.depth.plan import slices
from normviz.errors import InputError

BYTES = {"float32": 4, "mixed": 4, "bfloat16": 2, "float16": 2}

# What a sweep takes beside its matrix products, fitted to measured sweeps of ten shapes (torch 2.13, one CPU core).
LAYER_OPS = 430  # small operations of `Speed` in a layer of a slice: forward, backward and probes
NUMBER_FLOPS = 640  # each number that moves through memory; in operations of a product
SECONDS_PER_WEIGHT = 5e-9  # drawing it on the CPU


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a device computes.

    Attributes
    ----------
    flops_per_second
        Operations of float32 matrix products of some hundred rows and columns.
    seconds_per_op
        Time from one small tensor operation, recorded by autograd, to the next.
    device
        Its name.
    """

    flops_per_second: float
    seconds_per_op: float
    device: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a sweep needs.

    Attributes
    ----------
    flops
        Floating-point operations of all matrix products, forward and backward, of all models.
    memory_bytes
        Memory of the largest slice: weights and what its backward pass keeps. A process with torch in it needs some
        hundred MiB more.
    seconds
        Time of all models one after the other on one worker.
    time_knob, memory_knob
        Which of depths, d_model, seq_len, batch and seeds lowers the time, and the memory, most when it is halved.
    """

    flops: float
    memory_bytes: float
    seconds: float
    time_knob: str
    memory_knob: str


def estimate(config: SweepConfig, *, flops_per_second: float, seconds_per_op: float) -> Estimate:
    """Estimate what a sweep costs before it runs.

    The operations of all slices (`normviz.depth.cost.slice_cost`) at the device's rate; to the time add what moves
    through memory (counted as operations), the host's part in each small tensor operation (`seconds_per_op`), and the
    drawing of the weights.

    Parameters
    ----------
    config
        The sweep.
    flops_per_second, seconds_per_op
        The device's `Speed`.

    Returns
    -------
    Estimate
        Right within a factor of about two on a device whose two speeds were measured.
    """

    def cost(**halved: Any) -> tuple[float, float, float]:
        if "d_model" in halved:  # keep the heads a divisor, and the sublayer's shape
            width = halved["d_model"]
            halved |= {"n_heads": gcd(width, config.n_heads), "d_ff": max(1, config.d_ff * width // config.d_model)}
        return _cost(replace(config, **halved), flops_per_second, seconds_per_op)

    flops, memory, seconds = cost()
    cheaper = {
        "depths": cost(depths=tuple({max(1, depth // 2) for depth in config.depths})),
        "d_model": cost(d_model=max(2, config.d_model // 2)),
        "seq_len": cost(seq_len=max(1, config.seq_len // 2)),
        "batch": cost(batch=max(1, config.batch // 2)),
        "seeds": cost(seeds=config.seeds[: (len(config.seeds) + 1) // 2]),
    }
    return Estimate(
        flops=flops,
        memory_bytes=memory,
        seconds=seconds,
        time_knob=min(cheaper, key=lambda knob: cheaper[knob][2]),
        memory_knob=min(cheaper, key=lambda knob: cheaper[knob][1]),
    )


def check_limit(estimate: Estimate, *, max_seconds: float, max_bytes: float) -> None:
    """Refuse a sweep that is too large for this host.

    Raises
    ------
    InputError
        If the estimate passes a limit; the message says both numbers and which knob to lower first.
    """
    if estimate.seconds > max_seconds:
        raise InputError(
            "This sweep would take about {got:.0f} s; here at most {allowed:.0f} s are allowed. "
            "Lower {field} first: it saves most time",
            field=estimate.time_knob,
            got=estimate.seconds,
            allowed=max_seconds,
        )
    if estimate.memory_bytes > max_bytes:
        raise InputError(
            "This sweep would need about {got:.0f} MiB of memory; here at most {allowed:.0f} MiB are allowed. "
            "Lower {field} first: it saves most memory",
            field=estimate.memory_knob,
            got=estimate.memory_bytes / 2**20,
            allowed=max_bytes / 2**20,
        )


def available_memory() -> int | None:
    """Bytes that a new sweep can take on this machine; None where the system does not say.

    On Linux what the kernel calls available (a page cache counts, since it gives way), elsewhere all memory there is.
    """
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024  # in KiB
    except (OSError, LookupError, ValueError):
        pass
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None
    return found if found > 0 else None


def _cost(config: SweepConfig, flops_per_second: float, seconds_per_op: float) -> tuple[float, float, float]:
    """FLOPs, bytes and seconds of a sweep."""
    costs = [slice_cost(config, keys) for keys in slices(config)]
    flops = sum(cost.flops for cost in costs)
    seconds = (flops + NUMBER_FLOPS * sum(cost.moved for cost in costs)) / flops_per_second
    seconds += LAYER_OPS * seconds_per_op * sum(cost.layers for cost in costs)
    seconds += SECONDS_PER_WEIGHT * sum(cost.drawn for cost in costs)
    return flops, max(cost.kept for cost in costs) * BYTES[config.dtype], seconds
