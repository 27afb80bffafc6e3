"""Is the speed of a cluster's workers measured once in every session, whatever becomes of the question?"""

from __future__ import annotations

from collections.abc import Callable

from normviz.depth.estimate import Speed
from normviz.jobs.speed import Speedometer
from normviz.jobs.tasks import Outcome


class SilentCluster:
    """A cluster whose tasks never end by themselves."""

    state = "ready"
    session = 1

    def __init__(self) -> None:
        self.asked: list[Callable[[Outcome], None]] = []

    def submit(self, function: Callable[[], object], *, then: Callable[[Outcome], None]) -> None:
        self.asked.append(then)


def test_speed_is_measured_again_when_the_cluster_has_started_anew() -> None:
    cluster = SilentCluster()
    posts: list[Callable[[], None]] = []
    meter = Speedometer(cluster, posts.append)

    def ask() -> Speed | None:
        speed = meter.speed()
        while posts:
            posts.pop()()
        return speed

    first, second = (Speed(flops_per_second=flops, seconds_per_op=1e-6, device="cpu") for flops in (1e9, 2e9))
    assert ask() is None
    assert ask() is None
    assert len(cluster.asked) == 1  # one question at a time
    cluster.session = 2  # the answer to the first will never come
    assert ask() is None
    assert len(cluster.asked) == 2
    cluster.asked[0](Outcome(value=second))  # late, and of another cluster
    cluster.asked[1](Outcome(value=first))
    assert ask() == first
    assert len(cluster.asked) == 2
    cluster.session = 3
    for _ in range(5):
        assert ask() == first
        cluster.asked[-1](Outcome(lost="worker"))
    assert len(cluster.asked) == 5  # three tries in a session
    cluster.session = 4
    ask()
    cluster.asked[-1](Outcome(value=second))
    assert ask() == second
