"""How is a depth sweep measured, slice by slice?"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

import torch

from normviz.depth.config import PointKey, SweepConfig, check_config
from normviz.depth.device import denormals_flushed, device_name, is_out_of_memory, resolve_device
from normviz.depth.engine import Pass
from normviz.depth.plan import BATCH_FLOPS, slices
from normviz.depth.points import DepthPoint, Profile
from normviz.errors import InputError


def sweep(config: SweepConfig, *, skip: Collection[PointKey] = ()) -> Iterator[DepthPoint]:
    """Measure every model of a configuration, small depths first, and yield each as it is done.

    Equal configurations give equal numbers on the same device with the same number of torch threads. Models that are
    measured together (`normviz.depth.plan`) arrive together.

    Parameters
    ----------
    config
        Which models; `normviz.collect(config, points)` makes a result of what arrives.
    skip
        Models already measured, by their keys; a slice is measured if any of its models is not among them.

    Raises
    ------
    InputError
        If `config` is no `SweepConfig`; as points are asked for, if the device is not there or its memory runs out.
    """
    check_config(config)
    wanted = (keys for keys in slices(config, flops=BATCH_FLOPS) if not all(key in skip for key in keys))
    return (point for keys in wanted for point in measure_slice(config, keys) if point.key not in skip)


def measure_slice(config: SweepConfig, keys: Sequence[PointKey]) -> tuple[DepthPoint, ...]:
    """Build the models of a slice, run them forward and backward once and keep what is measured.

    Where the device's memory runs out, the slice is cut in two; a single model that the GPU behind "auto" cannot hold
    runs on the CPU.

    Raises
    ------
    InputError
        If `config` is no `SweepConfig`, the device is not there or its memory cannot hold one model.
    """
    check_config(config)
    return _measure(config, tuple(keys), resolve_device(config.device), halvings=0)


def _measure(
    config: SweepConfig, keys: tuple[PointKey, ...], device: torch.device, halvings: int
) -> tuple[DepthPoint, ...]:
    start = time.perf_counter()
    profiles = _profiles(config, keys, device)
    if profiles is not None:
        seconds = (time.perf_counter() - start) / sum(key.depth for key in keys)
        return tuple(
            DepthPoint(
                placement=key.placement,
                depth=key.depth,
                seed=key.seed,
                profiles=profiles[key],
                seconds=seconds * key.depth,
                device=device_name(device),
                torch_version=torch.__version__,
                finished=time.time(),
                halvings=halvings,
            )
            for key in keys
        )
    if device.type == "cuda":
        torch.cuda.empty_cache()
    if len(keys) > 1:
        return tuple(point for half in _halves(keys) for point in _measure(config, half, device, halvings + 1))
    if config.device == "auto" and device.type == "cuda":
        return _measure(config, keys, torch.device("cpu"), halvings)
    raise InputError(
        "The memory of the device {device} ran out at depth {depth}: lower d_model, batch or seq_len",
        device=device_name(device),
        depth=keys[0].depth,
    )


def _profiles(
    config: SweepConfig, keys: tuple[PointKey, ...], device: torch.device
) -> dict[PointKey, dict[str, Profile]] | None:
    """What a pass measures; None where memory runs out, after the traceback has let go of its tensors."""
    placements, depths, seeds = (tuple(dict.fromkeys(axis)) for axis in zip(*keys, strict=True))
    try:
        with denormals_flushed():
            return Pass(config, placements, depths, seeds, device).run()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    return None


def _halves(keys: tuple[PointKey, ...]) -> tuple[tuple[PointKey, ...], tuple[PointKey, ...]]:
    """Two slices instead of one: of some seeds each, else of some placements, else of some depths."""
    for axis in (2, 0, 1):
        values = list(dict.fromkeys(key[axis] for key in keys))
        if len(values) > 1:
            first = values[: len(values) // 2]
            return tuple(k for k in keys if k[axis] in first), tuple(k for k in keys if k[axis] not in first)
    raise AssertionError("one model cannot be halved")
