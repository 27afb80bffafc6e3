"""Does the compute cluster start, say why it does not, and end with its parent?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from normviz.errors import InputError
from normviz.jobs.child import Child
from normviz.jobs.cluster import Cluster
from normviz.jobs.serve import worker_count
from normviz.jobs.tasks import Outcome

ROOT = Path(__file__).parents[2]

PARENT = """
import json, sys, threading, time
from normviz.jobs.cluster import Cluster
from normviz.jobs.serve import worker_count
from normviz.jobs.tasks import Outcome
if __name__ == "__main__":
    cluster = Cluster("", workers=1)
    assert cluster.wait(60) == "ready", cluster.reason
    print(json.dumps(cluster.address), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def run(until: Callable[..., None]) -> Callable[..., Outcome]:
    def run(cluster: Cluster, function: Callable[..., object], *arguments: object) -> Outcome:
        outcomes: list[Outcome] = []
        cluster.submit(function, *arguments, then=outcomes.append)
        until(lambda: bool(outcomes))
        return outcomes[0]

    return run


def test_a_task_returns_its_value_its_error_or_that_it_was_lost(cluster: Cluster, run: Callable[..., Outcome]) -> None:
    assert run(cluster, divmod, 7, 2) == Outcome(value=(3, 1))
    assert isinstance(run(cluster, int, "seven").error, ValueError)
    assert run(cluster, os._exit, 3) == Outcome(lost="worker")
    assert cluster.state == "ready"
    assert run(cluster, divmod, 7, 2) == Outcome(value=(3, 1))


def test_a_cancelled_task_has_ended_when_it_computes_no_more(cluster: Cluster, until: Callable[..., None]) -> None:
    outcomes: list[Outcome] = []
    start = time.monotonic()
    cancels = [cluster.submit(time.sleep, 0.6, then=outcomes.append) for _ in range(3)]
    time.sleep(0.2)
    for cancel in cancels:
        cancel()
    until(lambda: len(outcomes) == 3)
    assert time.monotonic() - start > 0.6
    assert {outcome.lost for outcome in outcomes} == {"cancelled"}


def test_a_cancelled_task_loses_its_worker_and_what_waits_there_is_sent_again(
    cluster: Cluster, until: Callable[..., None]
) -> None:
    before = set(cluster.client().run(os.getpid).values())
    endless: list[Outcome] = []
    waiting: list[Outcome] = []
    cancels = [cluster.submit(time.sleep, 60, then=endless.append) for _ in range(2)]
    for number in range(4):
        cluster.submit(divmod, number, 1, then=waiting.append)
    time.sleep(0.3)
    for cancel in cancels:
        cancel()
    until(lambda: len(endless) == 2)
    until(lambda: len(waiting) == 4, 30)
    assert sorted(outcome.value for outcome in waiting) == [(number, 0) for number in range(4)]
    until(lambda: len(cluster.client().nthreads()) == 2, 30)
    assert before.isdisjoint(cluster.client().run(os.getpid).values())


def test_a_worker_that_ends_again_a_quarter_of_a_minute_later_comes_back(
    cluster: Cluster, until: Callable[..., None]
) -> None:
    def end_all() -> None:
        cluster.client().run(os._exit, 1, on_error="ignore")

    end_all()
    time.sleep(14.7)  # distributed's own look at lost workers comes after 15 s
    assert len(cluster.client().nthreads()) == 2
    end_all()
    until(lambda: len(cluster.client().nthreads()) < 2)
    time.sleep(1)
    until(lambda: len(cluster.client().nthreads()) == 2, 30)


def test_workers_keep_to_one_thread_and_to_a_temporary_folder(cluster: Cluster, run: Callable[..., Outcome]) -> None:
    assert run(cluster, os.getenv, "OMP_NUM_THREADS").value == "1"
    info = cluster.client().scheduler_info()
    folders = {worker["local_directory"] for worker in info["workers"].values()}
    assert all(not Path(folder).is_relative_to(ROOT) for folder in folders)
    assert all(worker["memory_limit"] < 0.5 * psutil.virtual_memory().total for worker in info["workers"].values())
    assert all(address.startswith("tcp://127.0.0.1:") for address in info["workers"])
    assert cluster.threads == 2


def _children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def test_the_cluster_dies_with_its_parent_and_leaves_nothing(tmp_path: Path, until: Callable[..., None]) -> None:
    script = tmp_path / "parent.py"
    (tmp_path / "distributed.py").write_text("raise ImportError('a file of the same name in the current folder')")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # As from a clone: nothing is installed, the script knows where normviz lies and says so to nobody.
    script.write_text(f"import sys\nsys.path[0] = {str(ROOT)!r}\n" + PARENT)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["TMPDIR"] = str(temporary)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    )
    try:
        assert parent.stdout is not None
        assert "tcp://127.0.0.1" in parent.stdout.readline()
        family = _children(parent.pid)
        assert len(family) >= 2  # the scheduler's process and a worker
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        until(lambda: not any(process.is_running() for process in family), 10)
        until(lambda: not list(temporary.glob("normviz-*")), 5)
        assert not (tmp_path / "dask-scratch-space").exists()
    finally:
        parent.kill()
        parent.wait()
        if parent.stdout is not None:
            parent.stdout.close()


@pytest.fixture(scope="module")
def scheduler(workers_find_the_toy: None) -> Iterator[str]:
    child = Child(1)
    address, _ = child.wait_for_address(60)
    yield address
    child.stop()


def test_an_existing_scheduler_is_used(
    scheduler: str, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Outcome]
) -> None:
    monkeypatch.setenv("NORMVIZ_SCHEDULER", scheduler)
    cluster = Cluster()
    before = {child.pid for child in _children(os.getpid())}
    try:
        assert cluster.wait(20) == "ready", cluster.reason
        assert (cluster.address, cluster.threads) == (scheduler, 1)
        assert {child.pid for child in _children(os.getpid())} == before
        assert run(cluster, divmod, 7, 2).value == (3, 1)
        session = cluster.session
        cluster.restart()
        assert cluster.wait(20) == "ready"
        assert cluster.session > session
        assert run(cluster, divmod, 7, 2).value == (3, 1)
    finally:
        cluster.close()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("tcp://127.0.0.1:1", r"No Dask scheduler answers at tcp://127\.0\.0\.1:1 .*Start it or correct the address"),
        ("127.0.0.1:8786", "is an address like tcp://host:8786"),
        ("tcp://127.0.0.1:port", "is an address like tcp://host:8786"),
        ("http://127.0.0.1:8786", "is an address like tcp://host:8786"),
    ],
)
def test_an_address_without_a_scheduler_is_a_state_with_advice(
    address: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NORMVIZ_SCHEDULER", address)
    cluster = Cluster()
    assert cluster.state == "starting"
    start = time.monotonic()
    cluster.start()
    assert time.monotonic() - start < 0.2
    assert cluster.wait(8) == "failed"
    assert isinstance(cluster.reason, InputError)
    with pytest.raises(InputError, match=sentence):
        cluster.client()
    cluster.restart()
    assert cluster.wait(8) == "failed"
    cluster.close()


def test_a_cancelled_task_of_an_existing_scheduler_computes_to_its_end(
    scheduler: str, until: Callable[..., None]
) -> None:
    cluster = Cluster(scheduler)
    assert cluster.wait(20) == "ready", cluster.reason
    try:
        before = cluster.client().run(os.getpid)
        outcomes: list[Outcome] = []
        start = time.monotonic()
        cancel = cluster.submit(time.sleep, 2.0, then=outcomes.append)
        time.sleep(0.3)
        cancel()
        until(lambda: bool(outcomes), 5)
        assert time.monotonic() - start > 2
        assert cluster.client().run(os.getpid) == before
    finally:
        cluster.close()


@pytest.mark.parametrize(("text", "count"), [("", None), (" ", None), ("\t\n", None), (" 3 ", 3)])
def test_a_blank_number_of_workers_means_the_default(
    text: str, count: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NORMVIZ_WORKERS", text)
    assert worker_count() == count
    assert worker_count(2) == 2


@pytest.mark.parametrize("text", ["several", "0", "-1", "1.5", "257", "٣"])
def test_a_wrong_number_of_workers_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMVIZ_WORKERS", text)
    with pytest.raises(InputError, match="NORMVIZ_WORKERS is a whole number from 1 to 256; got"):
        worker_count()


def test_a_child_with_a_blank_number_of_workers_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMVIZ_WORKERS", " ")
    child = Child()
    try:
        assert child.wait_for_address(60)[1] >= 1
    finally:
        child.stop()


def test_a_child_that_cannot_start_is_a_state_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NORMVIZ_WORKERS", "several")
    cluster = Cluster("")
    assert cluster.wait(8) == "failed"
    assert "NORMVIZ_WORKERS is a whole number from 1 to 256; got 'several'" in str(cluster.reason)
    monkeypatch.setenv("NORMVIZ_WORKERS", "1")
    (tmp_path / "distributed.py").write_text("raise ImportError('no distributed today')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    cluster.restart()
    assert cluster.wait(20) == "failed"
    assert "could not start: ImportError: no distributed today" in str(cluster.reason)
    assert "python -m normviz doctor" in str(cluster.reason)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    cluster.restart()
    assert cluster.wait(8) == "failed"
    assert "FileNotFoundError" in str(cluster.reason)
    cluster.close()


def test_a_start_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("import time; time.sleep(60)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    cluster = Cluster("", workers=1, timeout=1.5)
    assert cluster.wait(8) == "failed"
    assert "did not start within 2 s" in str(cluster.reason)
    cluster.close()


def test_importing_the_cluster_loads_neither_dask_nor_torch() -> None:
    code = (
        "import sys, normviz.jobs.board, normviz.jobs.store; "
        "print([name for name in ('dask', 'distributed', 'torch', 'fsspec', 'pandas') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"
