"""What will a depth sweep cost, and which knob makes it cheaper?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from normviz.placements import PLACEMENTS, trace

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}

# What a sweep takes beside its matrix products, fitted to measured sweeps of ten shapes (torch 2.13, one CPU core).
LAYER_OPS = 300  # of the small operations of `Speed`: forward, backward and probes of a layer
NUMBER_FLOPS = 700  # each number kept for the backward pass is moved some twenty times; in operations of a product
SECONDS_PER_WEIGHT = 7e-9  # drawing it on the CPU, and reading its gradient


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
        Memory of the largest model: weights, gradients and what its backward pass keeps. A process with torch in it
        needs some hundred MiB more.
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
    r"""Estimate what a sweep costs before it runs.

    With N = batch x seq_len tokens, a product of [N, a] and [a, b] takes 2Nab operations forward and twice that
    backward, for both its factors:

    $F_\mathrm{layer} = 3\,(2N\,[p d^2 + 2 d\,d_\mathrm{ff}] + 4 N T d)$ with p = 4 projections; the last term is
    attention's two products with T tokens each. Uniform attention has neither this term nor queries and keys, and
    without an output projection p is one less. The head, whose own gradient nobody asks for, adds $4 N d V$, or
    $4 B d V$ when the loss reads one token of each sequence.

    Time adds what moves through memory (numbers kept for the backward pass, counted as operations), the host's part
    in each small tensor operation (`seconds_per_op`), and the drawing of the weights.

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
        return _cost({**config.to_dict(), **halved}, flops_per_second, seconds_per_op)

    flops, memory, seconds = cost()
    cheaper = {
        "depths": cost(depths=[max(1, depth // 2) for depth in config.depths]),
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


def _cost(values: dict[str, Any], flops_per_second: float, seconds_per_op: float) -> tuple[float, float, float]:
    """FLOPs, bytes and seconds of a sweep given by the fields of its configuration."""
    d, d_ff, heads, classes = (values[name] for name in ("d_model", "d_ff", "n_heads", "vocab_size"))
    length, tokens = values["seq_len"], values["batch"] * values["seq_len"]
    softmax = values["attention"] != "uniform"
    weights = (1 + 2 * softmax + values["output_projection"]) * d * d + 2 * d * d_ff
    head_tokens = tokens if values["loss"] == "mean" else values["batch"]
    layer_flops = 6 * tokens * weights + 12 * tokens * length * d * softmax
    head_flops = 4 * head_tokens * d * classes

    models = len(values["seeds"]) * len(values["placements"])
    layers = models * sum(values["depths"])
    models *= len(values["depths"])
    flops = layers * layer_flops + models * head_flops

    # Kept for the backward pass: what each matrix product, norm and activation reads, the stream after each layer, and
    # softmax's probabilities; the logits three times (as they are, in float32, normalized).
    norms = max(trace(PLACEMENTS[name]).norms for name in values["placements"])
    kept = tokens * ((2 * norms + 5 + 3 * softmax) * d + 2 * d_ff + heads * length * softmax)
    logits = 3 * head_tokens * classes
    size, deepest = BYTES[values["dtype"]], max(values["depths"])
    memory = deepest * (2 * weights + kept) * size + d * classes * size + logits * 4

    moved = layers * kept + models * logits
    seconds = (flops + NUMBER_FLOPS * moved) / flops_per_second
    seconds += layers * (LAYER_OPS * seconds_per_op + weights * SECONDS_PER_WEIGHT)
    return float(flops), float(memory), seconds
