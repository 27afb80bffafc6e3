"""A Dask scheduler and workers, as an administrator starts them on a machine of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# What the README recommends: a slice that ends its worker is not tried on all the others.
SETTINGS = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}


class Outside:
    """A scheduler on a free port of the loopback interface; `hire` adds workers.

    `path` is what comes before normviz on its import path, and on its workers'.
    """

    def __init__(self, folder: Path, *, path: str = "", options: Sequence[str] = ()) -> None:
        self._folder = folder
        self._options = options
        self._processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start(path, "scheduler", "--port", "0", "--scheduler-file", str(file))
        end = time.monotonic() + 30
        while not (file.exists() and file.read_text()):
            assert time.monotonic() < end, "the scheduler does not start"
            time.sleep(0.05)
        self.address: str = json.loads(file.read_text())["address"]

    def hire(self, *options: str, path: str = "") -> subprocess.Popen[bytes]:
        """Start a worker of one thread, with a nanny."""
        folder = str(self._folder / "work")
        return self._start(path, "worker", self.address, "--nthreads", "1", "--local-directory", folder, *options)

    def _start(self, path: str, *command: str) -> subprocess.Popen[bytes]:
        places = [*([path] if path else []), str(ROOT), str(HERE)]
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *command, "--host", "127.0.0.1", "--no-dashboard", *self._options],
                env={**os.environ, **SETTINGS, "PYTHONPATH": os.pathsep.join(places)},
                cwd=self._folder,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and its children, as a machine that loses its power does."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in reversed(self._processes):
            if process.poll() is None:
                self.kill(process)
