"""On which machine was it measured, and how fast does it multiply matrices?"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch


def machine(device: str = "cpu") -> str:
    """The processor or GPU, its cores, threads and load, and the versions of Python and torch."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    gpu = f"{torch.cuda.get_device_name()}; " if device == "cuda" else ""
    return (
        f"{gpu}{name} ({platform.machine()}), {os.cpu_count()} cores{load}; "
        f"torch {torch.__version__} with {torch.get_num_threads()} threads, Python {platform.python_version()}"
    )


def seconds(work: Callable[[], object]) -> float:
    """Time of one call, which must not return before its numbers are there."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class MatmulRate:
    """Operations per second of a product of square matrices.

    Parameters
    ----------
    dtype
        "float32", "bfloat16"; "mixed" multiplies in bfloat16.
    rows
        Rows and columns: some 1000 on a CPU; a GPU needs more to be busy.
    device
        Where.
    """

    def __init__(self, dtype: str, *, rows: int = 1024, device: str = "cpu") -> None:
        kind = torch.bfloat16 if dtype == "mixed" else getattr(torch, dtype)
        self._a, self._b = (torch.randn(rows, rows, device=device).to(kind) for _ in range(2))
        self._operations = 2.0 * rows**3
        self._times: list[float] = []
        self._product()  # the first call also plans it

    def _product(self) -> None:
        product = self._a @ self._b
        if product.device.type == "cuda":
            torch.cuda.synchronize()

    def take(self, times: int = 10) -> None:
        """Measure some more products; call it between the runs that the rate is compared with."""
        self._times += [seconds(self._product) for _ in range(times)]

    @property
    def rate(self) -> float:
        """Operations per second, median of what was taken."""
        return self._operations / median(self._times)
