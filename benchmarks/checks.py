"""Does a device measure what the CPU measures, also when its memory runs out?"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from benchmarks.engine import drawn, sweep_config, sweep_slices
from benchmarks.plain import Sizes, measure
from normviz.depth.cost import slice_cost
from normviz.depth.points import DepthPoint, Profile
from normviz.depth.sweep import sweep
from normviz.errors import InputError
from normviz.placements import PLACEMENTS

TOLERANCE = 1e-4  # relative, of every quantity in float32 without TF32
ROUNDING = 1e-6  # of a quantity's largest value: what float32 leaves where the true value is zero


@contextmanager
def arithmetic(mode: str) -> Iterator[str]:
    """The dtype of a mode; "TF32" is float32 whose products a GPU may round to TF32."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if mode == "TF32" else "highest")
    try:
        yield "float32" if mode == "TF32" else mode
    finally:
        torch.set_float32_matmul_precision(before)


def gap(profile: Profile, other: Profile) -> float:
    """Largest relative difference of two profiles; at rounding's level of the largest value there is none."""
    size = np.abs(profile.value)
    room = size + ROUNDING / TOLERANCE * size.max()
    apart = np.abs(other.value - profile.value)
    found = float(np.max(apart / room)) if room.any() else float(apart.max())
    return math.inf if math.isnan(found) else found


def difference(points: list[DepthPoint], others: list[DepthPoint]) -> tuple[float, str]:
    """Largest relative difference of all quantities, and where it is."""
    own = {point.key: point.profiles for point in points}
    return max(
        (gap(profile, own[other.key][quantity]), f"{quantity} of {other.placement}")
        for other in others
        for quantity, profile in other.profiles.items()
    )


def agreement(size: Sizes, device: str) -> list[str]:
    """Check that the device gives the CPU's numbers for all placements, and the plain script's for its two.

    Raises
    ------
    SystemExit
        If they differ by more than `TOLERANCE`.
    """
    with arithmetic("float32"):
        names = tuple(PLACEMENTS)
        on_cpu = list(sweep(sweep_config(size, placements=names)))
        on_device = list(sweep(sweep_config(size, placements=names, device=device)))
        lines = [_verdict(f"engine on {device} and on the CPU, {len(names)} placements", difference(on_device, on_cpu))]
        own = {point.key: point.profiles for point in on_device}
        worst = (0.0, "")
        for record in measure(size, device=device, given=drawn(sweep_config(size))):
            profiles = own[record.placement, record.depth, record.seed]  # type: ignore[index]
            values = {"residual_mean_square": record.stream}
            values |= {f"grad_{name}": norms for name, norms in record.gradients.items()}
            for quantity, expected in values.items():
                profile = Profile(layer=profiles[quantity].layer, value=np.array(expected))
                worst = max(worst, (gap(profile, profiles[quantity]), f"{quantity} of {record.placement}"))
        lines.append(_verdict(f"engine and plain script on {device}, the same weights", worst))
    return lines


def _verdict(what: str, worst: tuple[float, str]) -> str:
    line = f"- {what}: largest relative difference {worst[0]:.1e} ({worst[1]})"
    if not worst[0] <= TOLERANCE:
        sys.exit(f"{line}, more than {TOLERANCE:.0e}")
    return line


@contextmanager
def little_memory(size: float) -> Iterator[None]:
    """Deny this process more than `size` bytes of the GPU's memory beside what it has."""
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties("cuda").total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, (torch.cuda.memory_reserved() + size) / total))
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def out_of_memory(device: str, sizes: Sizes) -> str:
    """Sweep with too little memory for a slice: it is cut until it fits, and the numbers stay the same.

    Raises
    ------
    SystemExit
        If no limit leads to halved slices, or halved slices give other numbers.
    """
    if device != "cuda":  # what a process may take of the CPU's memory depends on its allocator
        return "- out of memory: only tried on a GPU"
    config = sweep_config(sizes, device=device)
    needed = 4.0 * max(slice_cost(config, keys).kept for keys in sweep_slices(config))
    with arithmetic("float32"):
        free = list(sweep(config))
        for share in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6):  # what is needed is an estimate: the first limit that serves
            try:
                with little_memory(share * needed):
                    short = list(sweep(config))
            except InputError:  # too little for one model
                continue
            halvings = [point.halvings for point in short]
            if max(halvings):
                same = _verdict("numbers as without the limit", difference(short, free))[2:]
                return (
                    f"- out of memory: {len(short)} of {len(config.keys())} models arrived with "
                    f"{share * needed / 2**20:.0f} MiB beside what was in use for a slice of {needed / 2**20:.0f} MiB, "
                    f"after {min(halvings)} to {max(halvings)} halvings; {same}"
                )
    sys.exit("out of memory: no limit led to halved slices")
