"""How long does a norm take on this device? The worker calls this; torch is loaded when it does, not before."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.cost.bench import BenchConfig, BenchPoint, check_memory
from normviz.cost.ways import compiled, norms
from normviz.depth.estimate import available_memory
from normviz.errors import InputError

if TYPE_CHECKING:
    import torch

WARM_UP = 2
"""Calls before the first round, of everything; the first one also compiles what is compiled."""

TRIES = 3
"""A time of a round is the shortest of so many, because what disturbs a call only makes it longer; a long call has one
try."""

_MOST_CALLS = 500  # within one try
_LONG_SECONDS = 0.02  # of a call that has one try: what disturbs it is short beside it
FAR_BYTES = 2**28
"""Bytes at least that the copy beyond the caches reads and writes together: four times what a desktop's or a GPU's
last cache holds."""

_SIDES = {"cpu": 512, "cuda": 4096}  # of the square matrices; a GPU needs more to be busy
_LINE = 160  # letters of what a compiler says

Work = Callable[[], object]


def measure(config: BenchConfig, key: int) -> tuple[BenchPoint, ...]:
    """Time everything in turns: in each round each variant, three kinds of copy and a matrix product once.

    On the CPU the clock is the process's own; on a GPU two events on its stream, so that the host's part counts only
    where the GPU waits for it. A way that cannot run here is left out, and the point says why.

    Parameters
    ----------
    config
        What is timed.
    key
        The slice, `normviz.cost.bench.WHOLE`.

    Raises
    ------
    InputError
        If the device is not there, cannot compute in the format, or has too little memory.
    """
    import torch

    from normviz.depth.device import device_name, is_out_of_memory, resolve_device

    device = resolve_device(config.device)
    check_dtype(config.dtype, device)
    free = _free(device)
    check_memory(config, free)
    far_bytes = beyond_caches(_cache_bytes(device))
    if free is not None and config.memory_bytes + 2 * far_bytes > free:
        far_bytes = 0
    try:
        with torch.no_grad():
            return (_measured(config, device, device_name(device), far_bytes),)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    raise InputError(
        "The memory of the device {device} ran out: choose fewer tokens N or a smaller width d",
        device=device_name(device),
    )


def check_dtype(dtype: str, device: torch.device) -> None:
    """Refuse a format in which the device cannot normalize and multiply: a few numbers are tried.

    Raises
    ------
    InputError
        With the format, the device and what PyTorch said.
    """
    import torch

    from normviz.depth.device import device_name

    try:
        kind = getattr(torch, dtype)
        x = torch.ones(4, 16, device=device).to(kind)
        weight = torch.ones(16, device=device).to(kind)
        for work in norms("add_layer_norm", x, x, weight, weight).values():
            work()
        torch.ones(16, 16, device=device).to(kind) @ torch.ones(16, 16, device=device).to(kind)
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # a GPU says so only when it computes
    except (AttributeError, RuntimeError, TypeError) as error:
        raise InputError(
            "The device {device} cannot normalize in {dtype}: choose another number format. PyTorch says: {reason}",
            device=device_name(device),
            dtype=dtype,
            reason=_first_line(error),
        ) from error


def beyond_caches(cache: int) -> int:
    """Bytes that a copy moves which no cache of so many bytes can hold: `FAR_BYTES`, or four times the cache."""
    return max(FAR_BYTES, 4 * cache)


def _measured(config: BenchConfig, device: torch.device, name: str, far_bytes: int) -> BenchPoint:
    import torch

    works, why_not = _works(config, device)
    kind = getattr(torch, config.dtype)
    side = _SIDES[device.type]
    x = torch.randn(config.tokens, config.d, device=device).to(kind)
    there = torch.empty_like(x)
    a, b = (torch.randn(side, side, device=device).to(kind) for _ in range(2))
    works |= {"copy": lambda: there.copy_(x), "fresh": lambda: x.clone(), "matmul": lambda: a @ b}
    if far_bytes:
        here, beyond = (torch.ones(far_bytes // 8, device=device) for _ in range(2))  # half the bytes each, float32
        works["far"] = lambda: beyond.copy_(here)
    times, calls = in_turns(works, config.repeats, _clock(device))
    copy, fresh, matmul = (times.pop(key) for key in ("copy", "fresh", "matmul"))
    far = times.pop("far", None)
    return BenchPoint(
        seconds=times,
        copy=copy,
        fresh=fresh,
        matmul=matmul,
        side=side,
        warm_up=WARM_UP,
        calls=calls,
        why_not=why_not,
        device=name,
        threads=torch.get_num_threads(),
        torch_version=torch.__version__,
        finished=time.time(),
        far=far,
        far_bytes=far_bytes,
    )


def in_turns(
    works: Mapping[str, Work],
    repeats: int,
    clock: Callable[[Work, int], float],
    *,
    sample: float = 1e-3,
    most: float = 20.0,
) -> tuple[dict[str, np.ndarray[Any, np.dtype[np.float64]]], dict[str, int]]:
    """Times of a call [round] of each work, all of them in each round, and the calls in a try.

    Each round begins with another work, so that none always follows the same neighbour.

    Parameters
    ----------
    works
        What is timed, warmed up here.
    repeats
        Rounds, unless time is up before; three in any case.
    clock
        Seconds that so many calls take.
    sample
        Seconds that a try lasts, or longer if one call does.
    most
        Seconds after which no further round is begun; the result says how many there were.
    """
    calls, tries = {}, {}
    for name, work in works.items():
        clock(work, WARM_UP)
        once = clock(work, 1)
        calls[name] = max(1, min(_MOST_CALLS, ceil(sample / once)))
        tries[name] = TRIES if once < _LONG_SECONDS else 1
    names = list(works)
    rounds: list[dict[str, float]] = []
    end = time.monotonic() + most
    while len(rounds) < repeats and (len(rounds) < 3 or time.monotonic() < end):
        first = len(rounds) % len(names)
        turn = names[first:] + names[:first]
        rounds.append({n: min(clock(works[n], calls[n]) for _ in range(tries[n])) / calls[n] for n in turn})
    return {name: np.array([taken[name] for taken in rounds]) for name in names}, calls


def _clock(device: torch.device) -> Callable[[Work, int], float]:
    return _gpu_seconds if device.type == "cuda" else cpu_seconds


def cpu_seconds(work: Work, calls: int) -> float:
    """Time of so many calls, each of which returns when its numbers are there."""
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return max(time.perf_counter() - start, 1e-9)


def _gpu_seconds(work: Work, calls: int) -> float:
    """Time between two events on the current stream, with nothing else waiting on it."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return max(float(start.elapsed_time(end)) / 1e3, 1e-9)


def _works(config: BenchConfig, device: torch.device) -> tuple[dict[str, Work], dict[str, str]]:
    """What is timed, by variant; and why a way is not, by way."""
    import torch

    kind = getattr(torch, config.dtype)
    x, f = (torch.randn(config.tokens, config.d, device=device).to(kind) for _ in range(2))
    weight, bias = (torch.randn(config.d, device=device).to(kind) for _ in range(2))
    torch.compiler.reset()  # what an earlier benchmark compiled counts against a limit
    found: dict[str, Work] = {}
    why_not: dict[str, str] = {}
    for one in config.kinds:
        ready = norms(one, x, f, weight, bias)
        for way in config.ways:
            if way != "compiled":
                found[f"{one}/{way}"] = ready[way]
            elif way not in why_not:
                try:
                    found[f"{one}/{way}"] = compiled(one, x, f, weight, bias)
                except Exception as error:  # whatever a compiler says, the others are measured
                    why_not[way] = _first_line(error)
    return ({name: found[name] for name in config.variants if name in found}, why_not)


def _free(device: torch.device) -> int | None:
    """Bytes of the device that nobody uses."""
    import torch

    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else available_memory()


def _cache_bytes(device: torch.device) -> int:
    """The device's largest cache; 0 where the system does not say."""
    import torch

    if device.type == "cuda":
        return int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0))
    found = [0]
    for entry in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        try:
            found.append(int(entry.read_text().strip().removesuffix("K")) * 1024)
        except (OSError, ValueError):
            continue
    return max(found)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    line = text.splitlines()[0] if text else ""
    return f"{type(error).__name__}: {line[:_LINE]}" if line else type(error).__name__
