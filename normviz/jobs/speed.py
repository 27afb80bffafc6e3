"""How fast does a worker compute? Two numbers are enough to estimate what a sweep will take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter

from normviz.depth.estimate import Speed
from normviz.errors import InputError
from normviz.jobs.cluster import Cluster
from normviz.jobs.tasks import Outcome

_TRIES = 3  # in one session of the cluster
_SIDE = 384  # of the square matrices: "some hundred rows and columns"
_OPS = 200


class Speedometer:
    """The speed of a cluster's workers, measured once in every session of the cluster.

    Parameters
    ----------
    cluster
        Whose workers.
    post
        Calls a function on a background thread.
    """

    def __init__(self, cluster: Cluster, post: Callable[[Callable[[], None]], None]) -> None:
        self._cluster = cluster
        self._post = post
        self._lock = threading.Lock()
        self._speed: Speed | None = None
        self._session = 0
        self._tries = 0
        self._settled = False  # an answer is there or on its way

    def speed(self) -> Speed | None:
        """The last speed that was measured, of an earlier session until this one's is known; None before the first.

        Asking starts the measurement, if the cluster is ready.
        """
        with self._lock:
            session = self._cluster.session
            if session != self._session:
                self._session, self._tries, self._settled = session, 0, False
            if not self._settled and self._tries < _TRIES and self._cluster.state == "ready":
                self._settled = True
                self._tries += 1
                self._post(lambda: self._measure(session))
            return self._speed

    def _measure(self, session: int) -> None:
        def ended(outcome: Outcome) -> None:
            with self._lock:
                if session == self._session:
                    self._settled = outcome.value is not None
                    self._speed = outcome.value or self._speed

        try:
            self._cluster.submit(measured_speed, then=ended)
        except InputError as error:
            ended(Outcome(error=error))


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

    from normviz.depth.device import device_name, resolve_device

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
