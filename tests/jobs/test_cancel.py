"""Does a job stop when its last watcher leaves, and let go of its workers?"""

from __future__ import annotations

import time
from collections.abc import Callable

from toy_experiment import ToyConfig

from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import JobView

Ended = Callable[..., JobView]
Until = Callable[..., None]


def squares(size: int) -> tuple[tuple[int, int], ...]:
    return tuple((key, key * key) for key in range(size))


def test_a_watcher_that_left_comes_back_by_submitting(board: Board) -> None:
    config = ToyConfig(name="back", size=100, seconds=0.1)
    for watcher in ("ada", "bob"):
        board.submit("toy", config, watcher)
    board.cancel(config.digest, "ada")
    board.submit("toy", config, "ada")
    assert not board.left(config.digest, "ada")
    board.cancel(config.digest, "bob")
    assert board.view(config.digest).state in ("waiting", "running")
    board.cancel(config.digest, "ada")
    assert board.view(config.digest).state == "cancelled"
    board.submit("toy", config, "bob")  # ada still does not want it
    board.renew(config.digest, "ada")
    assert board.view(config.digest).watchers == 1
    board.cancel(config.digest)
    assert not board.left("0" * 64, "ada")


def test_a_cancelled_slice_holds_up_nobody(board: Board, until: Until, ended: Ended, cluster: Cluster) -> None:
    """Both workers compute slices of a minute; other jobs go on as soon as they are cancelled."""
    endless = ToyConfig(name="endless", size=3, seconds=60)
    short = ToyConfig(name="prompt", size=4, seconds=0.05)
    board.submit("toy", endless, "ada")
    until(lambda: len(board._runner._on_cluster) == 2)
    time.sleep(0.3)
    board.cancel(endless.digest, "ada")
    board.submit("toy", short, "bob")
    time.sleep(0.4)
    assert len(board._runner._on_cluster) <= 2  # cancelled slices included
    view = ended(board, short.digest, 30)
    assert (view.state, view.points) == ("done", squares(4))
    until(lambda: not board._runner._on_cluster)
    assert board.view(endless.digest).state == "cancelled"
    until(lambda: len(cluster.client().nthreads()) == 2, 30)  # for the tests that follow


def test_cancel_without_a_watcher_stops_for_all(board: Board) -> None:
    config = ToyConfig(name="all", size=100, seconds=0.1)
    board.submit("toy", config, "ada")
    board.cancel(config.digest)
    assert board.view(config.digest).state == "cancelled"
    board.cancel(config.digest)
    board.cancel("0" * 64)
    board.renew("0" * 64, "ada")
