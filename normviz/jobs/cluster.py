"""Where do the slices of an experiment run, and does that place work right now?"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from normviz.errors import InputError
from normviz.jobs.child import ADVICE, Child
from normviz.jobs.connection import connect, import_modules
from normviz.jobs.moment import Moment, lost
from normviz.jobs.serve import serve, worker_count
from normviz.jobs.tasks import Outcome, Tasks
from normviz.jobs.versions import Versions
from normviz.jobs.workforce import checked, count

if TYPE_CHECKING:
    from distributed import Client

_WATCH_SECONDS = 0.2
_COUNT_EVERY = 10  # watches between two counts of an external cluster's threads, which may come and go


class Cluster:
    """A Dask cluster: a child process of this one, or an existing scheduler.

    Building one starts nothing. `start` returns at once; a background thread starts or connects, then watches.

    Parameters
    ----------
    address
        A scheduler, "tcp://host:port" or "tls://host:port" (with Dask's own TLS settings). None: what
        NORMVIZ_SCHEDULER says, else a child process.
    workers
        Worker processes of the child. None: what NORMVIZ_WORKERS says, else one per core and at most four.
    timeout
        Seconds that the child has to start.
    """

    def __init__(self, address: str | None = None, *, workers: int | None = None, timeout: float = 60.0) -> None:
        self._external = (os.environ.get("NORMVIZ_SCHEDULER", "") if address is None else address).strip()
        self._workers = workers
        self._timeout = timeout
        self._lock = threading.Lock()
        self._now = Moment("starting")
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._child: Child | None = None
        self._modules: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """One of "starting" (also before `start`), "ready" and "failed"; never waits."""
        return self._now.state

    @property
    def reason(self) -> InputError | None:
        """Why the state is "failed", and what to do."""
        return self._now.reason

    @property
    def external(self) -> bool:
        """Whether it is an existing scheduler, with settings of its own."""
        return bool(self._external)

    @property
    def address(self) -> str:
        """The scheduler's address, once it is ready."""
        return self._now.address

    @property
    def threads(self) -> int:
        """How many slices run at a time; 0 while there is no worker."""
        return self._now.workforce.slots({})

    @property
    def versions(self) -> Mapping[str, Versions]:
        """What an existing cluster's scheduler and workers have installed, by address."""
        return self._now.workforce.versions

    def slots(self, resources: Mapping[str, float]) -> int:
        """How many slices that need these resources run at a time; the own cluster's workers offer everything."""
        return self._now.workforce.slots(resources if self.external else {})

    @property
    def session(self) -> int:
        """A number that grows with every start: tasks of an earlier session are lost."""
        return self._now.session

    def start(self) -> None:
        """Start or connect in the background, unless that is under way or done; after a failure, try again."""
        with self._lock:
            if self._thread is None or self._now.state == "failed":
                self._begin()

    def restart(self) -> None:
        """Let go of the cluster (a child process ends, with its tasks) and start or connect anew."""
        with self._lock:
            self._begin()

    def close(self) -> None:
        """Let go of the cluster and wait until a child process has ended; `start` begins again."""
        with self._lock:
            thread = self._thread
            self._let_go()
            self._thread = None
            self._now = Moment("starting", self._now.session)
        if thread is not None and thread is not threading.current_thread():
            thread.join(10)

    def wait(self, timeout: float | None = None) -> str:
        """Start if need be and wait until the state is no longer "starting"; returns the state."""
        self.start()
        settled = threading.Event()
        end = threading.TIMEOUT_MAX if timeout is None else timeout
        while self.state == "starting" and end > 0:
            settled.wait(0.05)
            end -= 0.05
        return self.state

    def client(self) -> Client:
        """The connection, for what `submit` does not offer.

        Raises
        ------
        InputError
            If the cluster is not ready: the reason, or that it is still starting.
        """
        now = self._now
        if now.client is None:
            raise now.not_ready()
        return now.client

    def submit(
        self,
        function: Callable[..., Any],
        *args: Any,
        then: Callable[[Outcome], None],
        resources: Mapping[str, float] = MappingProxyType({}),
    ) -> Callable[[], None]:
        """Run `function(*args)` on a worker and tell `then` how it ended; returns what cancels it.

        `then` is called on the connection's own thread and must be quick; a cancelled task counts as ended when its
        worker is free again. It may never be called if the connection goes away: watch `session`. On an existing
        cluster only a worker that offers the resources gets the task.

        Raises
        ------
        InputError
            If the cluster is not ready.
        """
        now = self._now
        if now.client is None or now.tasks is None:
            raise now.not_ready()
        try:
            return now.tasks.send(function, *args, then=then, resources=resources if self.external else {})
        except Exception as error:
            if now.client.status == "running":
                raise
            raise lost() from error

    def warm(self, modules: Iterable[str]) -> None:
        """Have every worker import these modules as soon as the cluster is ready, before the first task needs them."""
        self._modules = tuple(modules)

    def _begin(self) -> None:
        self._let_go()
        self._stop = threading.Event()
        self._now = Moment("starting", self._now.session + 1)
        arguments = (self._now.session, self._stop)
        self._thread = threading.Thread(target=self._run, args=arguments, name="normviz-cluster", daemon=True)
        self._thread.start()

    def _let_go(self) -> None:
        """The running thread ends on its own, and clears up what it has started."""
        self._stop.set()
        if self._child is not None:
            self._child.abandon()
            self._child = None

    def _publish(self, now: Moment) -> None:
        with self._lock:
            if self._now.session == now.session and self._thread is threading.current_thread():
                self._now = now

    def _run(self, session: int, stop: threading.Event) -> None:
        child: Child | None = None
        client: Client | None = None
        try:
            if self._external:
                client, workforce = connect(self._external)
                workforce = checked(client, workforce)
            else:
                child = Child(worker_count(self._workers))
                with self._lock:
                    if stop.is_set():
                        child.abandon()
                    else:
                        self._child = child
                client, workforce = connect(child.wait_for_address(self._timeout)[0])
            atexit.register(self.close)  # after the import of distributed, so that it runs before distributed's own
            tasks = Tasks(client, own_workers=child is not None)
            ready = Moment("ready", session, None, client, tasks, client.scheduler.address, workforce)
            self._publish(ready)
            client.run(import_modules, self._modules, wait=False, on_error="ignore")
            reason = self._watch(ready, client, child, stop)
        except InputError as error:
            reason = error
        except Exception as error:
            reason = InputError(
                "The compute cluster could not start: {reason}. {advice}",
                reason=f"{type(error).__name__}: {error}",
                advice=ADVICE,
            )
        self._publish(Moment("failed", session, reason))
        atexit.unregister(self.close)
        if client is not None:
            with suppress(Exception):
                client.close(timeout=1)
        if child is not None:
            child.stop()

    def _watch(self, ready: Moment, client: Client, child: Child | None, stop: threading.Event) -> InputError | None:
        """Return when the cluster is gone, with the reason, or when it is let go."""
        watches = 0
        while not stop.wait(_WATCH_SECONDS):
            if client.status != "running" or (child is not None and not child.alive):
                return lost()
            watches += 1
            if child is None and watches % _COUNT_EVERY == 0:
                try:
                    ready = replace(ready, workforce=checked(client, count(client), ready.workforce))
                except InputError as error:
                    return error
                except Exception:  # the status says so next time
                    continue
                self._publish(ready)
        return None


if __name__ == "__main__":
    serve()
