"""Does the board run one job for all who ask, let go of what nobody waits for, and keep what has arrived?"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_experiment import ToyConfig

from normviz.depth.config import SweepConfig
from normviz.depth.results import DepthSweep, collect
from normviz.errors import InputError
from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import JobView
from normviz.jobs.store import Store

Ended = Callable[..., JobView]
Until = Callable[..., None]

SMALL = SweepConfig(depths=(1, 2), d_model=16, n_heads=2, d_ff=32, batch=2, seq_len=4, vocab_size=11)


def squares(size: int) -> tuple[tuple[int, int], ...]:
    return tuple((key, key * key) for key in range(size))


def test_a_job_runs_and_is_stored(board: Board, store: Store, ended: Ended) -> None:
    config = ToyConfig(name="runs", size=6, seconds=0.02)
    assert board.view(config.digest) is None
    assert not board.known("toy", config)
    digest = board.submit("toy", config, "ada")
    assert digest == config.digest
    view = board.view(digest)
    assert (view.state in ("waiting", "running"), view.total, view.watchers, view.config) == (True, 6, 1, config)
    assert board.known("toy", config)
    view = ended(board, digest)
    assert (view.state, view.points, view.done, view.cached) == ("done", squares(6), 6, False)
    assert (view.message, view.seconds_left, view.experiment) == (None, None, "toy")
    assert store.has(digest)


def test_a_stored_result_is_a_finished_job_at_once(make_board: Callable[..., Board], ended: Ended) -> None:
    config = ToyConfig(name="stored", size=4)
    first = make_board()
    ended(first, first.submit("toy", config))
    second = make_board(cluster=Cluster("tcp://127.0.0.1:1"))  # nothing could be computed
    assert second.known("toy", config)
    view = second.view(second.submit("toy", config))
    assert (view.state, view.cached, view.points) == ("done", True, squares(4))
    assert second.cluster.session == 0


def test_the_time_left_comes_from_the_weights_of_the_rest(board: Board, until: Until) -> None:
    config = ToyConfig(name="left", size=40, seconds=0.1)
    board.submit("toy", config, "ada")
    assert board.view(config.digest).seconds_left is None
    until(lambda: board.view(config.digest).done >= 10)
    assert 0.7 < board.view(config.digest).seconds_left < 15  # 30 slices of 0.1 s on two workers
    board.cancel(config.digest)
    assert board.view(config.digest).seconds_left is None


def test_an_interrupted_sweep_ends_with_the_same_numbers(
    board: Board, cluster: Cluster, store: Store, ended: Ended, until: Until
) -> None:
    """The real sweep: a worker is killed from outside in the middle, and what is missing is measured afterwards."""
    # Weights that depend on the depth: four slices, the last two long enough to be killed in.
    config = SweepConfig(depths=(1, 2, 40, 41), init="gpt2", d_model=64, vocab_size=11)
    workers = cluster.client().run(os.getpid).values()
    board.submit("sweep", config, "ada")
    until(lambda: board.view(config.digest).done >= 4, 30)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    view = ended(board, config.digest)
    assert view.state == "interrupted"
    kept = {point.key: point for point in view.points}
    assert 4 <= len(kept) < len(config.keys())
    board.submit("sweep", config, "ada")
    view = ended(board, config.digest, 60)
    assert view.state == "done", view.message
    assert all(kept.get(point.key, point) is point for point in view.points)
    disturbed = collect(config, view.points)
    stored = DepthSweep.to_frame(board._experiments["sweep"].from_bytes(store.get(config.digest)))
    store.discard(config.digest)
    board.close()
    again = Board(cluster, store)
    view = ended(again, again.submit("sweep", config, "bob"), 60)
    again.close()
    assert not view.cached
    undisturbed = collect(config, view.points).to_frame()
    assert disturbed.to_frame().equals(undisturbed)
    assert stored.equals(undisturbed)


def test_a_damaged_file_is_ignored_and_overwritten(board: Board, store: Store, ended: Ended) -> None:
    other = ToyConfig(name="another", size=3)
    for number, damage in enumerate([b"", b"[1, 2", b'[{"name": "unknown"}, []]', b"\x93NUMPY"]):
        config = ToyConfig(name=f"damaged {number}", size=3)
        store.put(config.digest, damage)
        view = ended(board, board.submit("toy", config))
        assert (view.state, view.cached, view.points) == ("done", False, squares(3))
        assert store.get(config.digest) != damage
    ended(board, board.submit("toy", other))
    foreign = ToyConfig(name="foreign", size=3)
    store.put(foreign.digest, store.get(other.digest) or b"")  # whole, but of another configuration
    assert not ended(board, board.submit("toy", foreign)).cached
    damaged_sweep = store.url + f"/{SMALL.digest}.npz"
    Path(damaged_sweep).write_bytes(b"PK\x03\x04 and then nothing")
    view = ended(board, board.submit("sweep", SMALL), 30)
    assert (view.state, view.cached, view.done) == ("done", False, len(SMALL.keys()))


def test_an_error_is_a_sentence(board: Board, ended: Ended) -> None:
    view = ended(board, board.submit("toy", ToyConfig(name="error", size=9, trouble="error", trouble_at=7)))
    assert view.state == "failed"
    assert isinstance(view.message, InputError)
    assert str(view.message) == "The computation stopped with an error: ArithmeticError: seven is not measured"
    assert view.done >= 5
    view = ended(board, board.submit("toy", ToyConfig(name="input", size=9, trouble="input", trouble_at=7)))
    assert view.state == "failed"
    assert view.message.template == "{field} is too large; got {got}"
    assert view.message.values == {"field": "size", "got": 9}


def test_a_failed_job_can_be_tried_again(board: Board, ended: Ended, tmp_path: Path) -> None:
    trouble = {"trouble": "error", "trouble_at": 3, "marker": str(tmp_path / "failed")}
    config = ToyConfig(name="again", size=5, **trouble)
    assert ended(board, board.submit("toy", config)).state == "failed"
    assert ended(board, board.submit("toy", config)).points == squares(5)


def test_without_a_store_the_board_goes_on_and_says_so(
    make_board: Callable[..., Board], ended: Ended, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for number, url in enumerate((str(tmp_path / "file" / "results"), "nosuch://bucket")):
        board = make_board(store=Store(url))
        config = ToyConfig(name=f"unstored {number}", size=3)
        view = ended(board, board.submit("toy", config))
        assert (view.state, view.points) == ("done", squares(3))
        assert f"The result store {url} cannot be written" in str(view.message)


def test_ended_jobs_are_forgotten_least_recently_seen_first(make_board: Callable[..., Board], ended: Ended) -> None:
    board = make_board(remembered=2)
    configs = [ToyConfig(name=f"old {number}", size=1) for number in range(3)]
    for config in configs[:2]:
        ended(board, board.submit("toy", config))
    board.view(configs[0].digest)
    ended(board, board.submit("toy", configs[2]))
    board.submit("toy", ToyConfig(name="new", size=1))
    assert [board.view(config.digest) is None for config in configs] == [False, True, False]


def test_a_cluster_that_does_not_start_fails_the_job_with_its_reason(
    make_board: Callable[..., Board], ended: Ended
) -> None:
    cluster = Cluster("tcp://127.0.0.1:1")
    board = make_board(cluster=cluster)
    config = ToyConfig(name="nowhere", size=3)
    view = ended(board, board.submit("toy", config), 8)
    assert (view.state, view.message) == ("failed", cluster.reason)
    assert "No Dask scheduler answers" in str(view.message)
    cluster.close()


def test_a_lost_cluster_interrupts_and_a_new_one_goes_on(
    make_board: Callable[..., Board], ended: Ended, until: Until
) -> None:
    cluster = Cluster("", workers=1)
    board = make_board(cluster=cluster)
    config = ToyConfig(name="lost", size=10, seconds=0.1)
    board.submit("toy", config, "ada")
    until(lambda: board.view(config.digest).done >= 2, 30)
    assert cluster._child is not None
    os.kill(cluster._child.pid, signal.SIGKILL)
    view = ended(board, config.digest)
    assert view.state == "interrupted"
    assert "connection to the compute cluster was lost after" in str(view.message)
    assert view.done >= 2
    until(lambda: cluster.state == "failed")
    assert "python -m normviz doctor" in str(cluster.reason)
    board.submit("toy", config, "ada")  # which starts the cluster again
    assert ended(board, config.digest, 30).points == squares(10)
    cluster.restart()
    cluster.close()


def test_what_cannot_be_submitted_is_refused(board: Board) -> None:
    with pytest.raises(InputError, match=r"experiment is one of sweep, norms, toy; got 'nosuch'"):
        board.submit("nosuch", SMALL)
    with pytest.raises(TypeError, match="toy takes a ToyConfig; got SweepConfig"):
        board.submit("toy", SMALL)


def test_a_view_is_fast_and_a_worker_tells_its_speed(board: Board, until: Until) -> None:
    until(lambda: board.speed() is not None)
    speed = board.speed()
    assert speed.device
    assert 1e8 < speed.flops_per_second < 1e16
    assert 1e-8 < speed.seconds_per_op < 1e-2
    config = ToyConfig(name="fast", size=400, seconds=0.01)
    board.submit("toy", config, "ada")
    until(lambda: board.view(config.digest).done > 5)
    start = time.perf_counter()
    for _ in range(200):
        board.renew(config.digest, "ada")
        board.view(config.digest)
    assert (time.perf_counter() - start) / 200 < 0.005
    board.cancel(config.digest)
