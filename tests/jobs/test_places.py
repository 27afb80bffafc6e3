"""Does the board behave alike on its own cluster and on a scheduler that NORMVIZ_SCHEDULER names?"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_experiment import ToyConfig

from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import JobView

Ended = Callable[..., JobView]
Until = Callable[..., None]


@pytest.fixture(params=["cluster", "external"])
def place(request: pytest.FixtureRequest) -> Cluster:
    cluster: Cluster = request.getfixturevalue(request.param)
    assert cluster.external == (request.param == "external")
    return cluster


@pytest.fixture
def board(make_board: Callable[..., Board], place: Cluster) -> Board:
    return make_board(cluster=place)


def squares(size: int) -> tuple[tuple[int, int], ...]:
    return tuple((key, key * key) for key in range(size))


def test_points_arrive_one_after_the_other(board: Board, until: Until) -> None:
    config = ToyConfig(name="live", size=10, seconds=0.2)
    board.submit("toy", config, "ada")
    seen: list[int] = []

    def look() -> bool:
        view = board.view(config.digest)
        seen.append(len(view.points))
        return view.state == "done"

    until(look)
    assert len(set(seen)) >= 5
    assert seen == sorted(seen)
    assert board.view(config.digest).points == squares(10)


def test_forty_equal_submits_are_one_job(board: Board, ended: Ended) -> None:
    config = ToyConfig(name="forty", size=8, seconds=0.02)
    digests: list[str] = []

    def ask(number: int) -> None:
        digests.append(board.submit("toy", config, f"student {number}"))
        for _ in range(5):
            board.renew(config.digest, f"student {number}")
            board.view(config.digest)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests == [config.digest] * 40
    assert board.view(config.digest).watchers == 40
    assert ended(board, config.digest).points == squares(8)
    assert board._jobs[config.digest].attempt == 2  # began once, ended once


def test_a_job_that_nobody_renews_is_cancelled(make_board: Callable[..., Board], place: Cluster, ended: Ended) -> None:
    board = make_board(cluster=place, lease=0.4)
    config = ToyConfig(name="lease", size=200, seconds=0.05)
    board.submit("toy", config)
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        board.renew(config.digest, "ada")
        time.sleep(0.05)
    assert board.view(config.digest).state == "running"
    view = ended(board, config.digest, 2)
    assert view.state == "cancelled"
    assert "no page has asked for it" in str(view.message)
    assert 0 < view.done < 200


def test_a_cancelled_job_goes_on_with_what_is_missing(board: Board, until: Until, ended: Ended) -> None:
    config = ToyConfig(name="resume", size=12, seconds=0.05)
    board.submit("toy", config, "ada")
    until(lambda: board.view(config.digest).done >= 4)
    board.cancel(config.digest, "ada")
    kept = board.view(config.digest).done
    board.submit("toy", config, "ada")
    view = board.view(config.digest)
    assert (view.done, view.points) == (kept, view.points)
    assert view.done >= 4
    assert ended(board, config.digest).points == squares(12)


def test_a_short_job_overtakes_a_long_one(board: Board, ended: Ended, until: Until) -> None:
    long = ToyConfig(name="long", size=200, seconds=0.05)
    short = ToyConfig(name="short", size=4, seconds=0.05)
    board.submit("toy", long, "ada")
    until(lambda: board.view(long.digest).done >= 2)
    board.submit("toy", short, "bob")
    assert ended(board, short.digest).state == "done"
    view = board.view(long.digest)
    assert (view.state, view.done < 40) == ("running", True)
    board.cancel(long.digest)


def test_a_killed_worker_interrupts_and_the_rest_can_be_resumed(board: Board, ended: Ended, tmp_path: Path) -> None:
    trouble = {"trouble": "kill", "trouble_at": 9, "marker": str(tmp_path / "killed")}
    config = ToyConfig(name="killed", size=14, seconds=0.03, **trouble)
    view = ended(board, board.submit("toy", config, "ada"))
    assert view.state == "interrupted"
    assert "out of memory or killed, after" in str(view.message)
    assert 6 <= view.done < 14
    board.submit("toy", config, "ada")
    view = ended(board, config.digest)
    assert (view.state, view.points, view.message) == ("done", squares(14), None)


def test_the_last_watcher_cancels(board: Board, until: Until, place: Cluster) -> None:
    config = ToyConfig(name="cancel", size=100, seconds=0.1)
    board.submit("toy", config, "ada")
    board.submit("toy", config, "bob")
    assert not board.left(config.digest, "ada")
    board.cancel(config.digest, "ada")
    board.renew(config.digest, "ada")  # her page still shows the job, and polls
    board.renew(config.digest, "bob")
    assert board.view(config.digest).state in ("waiting", "running")
    assert board.view(config.digest).watchers == 1
    assert (board.left(config.digest, "ada"), board.left(config.digest, "bob")) == (True, False)
    until(lambda: board.view(config.digest).done > 0)
    board.cancel(config.digest, "bob")
    view = board.view(config.digest)
    assert view.state == "cancelled"
    assert view.message is None
    time.sleep(0.4)
    assert board.view(config.digest).points == view.points
    tasks = place.client().run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    assert tasks == 0
    assert not board.known("toy", config)


def test_a_cancelled_slice_runs_on_only_where_workers_are_not_ours(
    board: Board, place: Cluster, until: Until, ended: Ended
) -> None:
    endless = ToyConfig(name="endless", size=2, seconds=4)
    short = ToyConfig(name="prompt", size=4, seconds=0.05)
    before = place.client().run(os.getpid)
    board.submit("toy", endless, "ada")
    until(lambda: len(board._runner._on_cluster) == 2)
    time.sleep(0.3)
    start = time.monotonic()
    board.cancel(endless.digest, "ada")
    assert board.view(endless.digest).state == "cancelled"
    board.submit("toy", short, "bob")
    assert ended(board, short.digest, 30).points == squares(4)
    if place.external:  # others may use the worker too: it is not ended, and counts as busy until then
        assert time.monotonic() - start > 3
    until(lambda: len(place.client().nthreads()) == 2, 30)
    after = place.client().run(os.getpid)
    assert (before == after) == place.external
