"""How does the web process start the compute cluster's process, and end it?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from normviz.errors import InputError
from normviz.jobs.serve import GRACE_SECONDS
from normviz.text import N_

ADVICE = N_("Run `python -m normviz doctor` to see what is missing, then try again.")
_MODULE = "normviz.jobs.cluster"


class Child:
    """The cluster's process, seen from the one that starts it.

    Parameters
    ----------
    workers
        Worker processes, one thread each; None: one per core, at most `normviz.jobs.serve.DEFAULT_WORKERS`.
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
            [sys.executable, "-m", _MODULE, self._folder],
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
            self._process.wait(GRACE_SECONDS + 2)
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
