"""What becomes of a task that was sent to a worker: how did it end, and has it let go of its worker?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.worker import Worker

_POLL_SECONDS = 0.1  # between two questions to the workers; long enough for a cancel to reach them before the first
_ANSWER_SECONDS = 1.0  # that workers have to answer, busy or not
_PATIENCE_SECONDS = 1.0  # that a cancelled task may go on computing before its worker is ended
_MEMORY_SECONDS = 30.0  # how long an ended worker's address is remembered; its port may serve another one some day


@dataclass(frozen=True)
class Outcome:
    """How a task ended.

    Attributes
    ----------
    value
        What it returned.
    error
        What it raised.
    lost
        Why there is neither: the task was "cancelled" and computes no more, or its "worker" or the "cluster" is gone.
    """

    value: Any = None
    error: BaseException | None = None
    lost: str = ""


class Tasks:
    """The tasks of one connection.

    Dask forgets a cancelled task at once, yet the thread that computes it goes on to its end and the next task waits
    behind it, on a worker that the scheduler takes for free. Here a cancelled task has ended only when no worker
    computes it any more. A worker that still does after a second is ended, and its nanny starts another; tasks that
    waited on it are sent again.

    Parameters
    ----------
    client
        The connection.
    own_workers
        Whether workers may be ended. Those of a scheduler that others use too may not: there a cancelled task
        computes to its end.
    """

    def __init__(self, client: Client, *, own_workers: bool) -> None:
        self._client = client
        self._own_workers = own_workers
        self._ended_workers: dict[str, float] = {}
        self._asking: asyncio.Future[dict[str, list[str]]] | None = None

    def send(
        self,
        function: Callable[..., Any],
        *args: Any,
        then: Callable[[Outcome], None],
        resources: Mapping[str, float] = MappingProxyType({}),
    ) -> Callable[[], None]:
        """Run `function(*args)` on a worker that offers the resources, and tell `then` on the connection's thread.

        Returns what cancels it.
        """
        task = _Task(self._client, function, args, dict(resources) or None)
        self._client.loop.add_callback(self._follow, task, then)

        def cancel() -> None:
            with suppress(RuntimeError):  # the loop has ended, and the task with it
                self._client.loop.add_callback(task.cancel)

        return cancel

    async def _follow(self, task: _Task, then: Callable[[Outcome], None]) -> None:
        outcome = await self._outcome(task)
        if task.cancelled:
            with suppress(Exception):  # the connection is going away, and the task with it
                await self._until_no_worker_computes(task.future.key)
            outcome = Outcome(lost="cancelled")
        then(outcome)

    async def _outcome(self, task: _Task) -> Outcome:
        from distributed import KilledWorker

        while True:
            future = task.future
            try:
                return Outcome(value=await self._client.gather(future, asynchronous=True))
            except (Exception, asyncio.CancelledError) as trouble:
                error = trouble.with_traceback(None)  # it would keep the future, and the worker's frames, alive
            if not isinstance(error, KilledWorker):
                return Outcome(error=error) if future.status == "error" else Outcome(lost="cluster")
            if task.cancelled or error.last_worker.address not in self._ended_workers:
                return Outcome(lost="worker")
            try:
                task.send()
            except Exception:  # the connection went away in between
                return Outcome(lost="cluster")

    async def _until_no_worker_computes(self, key: str) -> None:
        start = monotonic()
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                computed = await self._computed_keys()
            except TimeoutError:  # a worker has just died and its scheduler still tries to reach it
                continue
            computing = [address for address, keys in computed.items() if key in keys]
            if not computing:
                return
            now = monotonic()
            if self._own_workers and now - start > _PATIENCE_SECONDS:
                remembered = {k: when for k, when in self._ended_workers.items() if now - when < _MEMORY_SECONDS}
                self._ended_workers = remembered | dict.fromkeys(computing, now)
                # Client.restart_workers takes some seconds, because it asks a worker to end before it ends it.
                await self._client.run(os._exit, 1, workers=computing, on_error="ignore")

    async def _computed_keys(self) -> dict[str, list[str]]:
        """What each worker computes; one question answers all who ask meanwhile."""
        if self._asking is None or self._asking.done():
            question = self._client.run(_keys_in_threads, on_error="ignore")
            self._asking = asyncio.ensure_future(asyncio.wait_for(question, _ANSWER_SECONDS))
        return await asyncio.shield(self._asking)


class _Task:
    """A task, which may have to be sent more than once."""

    def __init__(
        self,
        client: Client,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        resources: dict[str, float] | None,
    ) -> None:
        self._client = client
        self._function = function
        self._args = args
        self._resources = resources
        self.cancelled = False
        self.future: Future
        self.send()

    def send(self) -> None:
        how = {"pure": False, "retries": 0, "resources": self._resources}
        self.future = self._client.submit(self._function, *self._args, **how)

    async def cancel(self) -> None:
        self.cancelled = True
        with suppress(Exception):  # the connection is going away, and the task with it
            await self._client.cancel([self.future], asynchronous=True)


def _keys_in_threads(dask_worker: Worker) -> list[str]:
    """On a worker: the tasks that its threads compute, whether anybody still wants them or not."""
    return list(dask_worker.active_threads.values())
