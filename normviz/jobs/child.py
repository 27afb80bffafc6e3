"""How does the compute cluster live in a process of its own, and end with the one that started it?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from normviz.errors import InputError
from normviz.text import N_

ADVICE = N_("Run `python -m normviz doctor` to see what is missing, then try again.")
MODULE = "normviz.jobs.cluster"
DEFAULT_WORKERS = 4
MOST_WORKERS = 256
MEMORY_SHARE = 0.8  # of the machine's (or container's) memory for all workers together; the web process keeps the rest
_GRACE_SECONDS = 3.0  # from the end of stdin to the end of the process, whatever the workers are doing

# The cluster's failures are states with a reason here; distributed would also write pages about them.
QUIET: dict[str, Any] = {"distributed.logging": {"distributed": "critical", "distributed.client": "critical"}}

# Set before `distributed` is imported. A worker that passes its memory limit is ended by its nanny and started again;
# its slice is not tried on the other workers, which it would end one after the other.
SETTINGS: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": 65536,
        "OMP_NUM_THREADS": 1,
        "MKL_NUM_THREADS": 1,
        "OPENBLAS_NUM_THREADS": 1,
        # Depths differ in their tensors' shapes; without it freed GPU memory stays in pieces (pytorch#35901).
        "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        # A worker's log level is read from its environment, before its settings arrive.
        "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical",
    },
    **QUIET,
}


class Child:
    """The cluster's process, seen from the one that starts it.

    Parameters
    ----------
    workers
        Worker processes, one thread each; None: one per core, at most `DEFAULT_WORKERS`.
    """

    def __init__(self, workers: int | None = None) -> None:
        environment = dict(os.environ)
        if workers is not None:
            environment["NORMVIZ_WORKERS"] = str(workers)
        environment["PYTHONPATH"] = os.pathsep.join(_import_path())
        # The current folder may be gone, unwritable or hold a file called like a module of ours.
        environment["PYTHONSAFEPATH"] = "1"
        # Both ends remove it: either may be killed.
        self._folder = tempfile.mkdtemp(prefix="normviz-")
        try:
            self._process = self._open(environment)
        except OSError:
            self._clear()
            raise
        self.pid = self._process.pid

    def _open(self, environment: dict[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", MODULE, self._folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=tempfile.gettempdir(),
            text=True,
            # Ctrl-C in the terminal is for the web process; this one ends when its stdin closes.
            start_new_session=True,
        )

    def _clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def wait_for_address(self, timeout: float) -> tuple[str, int]:
        """Address of the scheduler and number of worker threads.

        Raises
        ------
        InputError
            If the process ends, reports an error or does not answer within `timeout` seconds.
        """
        assert self._process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(timeout, give_up)
        timer.daemon = True
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if late.is_set():
            raise InputError(
                "The compute cluster did not start within {seconds} s. {advice}", seconds=round(timeout), advice=ADVICE
            )
        if not line.strip():
            raise InputError(
                "The compute cluster's process ended before it was ready (exit status {status}). {advice}",
                status=self._process.wait(),
                advice=ADVICE,
            )
        answer = json.loads(line)
        if "error" in answer:
            raise InputError(
                "The compute cluster could not start: {reason}. {advice}", reason=answer["error"], advice=ADVICE
            )
        return str(answer["address"]), int(answer["threads"])

    def abandon(self) -> None:
        """Ask the process to end, without waiting."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process and its workers; returns when they are gone."""
        self.abandon()
        try:
            self._process.wait(_GRACE_SECONDS + 2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._clear()


def _import_path() -> list[str]:
    """PYTHONPATH for the child: a clone that is not installed is imported from where this file lies."""
    inherited = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    root = str(Path(__file__).resolve().parents[2])
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    # site-packages must not come before the standard library.
    return inherited if root in installed or root in inherited else [root, *inherited]


def serve() -> None:
    """Run a cluster on this machine until stdin closes; its address goes to stdout as one line of JSON."""
    # From here on nothing but the answer goes to stdout, which workers inherit and nobody reads.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="normviz-")
    ended = threading.Event()
    threading.Thread(target=_end_with_stdin, args=(ended, folder), daemon=True).start()
    try:
        with _local_cluster(folder) as cluster:
            threads = sum(worker["nthreads"] for worker in cluster.scheduler_info["workers"].values())
            _answer(out, address=cluster.scheduler_address, threads=threads)
            ended.wait()
    except Exception as error:
        _answer(out, error=f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _local_cluster(folder: str) -> Any:
    import dask

    dask.config.set({**SETTINGS, "temporary-directory": folder})
    from dask.system import CPU_COUNT  # respects the container's share of the machine
    from distributed import LocalCluster
    from distributed.system import MEMORY_LIMIT

    workers = int(os.environ.get("NORMVIZ_WORKERS") or min(CPU_COUNT, DEFAULT_WORKERS))
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        # Its web server cannot be left out, so it has no pages and a free port of its own.
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        memory_limit=int(MEMORY_SHARE * MEMORY_LIMIT / workers),
        local_directory=folder,
        silence_logs=False,  # SETTINGS say how loud, for the workers too
    )


def _answer(out: IO[str], **values: Any) -> None:
    with suppress(OSError):  # nobody may be listening any more
        out.write(json.dumps(values) + "\n")
        out.close()


def _end_with_stdin(ended: threading.Event, folder: str) -> None:
    """Wait for the end of stdin, which comes however the parent dies; workers end with this process (their nanny)."""
    while os.read(0, 4096):
        pass
    ended.set()
    time.sleep(_GRACE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
