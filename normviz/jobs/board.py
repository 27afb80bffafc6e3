"""Who runs what for whom? One job for everybody who asks for the same thing, as long as somebody waits for it."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from time import monotonic
from typing import Any

from normviz.depth.estimate import Speed
from normviz.errors import InputError
from normviz.jobs.cluster import Cluster
from normviz.jobs.connection import Outcome
from normviz.jobs.experiments import EXPERIMENTS, Experiment
from normviz.jobs.job import Job, JobView
from normviz.jobs.runner import Runner, call
from normviz.jobs.speed import measured_speed
from normviz.jobs.store import Store

_KNOWN_SECONDS = 2.0  # how long an answer of a remote store to "is it there?" is believed
_SPEED_TRIES = 3

_log = logging.getLogger(__name__)


class Board:
    """Jobs by the digest of their configuration.

    All methods return at once and may be called from any thread. One background thread sends slices to the cluster
    and receives points; nothing here waits for the cluster.

    Parameters
    ----------
    cluster, store
        Where slices run, and where results stay.
    experiments
        What can be submitted.
    lease
        Seconds without a watcher's `renew` after which a job is cancelled.
    remembered
        How many ended jobs are kept; the least recently looked at goes first.
    """

    def __init__(
        self,
        cluster: Cluster,
        store: Store,
        *,
        experiments: Mapping[str, Experiment] = EXPERIMENTS,
        lease: float = 30.0,
        remembered: int = 64,
    ) -> None:
        self.cluster = cluster
        self.store = store
        self._experiments = experiments
        self._lease = lease
        self._remembered = remembered
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._runner = Runner(cluster, store, self._jobs, self._lock, lease)
        self._known: OrderedDict[str, tuple[float, bool]] = OrderedDict()
        self._speed: Speed | None = None
        self._speed_tries = 0
        self._speed_asked = False
        cluster.warm({experiment.measure.partition(":")[0] for experiment in experiments.values()})

    def submit(self, experiment: str, config: Any, watcher: str | None = None) -> str:
        """Run an experiment, or join it if it runs, or take the stored result; returns the job's digest.

        A job that was cancelled, interrupted or failed goes on with what is missing. Until somebody renews, the
        submission itself holds the job for one lease.

        Parameters
        ----------
        experiment
            A name of the experiments table.
        config
            A configuration of that experiment.
        watcher
            Who asks; saves the first `renew`.

        Raises
        ------
        InputError
            If the experiment is unknown.
        TypeError
            If the configuration belongs to another experiment.
        """
        record = self._record(experiment, config)
        digest: str = config.digest
        if self._join(digest, watcher):
            return digest
        points = self._stored(record, config)
        if points is None:
            self.cluster.start()
        now = monotonic()
        with self._lock:
            job = self._jobs.get(digest)
            if job is None or not (job.active or job.state == "done"):
                if job is None:
                    job = Job(digest=digest, experiment=record, config=config, keys=tuple(record.keys(config)))
                if points is None:
                    job.begin(now)
                else:
                    job.attempt += 1
                    job.state, job.message, job.cached, job.points = "done", None, True, points
                self._jobs[digest] = job
                self._forget()
            self._touch(job, watcher, now)
        self._runner.wake()
        return digest

    def view(self, digest: str) -> JobView | None:
        """The job as it stands, or None if the board does not know it."""
        with self._lock:
            job = self._jobs.get(digest)
            if job is None:
                return None
            self._jobs.move_to_end(digest)
            return job.view(monotonic(), self._lease)

    def known(self, experiment: str, config: Any) -> bool:
        """Whether `submit` would have nothing new to start: the job is active or done, or its result is stored."""
        self._record(experiment, config)
        digest, now = config.digest, monotonic()
        with self._lock:
            job = self._jobs.get(digest)
            if job is not None and (job.active or job.state == "done"):
                return True
            asked, stored = self._known.get(digest, (-_KNOWN_SECONDS, False))
            if now - asked < _KNOWN_SECONDS:
                return stored
        try:
            stored = self.store.has(digest)
        except InputError:
            stored = False
        with self._lock:
            self._known[digest] = (now, stored)
            while len(self._known) > self._remembered:
                self._known.popitem(last=False)
        return stored

    def renew(self, digest: str, watcher: str) -> None:
        """Say that a watcher still waits; a page does so whenever it polls."""
        with self._lock:
            job = self._jobs.get(digest)
            if job is not None:
                self._touch(job, watcher, monotonic())

    def cancel(self, digest: str, watcher: str | None = None) -> None:
        """Leave a job; it stops if no other watcher waits for it. Without a watcher it stops in any case.

        Slices that are being computed end on their own and are not used.
        """
        now = monotonic()
        with self._lock:
            job = self._jobs.get(digest)
            if job is None or not job.active:
                return
            if watcher is not None:
                job.leases.pop(watcher, None)
                if job.watchers(now, self._lease):
                    return
            cancels = job.end("cancelled", None, now)
        self._runner.post(partial(call, cancels))

    def speed(self) -> Speed | None:
        """How fast a worker computes, once one has measured it; asking is what starts the measurement."""
        with self._lock:
            ask = self._speed is None and not self._speed_asked and self._speed_tries < _SPEED_TRIES
            ask = ask and self.cluster.state == "ready"
            self._speed_asked |= ask
            self._speed_tries += ask
        if ask:
            self._runner.post(self._measure_speed)
        return self._speed

    def close(self) -> None:
        """Cancel all jobs and stop the background thread; the cluster is the caller's to close."""
        with self._lock:
            digests = list(self._jobs)
        for digest in digests:
            self.cancel(digest)
        self._runner.close()

    def _record(self, experiment: str, config: Any) -> Experiment:
        if experiment not in self._experiments:
            raise InputError(
                "{field} is one of {allowed}; got {got}",
                field="experiment",
                allowed=", ".join(self._experiments),
                got=repr(experiment),
            )
        record = self._experiments[experiment]
        if not isinstance(config, record.config_type):
            raise TypeError(f"{experiment} takes a {record.config_type.__name__}; got {type(config).__name__}")
        return record

    def _join(self, digest: str, watcher: str | None) -> bool:
        with self._lock:
            job = self._jobs.get(digest)
            if job is None or not (job.active or job.state == "done"):
                return False
            self._touch(job, watcher, monotonic())
            return True

    def _touch(self, job: Job, watcher: str | None, now: float) -> None:
        self._jobs.move_to_end(job.digest)
        if watcher is not None:
            job.leases[watcher] = now

    def _stored(self, record: Experiment, config: Any) -> tuple[Any, ...] | None:
        """The points of the stored result; a file that is damaged, foreign or incomplete is as good as absent."""
        try:
            data = self.store.get(config.digest)
            if data is None:
                return None
            result = record.from_bytes(data)
            whole = len(result.points) == len(record.keys(config))
            return tuple(result.points) if whole and result.config.digest == config.digest else None
        except Exception as error:
            _log.info("The stored result %s is not used: %s", config.digest, error)
            return None

    def _forget(self) -> None:
        ended = [digest for digest, job in self._jobs.items() if not job.active]
        for digest in ended[: max(0, len(ended) - self._remembered)]:
            del self._jobs[digest]

    def _measure_speed(self) -> None:
        def ended(outcome: Outcome) -> None:
            self._speed = outcome.value
            self._speed_asked = False

        try:
            self.cluster.submit(measured_speed, then=ended)
        except InputError:
            self._speed_asked = False
