"""How do the slices of all jobs share the cluster, and who receives their points?"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Hashable, Iterable, MutableMapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from normviz.errors import InputError
from normviz.jobs.cluster import Cluster
from normviz.jobs.experiments import run_slice
from normviz.jobs.job import Job
from normviz.jobs.sentences import interruption, sentence, shortage
from normviz.jobs.store import Store
from normviz.jobs.tasks import Outcome

_TICK = 0.1  # seconds between two looks at leases and cluster while a job is active
_SHORT_SECONDS = 0.3  # a slice this short may wait on the cluster: nobody minds waiting for it

_log = logging.getLogger(__name__)

Post = Callable[[], None]


@dataclass(frozen=True)
class _Slice:
    """A slice that was sent; `attempt` is the job's at that moment."""

    job: Job
    attempt: int
    key: Hashable


class Runner:
    """The background thread of a board: only it sends slices, and it never waits for the cluster.

    Parameters
    ----------
    cluster, store
        Where slices run, and where results stay.
    jobs, lock
        The board's jobs; the lock guards the mapping and every job in it.
    lease
        Seconds after which a job without a watcher is cancelled.
    """

    def __init__(
        self, cluster: Cluster, store: Store, jobs: MutableMapping[str, Job], lock: threading.Lock, lease: float
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._jobs = jobs
        self._lock = lock
        self._lease = lease
        self._posts: queue.SimpleQueue[Post | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._turn = 0
        self._session = 0
        self._on_cluster: set[_Slice] = set()  # in this session; cancelled ones too, until they let go of their worker

    def post(self, post: Post) -> None:
        """Have the background thread do something; it starts with the first."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="normviz-board", daemon=True)
                self._thread.start()
        self._posts.put(post)

    def wake(self) -> None:
        """Have the background thread look at the jobs now."""
        self.post(_do_nothing)

    def close(self) -> None:
        """Stop the background thread."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._posts.put(None)
            thread.join(5)

    def _run(self) -> None:
        while True:
            with self._lock:
                active = any(job.active for job in self._jobs.values())
            try:
                post = self._posts.get(timeout=_TICK if active else None)
            except queue.Empty:
                post = _do_nothing
            if post is None:
                return
            try:
                post()
                if self._posts.empty():
                    self._step()
            except Exception:  # one job's trouble must not stop the others
                _log.exception("The board could not do a step")

    def _step(self) -> None:
        """Look at leases and cluster, and send what fits."""
        now = monotonic()
        cancels: list[Post] = []
        with self._lock:
            for job in [job for job in self._jobs.values() if job.active and not job.finishing]:
                if job.complete:
                    self._finish(job)
                else:
                    cancels += self._look(job, now)
        run_all(cancels)
        while self._cluster.state == "ready" and self._send():
            pass

    def _look(self, job: Job, now: float) -> list[Post]:
        """End a job that nobody waits for or that has lost its cluster; returns what cancels its slices."""
        if not job.held(now, self._lease):
            message = InputError("Stopped, because no page has asked for it for {seconds:.0f} s", seconds=self._lease)
            return job.end("cancelled", message)
        cluster = self._cluster
        job.message = shortage(cluster, job) if cluster.state == "ready" else None
        if job.state == "waiting":
            if cluster.state == "failed":
                return job.end("failed", cluster.reason)
        elif cluster.state != "ready" or cluster.session != job.session:
            return job.end("interrupted", interruption("cluster", job))
        return []

    def _send(self) -> bool:
        """Send one slice if there is room; returns whether there may be room for another.

        No long slice waits on the cluster: whoever comes next gets the next worker that is free, however long the job
        that had it. Short slices may, one of them, so that no worker waits for the board.
        """
        cluster = self._cluster
        session = cluster.session
        if session != self._session:
            self._session = session
            self._on_cluster.clear()
        with self._lock:
            job = self._next()
            if job is None:
                return False
            self._turn += 1
            job.served = self._turn
            key, attempt = job.send(session), job.attempt
        sent = _Slice(job, attempt, key)
        self._on_cluster.add(sent)
        ended = partial(self._ended, sent)
        try:
            arguments = (job.experiment.measure, job.config, key)
            cancel = cluster.submit(run_slice, *arguments, then=ended, resources=job.resources)
        except InputError:  # the connection went away in between
            ended(Outcome(lost="cluster"))
        except Exception as error:  # the configuration cannot be sent
            ended(Outcome(error=error))
        else:
            with self._lock:
                if job.attempt == attempt and key in job.in_flight:
                    job.in_flight[key] = cancel
                    return True
            cancel()
        return True

    def _next(self) -> Job | None:
        """Whose turn it is, if there is room.

        A short slice may wait on the cluster only if it is next in turn. Else a job whose pace is not known yet would
        never find a free worker.
        """
        free = [(self._free(job), job) for job in self._jobs.values() if job.to_send]
        waiting = [job for slots, job in free if slots > 0]
        if waiting:
            return min(waiting, key=lambda job: job.turn)
        queued = min((job for slots, job in free if slots == 0), key=lambda job: job.turn, default=None)
        if queued is None or queued.next_seconds(self._cluster.slots(queued.resources)) > _SHORT_SECONDS:
            return None
        return queued

    def _free(self, job: Job) -> int:
        """How many workers are free that the job can use; -1 where it can use none, or a slice waits for one."""
        threads, slots = self._cluster.threads, self._cluster.slots(job.resources)
        alike = sum(sent.job.resources == job.resources for sent in self._on_cluster)
        return min(threads - len(self._on_cluster), slots - alike) if slots else -1

    def _ended(self, sent: _Slice, outcome: Outcome) -> None:
        """On the cluster's thread: pass on how a slice ended."""
        self._posts.put(partial(self._receive, sent, outcome))

    def _receive(self, sent: _Slice, outcome: Outcome) -> None:
        self._on_cluster.discard(sent)
        job = sent.job
        cancels: list[Post] = []
        with self._lock:
            if job.attempt != sent.attempt or not job.active:
                return
            if outcome.lost:
                cancels = job.end("interrupted", interruption(outcome.lost, job))
            elif outcome.error is not None:
                cancels = job.end("failed", sentence(outcome.error))
            else:
                job.arrive(sent.key, outcome.value, monotonic())
        run_all(cancels)

    def _finish(self, job: Job) -> None:
        """Store the result on a thread of its own: a slow store holds up nobody else's job."""
        job.finishing = True
        arguments = (job, job.attempt, job.points)
        threading.Thread(target=self._store_result, args=arguments, name="normviz-store", daemon=True).start()

    def _store_result(self, job: Job, attempt: int, points: tuple[Any, ...]) -> None:
        state, message = "done", None
        try:
            data = job.experiment.to_bytes(job.experiment.collect(job.config, points))
        except Exception as error:
            state, message = "failed", sentence(error)
        else:
            try:
                self._store.put(job.digest, data)
            except InputError as error:
                message = error
        with self._lock:
            if job.attempt == attempt:
                job.end(state, message)


def _do_nothing() -> None:
    """Only wake the background thread."""


def run_all(posts: Iterable[Post]) -> None:
    """Call each of them."""
    for post in posts:
        post()
