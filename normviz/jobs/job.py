"""What is known of one job: its points, its watchers, how it stands and how long it will take?"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from normviz.errors import InputError
from normviz.jobs.experiments import Experiment

_ACTIVE = ("waiting", "running")


@dataclass(frozen=True, kw_only=True)
class JobView:
    """A job at one moment.

    Attributes
    ----------
    digest, experiment, config
        Which job: the configuration's digest, the experiment's name, the configuration.
    state
        One of "waiting" (no slice was sent yet), "running", "done", "cancelled", "interrupted" (a worker or the cluster
        was lost) and "failed". A job in one of the last three keeps its points; submitting it again measures the rest.
    points
        What has arrived, in the order of the experiment's keys.
    done, total
        Number of points measured, and of all.
    ahead
        How many jobs get a worker before this one does, while it waits; 0 is "next", and where nothing waits.
    seconds_left
        Estimate; None until two slices arrived in this attempt.
    cached
        Whether the result was read from the store.
    message
        Why it ended, what could not be done, or which worker it waits for.
    watchers
        How many renewed lately; one that has left (`Board.left`) is not among them.
    """

    digest: str
    experiment: str
    config: Any
    state: str
    points: tuple[Any, ...]
    done: int
    total: int
    ahead: int
    seconds_left: float | None
    cached: bool
    message: InputError | None
    watchers: int


@dataclass(eq=False, kw_only=True)
class Job:
    """The board's own record of a job; every method is called under the board's lock.

    `attempt` changes whenever the job begins or ends, so that what comes late from an earlier attempt is recognized.
    """

    digest: str
    experiment: Experiment
    config: Any
    keys: tuple[Hashable, ...]
    total: int
    resources: Mapping[str, float]
    state: str = "done"
    points: tuple[Any, ...] = ()
    message: InputError | None = None
    cached: bool = False
    attempt: int = 0
    session: int = 0
    finishing: bool = False
    to_send: deque[Hashable] = field(default_factory=deque)
    in_flight: dict[Hashable, Callable[[], None] | None] = field(default_factory=dict)
    leases: dict[str, float] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    submitted: float = 0.0
    served: int = 0
    _measured: dict[Hashable, tuple[Any, ...]] = field(default_factory=dict)
    _first_arrival: float | None = None
    _last_arrival: float = 0.0
    _weight_since: float = 0.0

    @classmethod
    def of(cls, experiment: Experiment, config: Any) -> Job:
        """A new job, which has measured nothing."""
        keys = tuple(experiment.keys(config))
        return cls(
            digest=config.digest,
            experiment=experiment,
            config=config,
            keys=keys,
            total=sum(experiment.points(key) for key in keys),
            resources=experiment.resources(config),
        )

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in _ACTIVE

    @property
    def complete(self) -> bool:
        """Whether every slice was measured."""
        return len(self._measured) == len(self.keys)

    def begin(self, now: float) -> None:
        """Wait for a worker, with what an earlier attempt has measured."""
        self.attempt += 1
        self.state, self.message, self.finishing = "waiting", None, False
        self.to_send = deque(key for key in self.keys if key not in self._measured)
        self.in_flight = {}
        self.leases = {}
        self.submitted, self.served = now, 0
        self._first_arrival, self._weight_since = None, 0.0

    def send(self, session: int) -> Hashable:
        """The next slice, from now on in flight."""
        if self.state == "waiting":
            self.state, self.session, self.message = "running", session, None
        key = self.to_send.popleft()
        self.in_flight[key] = None
        return key

    @property
    def turn(self) -> tuple[int, int, float]:
        """Sorts jobs into the order in which they get the next free worker.

        First comes who occupies the fewest workers, then who was served the longest ago, then who asked first: jobs
        take turns, and a new one is next in turn.
        """
        return len(self.in_flight), self.served, self.submitted

    def arrive(self, key: Hashable, points: tuple[Any, ...], now: float) -> None:
        """Keep a slice's points."""
        self.in_flight.pop(key, None)
        self._measured[key] = points
        self.points = tuple(point for k in self.keys if k in self._measured for point in self._measured[k])
        self._last_arrival = now
        if self._first_arrival is None:
            self._first_arrival = now
        else:
            self._weight_since += self.experiment.weight(key)

    def end(self, state: str, message: InputError | None) -> list[Callable[[], None]]:
        """Stop in this state; returns what cancels the slices in flight."""
        self.attempt += 1
        self.state, self.message, self.finishing = state, message, False
        cancels = [cancel for cancel in self.in_flight.values() if cancel is not None]
        self.to_send.clear()
        self.in_flight = {}
        return cancels

    def join(self, watcher: str, now: float) -> None:
        """Have a watcher wait for the job, even one that has left it."""
        self.left.discard(watcher)
        self.leases[watcher] = now

    def renew(self, watcher: str, now: float) -> None:
        """Lengthen a watcher's lease; one that has left stays away until it joins again."""
        if watcher not in self.left:
            self.leases[watcher] = now

    def leave(self, watcher: str) -> None:
        """A watcher no longer waits."""
        self.leases.pop(watcher, None)
        self.left.add(watcher)

    def watchers(self, now: float, lease: float) -> int:
        """How many renewed within the lease; forgets the others."""
        self.leases = {watcher: last for watcher, last in self.leases.items() if now - last <= lease}
        return len(self.leases)

    def held(self, now: float, lease: float) -> bool:
        """Whether somebody still waits for it; a new job is held for one lease by its submission."""
        return now - self.submitted <= lease or self.watchers(now, lease) > 0

    def seconds_left(self, now: float) -> float | None:
        """The rest's weight at the pace since this attempt's first slice, counted down between arrivals.

        The first slice is left out: a worker that starts also imports what it needs.
        """
        if self.state != "running" or self._pace() == math.inf:
            return None
        weight = self.experiment.weight
        rest = sum(weight(key) for key in self.keys if key not in self._measured)
        return max(0.0, rest * self._pace() - (now - self._last_arrival))

    def _pace(self) -> float:
        """Seconds for a unit of weight, all its workers together; infinite until two slices arrived in this attempt."""
        if self._first_arrival is None or self._weight_since <= 0:
            return math.inf
        return (self._last_arrival - self._first_arrival) / self._weight_since

    def next_seconds(self, threads: int) -> float:
        """How long its next slice will keep a worker at most, where it has so many; infinite if that is not known."""
        return self.experiment.weight(self.to_send[0]) * self._pace() * threads

    def view(self, now: float, lease: float, ahead: int = 0) -> JobView:
        """The job as it stands now, so many others having their turn before it."""
        return JobView(
            digest=self.digest,
            experiment=self.experiment.name,
            config=self.config,
            state=self.state,
            points=self.points,
            done=len(self.points),
            total=self.total,
            ahead=ahead,
            seconds_left=self.seconds_left(now),
            cached=self.cached,
            message=self.message,
            watchers=self.watchers(now, lease),
        )
