"""What do the tests of jobs share? One cluster of two workers, a fresh store and a fresh board."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:  # workers import the toy experiment by its name, as they import normviz
    sys.path.insert(0, HERE)

from outside import Outside  # noqa: E402
from toy_experiment import TOY  # noqa: E402

from normviz.jobs.board import Board  # noqa: E402
from normviz.jobs.cluster import Cluster  # noqa: E402
from normviz.jobs.experiments import EXPERIMENTS  # noqa: E402
from normviz.jobs.job import JobView  # noqa: E402
from normviz.jobs.store import Store  # noqa: E402

EVERYTHING = {**EXPERIMENTS, "toy": TOY}


@pytest.fixture(scope="session", autouse=True)
def workers_find_the_toy() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", HERE, prepend=os.pathsep)
        patch.delenv("NORMVIZ_SCHEDULER", raising=False)
        patch.delenv("NORMVIZ_WORKERS", raising=False)
        yield


@pytest.fixture(scope="session")
def cluster(workers_find_the_toy: None) -> Iterator[Cluster]:
    """One cluster of two workers for all tests."""
    cluster = Cluster("", workers=2)
    assert cluster.wait(60) == "ready", cluster.reason
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def external(workers_find_the_toy: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers of their own, which NORMVIZ_SCHEDULER names."""
    outside = Outside(tmp_path_factory.mktemp("outside"))
    try:
        for _ in range(2):
            outside.hire()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NORMVIZ_SCHEDULER", outside.address)
            cluster = Cluster()
        assert cluster.wait(20) == "ready", cluster.reason
        end = time.monotonic() + 30
        while cluster.threads < 2:
            assert time.monotonic() < end, "the workers do not come"
            time.sleep(0.05)
        yield cluster
        cluster.close()
    finally:
        outside.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "results"))


@pytest.fixture
def make_board(cluster: Cluster, store: Store) -> Iterator[Callable[..., Board]]:
    boards: list[Board] = []

    def make(**arguments: object) -> Board:
        arguments = {"cluster": cluster, "store": store, "experiments": EVERYTHING, **arguments}
        boards.append(Board(**arguments))
        return boards[-1]

    yield make
    for board in boards:
        board.close()


@pytest.fixture
def board(make_board: Callable[..., Board]) -> Board:
    return make_board()


@pytest.fixture
def until() -> Callable[..., None]:
    def wait(fact: Callable[[], bool], seconds: float = 15.0) -> None:
        end = time.monotonic() + seconds
        while not fact():
            assert time.monotonic() < end, "it did not come true in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def ended(until: Callable[..., None]) -> Callable[..., JobView]:
    def wait(board: Board, digest: str, seconds: float = 15.0) -> JobView:
        until(lambda: board.view(digest).state not in ("waiting", "running"), seconds)
        return board.view(digest)

    return wait
