"""What is known of one job: its points, its watchers, how it stands and how long it will take?"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
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
        Number of slices measured, and of all.
    seconds_left
        Estimate; None until two points arrived in this attempt.
    cached
        Whether the result was read from the store.
    message
        Why it ended, or what could not be done.
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
    _measured: dict[Hashable, Any] = field(default_factory=dict)
    _first_arrival: float | None = None
    _last_arrival: float = 0.0
    _weight_since: float = 0.0

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
        self.submitted = now
        self._first_arrival, self._weight_since = None, 0.0

    def send(self, session: int) -> Hashable:
        """The next slice, from now on in flight."""
        if self.state == "waiting":
            self.state, self.session, self.message = "running", session, None
        key = self.to_send.popleft()
        self.in_flight[key] = None
        return key

    def arrive(self, key: Hashable, point: Any, now: float) -> None:
        """Keep a slice's point."""
        self.in_flight.pop(key, None)
        self._measured[key] = point
        self.points = tuple(self._measured[k] for k in self.keys if k in self._measured)
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
        """The rest's weight at the pace since this attempt's first point, counted down between arrivals.

        The first point is left out: a worker that starts also imports what it needs.
        """
        if self.state != "running" or self._first_arrival is None or self._weight_since <= 0:
            return None
        weight = self.experiment.weight
        rest = sum(weight(key) for key in self.keys if key not in self._measured)
        pace = (self._last_arrival - self._first_arrival) / self._weight_since
        return max(0.0, rest * pace - (now - self._last_arrival))

    def view(self, now: float, lease: float) -> JobView:
        """The job as it stands now."""
        return JobView(
            digest=self.digest,
            experiment=self.experiment.name,
            config=self.config,
            state=self.state,
            points=self.points,
            done=len(self.points),
            total=len(self.keys),
            seconds_left=self.seconds_left(now),
            cached=self.cached,
            message=self.message,
            watchers=self.watchers(now, lease),
        )
