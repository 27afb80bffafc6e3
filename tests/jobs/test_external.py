"""Does the board say what is wrong with a cluster of others, and use what is right with it?"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest
from outside import Outside
from toy_experiment import ToyConfig

from normviz.jobs import doctor
from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.connection import connect
from normviz.jobs.job import JobView

Ended = Callable[..., JobView]
Until = Callable[..., None]


def squares(size: int) -> tuple[tuple[int, int], ...]:
    return tuple((key, key * key) for key in range(size))


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    outside = Outside(tmp_path)
    yield outside
    outside.close()


@pytest.fixture
def connected(outside: Outside) -> Iterator[Cluster]:
    cluster = Cluster(outside.address)
    yield cluster
    cluster.close()


def impostor(folder: Path, text: str) -> str:
    """A folder that, first on the import path, makes `import normviz` run this text."""
    folder.mkdir()
    (folder / "normviz.py").write_text(text)
    return str(folder)


def test_a_cluster_without_workers_is_ready_and_jobs_wait_until_one_comes(
    outside: Outside, connected: Cluster, make_board: Callable[..., Board], until: Until, ended: Ended
) -> None:
    start = time.monotonic()
    assert connected.wait(20) == "ready", connected.reason
    assert time.monotonic() - start < 4
    assert connected.threads == 0
    board = make_board(cluster=connected)
    config = ToyConfig(name="patient", size=24, seconds=0.1)
    board.submit("toy", config, "ada")
    until(lambda: board.view(config.digest).message is not None)
    assert board.view(config.digest).state == "waiting"
    assert str(board.view(config.digest).message) == "The compute cluster has no workers yet"
    worker = outside.hire()
    until(lambda: board.view(config.digest).done >= 2, 30)
    assert board.view(config.digest).message is None
    outside.kill(worker)  # its nanny too: a machine that lost its power
    # Dask takes it for a slice that ended its worker, or, if the worker could still say goodbye, waits for another one.
    until(lambda: board.view(config.digest).message is not None)
    view = board.view(config.digest)
    sentences = {
        "interrupted": "A compute worker stopped in the middle",
        "running": "The compute cluster has no workers",
    }
    assert sentences[view.state] in str(view.message)
    outside.hire()
    if view.state == "interrupted":
        board.submit("toy", config, "ada")
    assert board.view(config.digest).points[: view.done] == view.points
    assert ended(board, config.digest, 30).points == squares(24)


def test_a_scheduler_that_ends_interrupts_and_the_points_stay(
    outside: Outside, connected: Cluster, make_board: Callable[..., Board], until: Until, ended: Ended
) -> None:
    outside.hire()
    board = make_board(cluster=connected)
    config = ToyConfig(name="unplugged", size=100, seconds=0.1)
    board.submit("toy", config, "ada")
    until(lambda: board.view(config.digest).done >= 2, 30)
    outside.kill(outside.scheduler)
    view = ended(board, config.digest, 10)
    assert (view.state, view.done >= 2) == ("interrupted", True)
    assert "The connection to the compute cluster was lost after" in str(view.message)
    until(lambda: connected.state == "failed")
    board.submit("toy", config, "ada")
    view = ended(board, config.digest, 10)
    assert view.state == "failed"
    assert f"No Dask scheduler answers at {outside.address}" in str(view.message)
    assert view.done >= 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("raise ModuleNotFoundError(\"No module named 'normviz'\")", r"has no normviz; this process has \d.*Install"),
        ("__version__ = '0.0.1'", r"has normviz 0\.0\.1; this process has \d.*Install the same version on both"),
    ],
)
def test_a_worker_or_a_scheduler_with_another_normviz_is_refused(
    text: str, sentence: str, tmp_path: Path, until: Until
) -> None:
    path = impostor(tmp_path / "other", text)
    (tmp_path / "one").mkdir()
    outside = Outside(tmp_path / "one")
    cluster = Cluster(outside.address)
    try:
        outside.hire(path=path)
        assert cluster.wait(20) == "ready", cluster.reason  # the worker is not there yet
        until(lambda: cluster.state == "failed", 20)
        with pytest.raises(ValueError, match="The worker tcp://.* " + sentence):
            cluster.client()
        cluster.restart()
        assert cluster.wait(20) == "failed"  # the worker is there
    finally:
        cluster.close()
        outside.close()
    (tmp_path / "two").mkdir()
    outside = Outside(tmp_path / "two", path=path)
    cluster = Cluster(outside.address)
    try:
        assert cluster.wait(20) == "failed"
        with pytest.raises(ValueError, match=f"The scheduler {outside.address} .* " + sentence):
            cluster.client()
    finally:
        cluster.close()
        outside.close()


def test_slices_for_a_gpu_go_where_one_is_offered(
    outside: Outside, connected: Cluster, make_board: Callable[..., Board], until: Until, ended: Ended, tmp_path: Path
) -> None:
    outside.hire()
    assert connected.wait(20) == "ready", connected.reason
    until(lambda: connected.threads == 1, 30)
    board = make_board(cluster=connected)
    log = tmp_path / "slices"
    config = ToyConfig(name="gpu", size=4, seconds=0.1, device="cuda", log=str(log))
    board.submit("toy", config, "ada")
    until(lambda: board.view(config.digest).message is not None)
    view = board.view(config.digest)
    assert (view.state, connected.slots({"GPU": 1.0})) == ("waiting", 0)
    assert "No worker of the compute cluster offers GPU=1" in str(view.message)
    assert f"`dask worker {outside.address} --resources GPU=1`" in str(view.message)
    plain = ToyConfig(name="no gpu", size=4, seconds=0.1)
    assert board.view(board.submit("toy", plain, "bob")).ahead == 0  # who waits for a GPU is not ahead of it
    assert ended(board, plain.digest).points == squares(4)
    outside.hire("--resources", "GPU=1", "--name", "gpu")
    view = ended(board, config.digest, 30)
    assert (view.state, view.points, view.message) == ("done", squares(4), None)
    assert (connected.threads, connected.slots({"GPU": 1.0})) == (2, 1)
    workers = connected.client().scheduler_info(n_workers=-1)["workers"]
    with_gpu = [address for address, worker in workers.items() if worker["resources"]]
    assert {int(line.split()[1]) for line in log.read_text().splitlines()} == set(
        connected.client().run(os.getpid, workers=with_gpu).values()
    )


def test_the_own_cluster_is_not_asked_for_a_gpu(board: Board, ended: Ended) -> None:
    config = ToyConfig(name="own gpu", size=3, device="cuda")
    assert ended(board, board.submit("toy", config)).points == squares(3)


def test_the_doctor_tells_the_versions(outside: Outside, monkeypatch: pytest.MonkeyPatch, until: Until) -> None:
    monkeypatch.setenv("NORMVIZ_SCHEDULER", outside.address)
    with pytest.raises(ValueError, match="no workers yet"):
        doctor._cluster()
    outside.hire()
    cluster = Cluster()
    cluster.start()
    until(lambda: cluster.threads == 1, 30)
    cluster.close()
    found = doctor._cluster()
    for package in ("Python 3.", "distributed 20", "numpy ", "torch ", "normviz "):
        assert package in found


def test_a_greeting_that_comes_with_other_news_is_asked_for_again(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tried = distributed.Client, []

    def client(*args: Any, **options: Any) -> distributed.Client:
        tried.append(args)
        assert len(tried) > 2  # as distributed does where a worker's news came in the same batch
        return real(*args, **options)

    monkeypatch.setattr(distributed, "Client", client)
    found, workforce = connect(outside.address)
    found.close(timeout=1)
    assert len(tried) == 3
    assert workforce.offers == {}
