"""How fast does a worker compute? Two numbers are enough to estimate what a sweep will take."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from normviz.depth.estimate import Speed

_SIDE = 384  # of the square matrices: "some hundred rows and columns"
_OPS = 200


def measured_speed() -> Speed:
    """Measure the device that "auto" stands for, in about a tenth of a second.

    Each time is the shortest of several runs, because what disturbs a run only makes it longer.

    Returns
    -------
    Speed
        Operations per second of a float32 matrix product ($2n^3$ operations), and seconds per small tensor operation
        that autograd records.
    """
    import torch

    from normviz.depth.probes import device_name, resolve_device

    device = resolve_device("auto")
    a = torch.ones(_SIDE, _SIDE, device=device)
    x = torch.ones(8, 8, device=device, requires_grad=True)

    def finished() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    def products() -> None:
        for _ in range(4):
            a @ a

    def operations() -> None:
        y = x
        for _ in range(_OPS):
            y = y + 1.0

    def shortest(function: Callable[[], None]) -> float:
        times = []
        for _ in range(5):
            finished()
            start = perf_counter()
            function()
            finished()
            times.append(perf_counter() - start)
        return min(times)

    return Speed(
        flops_per_second=4 * 2 * _SIDE**3 / shortest(products),
        seconds_per_op=shortest(operations) / _OPS,
        device=device_name(device),
    )
