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
from normviz.jobs.experiments import EXPERIMENTS, Experiment
from normviz.jobs.job import Job, JobView
from normviz.jobs.known import Known
from normviz.jobs.runner import Runner, run_all
from normviz.jobs.speed import Speedometer
from normviz.jobs.store import Store

_log = logging.getLogger(__name__)


class Board:
    """Jobs by the digest of their configuration.

    All methods may be called from any thread, and none waits for the cluster: one background thread sends slices
    and receives points. `submit` and `known` may wait for the store; all others return at once.

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
        self._known = Known(store, remembered)
        self._speedometer = Speedometer(cluster, self._runner.post)
        cluster.warm({experiment.measure.partition(":")[0] for experiment in experiments.values()})

    def submit(self, experiment: str, config: Any, watcher: str | None = None) -> str:
        """Run an experiment, or join it if it runs, or take the stored result; returns the job's digest.

        A job that was cancelled, interrupted or failed goes on with what is missing. Until somebody renews, the
        submission itself holds the job for one lease.

        Joining a job that the board has returns at once. Otherwise the caller's thread reads and parses the stored
        result, if there is one: milliseconds in a local folder, as long as the network takes in a remote store.

        Parameters
        ----------
        experiment
            A name of the experiments table.
        config
            A configuration of that experiment.
        watcher
            Who asks; saves the first `renew`, and comes back if it had left.

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
                    job = Job.of(record, config)
                if points is None:
                    job.begin(now)
                else:
                    job.attempt += 1
                    job.state, job.message, job.cached, job.points = "done", None, True, points
                self._jobs[digest] = job
                self._forget()
            self._join_as(watcher, job, now)
        self._runner.wake()
        return digest

    def view(self, digest: str) -> JobView | None:
        """The job as it stands, or None if the board does not know it."""
        with self._lock:
            job = self._jobs.get(digest)
            if job is None:
                return None
            self._jobs.move_to_end(digest)
            return job.view(monotonic(), self._lease, self._ahead(job))

    def known(self, experiment: str, config: Any) -> bool:
        """Whether `submit` would have nothing new to start: the job is active or done, or its result is stored.

        Where only the store can tell, the caller's thread asks it, at most every two seconds for the same result. A
        store that cannot be read holds nothing, and is not asked again for half a minute.
        """
        self._record(experiment, config)
        with self._lock:
            job = self._jobs.get(config.digest)
            if job is not None and (job.active or job.state == "done"):
                return True
        return self._known.has(config.digest)

    def renew(self, digest: str, watcher: str) -> None:
        """Say that a watcher still waits; a page does so whenever it polls.

        Of a watcher that has left it is ignored: its page still shows the job that others wait for, and polls.
        """
        with self._lock:
            job = self._jobs.get(digest)
            if job is not None:
                self._jobs.move_to_end(digest)
                job.renew(watcher, monotonic())

    def left(self, digest: str, watcher: str) -> bool:
        """Whether this watcher has cancelled the job and not submitted it again since.

        While the job is active all the same, the `watchers` of its view are the others who still wait for it.
        """
        with self._lock:
            job = self._jobs.get(digest)
            return job is not None and watcher in job.left

    def cancel(self, digest: str, watcher: str | None = None) -> None:
        """Leave a job; it stops if no other watcher waits for it. Without a watcher it stops in any case.

        A slice that is being computed is not used. On this process's own cluster it holds up nobody for long: a
        worker that still computes it after a second is ended and another started. On a cluster that NORMVIZ_SCHEDULER
        names, it computes to its end and counts as a busy worker until then.
        """
        with self._lock:
            job = self._jobs.get(digest)
            if job is None or not job.active:
                return
            if watcher is not None:
                job.leave(watcher)
                if job.watchers(monotonic(), self._lease):
                    return
            cancels = job.end("cancelled", None)
        self._runner.post(partial(run_all, cancels))

    def speed(self) -> Speed | None:
        """How fast a worker computes, once one has measured it; asking is what starts the measurement.

        Measured anew when the cluster has started anew; until then the last speed known.
        """
        return self._speedometer.speed()

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
            self._join_as(watcher, job, monotonic())
            return True

    def _join_as(self, watcher: str | None, job: Job, now: float) -> None:
        self._jobs.move_to_end(job.digest)
        if watcher is not None:
            job.join(watcher, now)

    def _stored(self, record: Experiment, config: Any) -> tuple[Any, ...] | None:
        """The points of the stored result; a file that is damaged, foreign or incomplete is as good as absent."""
        try:
            data = self.store.get(config.digest)
            if data is None:
                return None
            result = record.from_bytes(data)
            whole = len(result.points) == record.total(config)
            return tuple(result.points) if whole and result.config.digest == config.digest else None
        except Exception as error:
            _log.info("The stored result %s is not used: %s", config.digest, error)
            return None

    def _ahead(self, job: Job) -> int:
        if job.state != "waiting":
            return 0
        others = (other for other in self._jobs.values() if other.to_send and other.resources == job.resources)
        return sum(other.turn < job.turn for other in others)

    def _forget(self) -> None:
        ended = [digest for digest, job in self._jobs.items() if not job.active]
        for digest in ended[: max(0, len(ended) - self._remembered)]:
            del self._jobs[digest]
