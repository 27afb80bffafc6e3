"""Do jobs take turns, so that a short one does not wait behind a long one, and is its place in the queue told?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toy_experiment import ToyConfig

from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import JobView
from normviz.jobs.store import Store

Ended = Callable[..., JobView]
Until = Callable[..., None]


def measured(log: Path) -> list[int]:
    """The first numbers of the slices that workers began."""
    return [int(line.split()[0]) for line in log.read_text().splitlines()]


def test_a_short_job_gets_the_next_free_worker(board: Board, ended: Ended, until: Until, tmp_path: Path) -> None:
    log = tmp_path / "long"
    long = ToyConfig(name="long", size=40, seconds=0.5, log=str(log))
    short = ToyConfig(name="short", size=2, seconds=0.05)
    board.submit("toy", long, "ada")
    until(lambda: board.view(long.digest).done >= 4)  # its pace is known by now
    board.submit("toy", short, "bob")
    began = len(measured(log))
    assert ended(board, short.digest).state == "done"
    assert len(measured(log)) <= began + 3  # just sent, on the other worker, on the one that the short job left
    assert board.view(long.digest).state == "running"
    board.cancel(long.digest)


def test_different_jobs_take_turns(board: Board, ended: Ended, until: Until) -> None:
    configs = [ToyConfig(name=f"turn {number}", size=12, seconds=0.1) for number in range(3)]
    for config in configs:
        board.submit("toy", config, "ada")
    done: list[tuple[int, ...]] = []

    def look() -> bool:
        done.append(tuple(board.view(config.digest).done for config in configs))
        return done[-1] == (12, 12, 12)

    until(look)
    assert max(max(counts) - min(counts) for counts in done) <= 3


def test_the_place_in_the_queue_is_told_and_falls(board: Board, ended: Ended, until: Until) -> None:
    long = ToyConfig(name="queue", size=40, seconds=0.5)
    board.submit("toy", long, "ada")
    until(lambda: board.view(long.digest).done >= 1)
    waiting = [ToyConfig(name=f"in the queue {number}", size=1, seconds=0.3) for number in range(5)]
    for config in waiting:
        board.submit("toy", config, "bob")
        board.view(waiting[0].digest)  # who looks does not move a job forward
    last: list[int] = []

    def look() -> bool:
        view = board.view(waiting[-1].digest)
        last.append(view.ahead)
        return view.state == "done"

    assert [board.view(config.digest).state for config in waiting[2:]] == ["waiting"] * 3
    places = [board.view(config.digest).ahead for config in waiting]
    assert places[2:] == [places[2], places[2] + 1, places[2] + 2]
    until(look)
    assert last == sorted(last, reverse=True)
    assert last[0] >= 2
    assert last[-1] == 0
    assert board.view(long.digest).ahead == 0
    board.cancel(long.digest)


def test_a_job_waits_behind_those_that_came_first(make_board: Callable[..., Board]) -> None:
    board = make_board(cluster=Cluster("tcp://127.0.0.1:1"))
    board.cluster.start = lambda: None  # it never gets ready
    configs = [ToyConfig(name=f"early {number}", size=2) for number in range(3)]
    for config in configs:
        board.submit("toy", config, "ada")
    assert [board.view(config.digest).ahead for config in configs] == [0, 1, 2]
    assert board.view(configs[1].digest).state == "waiting"
    board.cancel(configs[0].digest)
    assert [board.view(config.digest).ahead for config in configs] == [0, 0, 1]


def test_a_slice_of_several_points_counts_and_stays_whole(
    make_board: Callable[..., Board], store: Store, ended: Ended, until: Until, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    config = ToyConfig(name="grouped", size=22, group=4, seconds=0.15, log=str(log))
    board = make_board()
    board.submit("toy", config, "ada")
    assert board.view(config.digest).total == 22
    seen: set[int] = set()

    def look() -> bool:
        seen.add(board.view(config.digest).done)
        return max(seen) >= 12

    until(look)
    assert seen <= {0, 4, 8, 12, 16}
    board.cancel(config.digest)
    kept = board.view(config.digest)
    began = len(measured(log))
    board.submit("toy", config, "ada")  # what was measured is not measured again
    view = ended(board, config.digest)
    assert view.points == tuple((number, number**2) for number in range(22))
    assert (view.done, view.points[: len(kept.points)]) == (22, kept.points)
    assert {point[0] for point in kept.points}.isdisjoint(measured(log)[began:])
    again = make_board()
    assert again.view(again.submit("toy", config)).points == view.points


def test_a_stored_result_with_less_than_all_points_is_as_good_as_absent(
    board: Board, store: Store, ended: Ended
) -> None:
    config = ToyConfig(name="partial", size=6, group=3)
    record = board._experiments["toy"]
    store.put(config.digest, record.to_bytes(record.collect(config, [(0, 0), (1, 1)])))  # as many points as slices
    view = ended(board, board.submit("toy", config))
    assert (view.cached, view.done) == (False, 6)
