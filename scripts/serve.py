"""How is the app served for a check, the way a person starts it, on a free port and without a store of its own?"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_LIMIT = 120.0  # seconds until the health check must answer


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running server.

    Attributes
    ----------
    url
        Without a slash at its end.
    health
        Seconds from the start of the process until `/_stcore/health` answered.
    log
        File with what the server has printed.
    """

    url: str
    health: float
    log: Path


@contextmanager
def serve(script: Path = ROOT / "app.py", *, environment: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Run `streamlit run script` in the repository's root until the block ends.

    Parameters
    ----------
    script
        The page to serve; the repository's `.streamlit/config.toml` holds for all of them.
    environment
        Variables on top of this process's own. `NORMVIZ_STORE` is an empty folder unless it is given here.

    Raises
    ------
    RuntimeError
        If the server ends or does not answer within `START_LIMIT`; the message holds what it printed.
    """
    with tempfile.TemporaryDirectory(prefix="normviz-serve-") as folder:
        log, port = Path(folder) / "log.txt", _free_port()
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        variables = {"NORMVIZ_STORE": str(Path(folder) / "store"), "PYTHONPATH": path, **(environment or {})}
        options = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
        command = [sys.executable, "-m", "streamlit", "run", str(script), *options, "--server.fileWatcherType=none"]
        started = time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            url = f"http://127.0.0.1:{port}"
            if not _healthy(url, process, limit=started + START_LIMIT):
                raise RuntimeError(f"{' '.join(command)} did not come up:\n{log.read_text(errors='replace')}")
            yield Served(url=url, health=time.monotonic() - started, log=log)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    # The whole group, because the app starts a compute process of its own.
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            pass
        break


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _healthy(url: str, process: subprocess.Popen[bytes], *, limit: float) -> bool:
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return True
        except OSError:
            time.sleep(0.01)
    return False
