"""How does the compute cluster live in a process of its own, and end with the one that started it?"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import IO, Any

from normviz.errors import InputError

DEFAULT_WORKERS = 4
_MOST_WORKERS = 256
_MEMORY_SHARE = 0.8  # of the machine's (or container's) memory for all workers together; the web process keeps the rest
GRACE_SECONDS = 3.0  # from the end of stdin to the end of the process, whatever the workers are doing

# The cluster's failures are states with a reason here; distributed would also write pages about them.
QUIET: dict[str, Any] = {"distributed.logging": {"distributed": "critical", "distributed.client": "critical"}}

# Set before `distributed` is imported. A worker that passes its memory limit is ended by its nanny and started again;
# its slice is not tried on the other workers, which it would end one after the other.
_SETTINGS: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,
    # A nanny starts another worker for each that ended. The cluster object would look again after this time, by default
    # 15 s, and close the nanny for good if its worker happens to have ended once more just then.
    "distributed.deploy.lost-worker-timeout": "10000 days",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.pre-spawn-environ": {
        # Memory that a slice has freed stays with the worker for the next one, in large pages: with Dask's own setting
        # (64 KiB) every slice asked the system for it anew and took nearly twice as long.
        "MALLOC_TRIM_THRESHOLD_": 2**28,
        "MALLOC_MMAP_THRESHOLD_": 2**28,
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
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


def worker_count(workers: int | None = None) -> int | None:
    """How many workers are asked for: `workers`, else NORMVIZ_WORKERS; None where neither says, or only with blanks.

    Raises
    ------
    InputError
        If it is not a whole number from 1 to 256.
    """
    text = os.environ.get("NORMVIZ_WORKERS", "").strip() if workers is None else str(workers)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_WORKERS):
        raise InputError(
            "{field} is a whole number from {low} to {high}; got {got}",
            field="NORMVIZ_WORKERS",
            low=1,
            high=_MOST_WORKERS,
            got=repr(text),
        )
    return int(text)


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

    dask.config.set({**_SETTINGS, "temporary-directory": folder})
    from dask.system import CPU_COUNT  # respects the container's share of the machine
    from distributed import LocalCluster
    from distributed.system import MEMORY_LIMIT

    workers = worker_count() or min(CPU_COUNT, DEFAULT_WORKERS)
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        # Its web server cannot be left out, so it has no pages and a free port of its own.
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        memory_limit=int(_MEMORY_SHARE * MEMORY_LIMIT / workers),
        local_directory=folder,
        silence_logs=False,  # _SETTINGS say how loud, for the workers too
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
    time.sleep(GRACE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
