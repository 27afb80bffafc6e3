"""How does a test drive the app as a person does: a server, a browser, and nothing but this machine?"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
LOCAL = {"127.0.0.1", "localhost"}
PATIENCE = 60_000
"""Milliseconds until a wait fails: two slow cores draw a first figure in a few seconds, so only a fault gets here."""

FLAGS = [
    "--headless",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    # No GPU: 3-D figures are drawn by the processor.
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
    # A request that leaves the machine fails at once, and the test with it.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


@dataclass
class Server:
    """One running Streamlit server."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]
    seen: int = 0

    def new_log(self) -> str:
        text = self.log.read_text(encoding="utf-8", errors="replace")
        new, self.seen = text[self.seen :], len(text)
        return new

    def wait(self, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                pytest.fail(f"The server ended with {self.process.returncode}:\n{self.new_log()}")
            try:
                with urlopen(f"{self.url}/_stcore/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (URLError, OSError):
                time.sleep(0.1)
        pytest.fail(f"No server after {seconds} s:\n{self.new_log()}")

    def stop(self) -> None:
        # The whole group, because the app starts a compute process of its own.
        for sign, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                pass
            break


@dataclass
class Visit:
    """What one browser context did that it should not."""

    context: BrowserContext
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self.check(request.url))
        page.on("websocket", lambda websocket: self.check(websocket.url))
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("console", self.listen)

    def listen(self, line: ConsoleMessage) -> None:
        # Opened at /vector, Streamlit first asks for /vector/_stcore/health to find out where its root is.
        if line.type == "error" and "/_stcore/" not in line.location["url"]:
            self.faults.append(f"console: {line.text}")

    def check(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and parts.hostname not in LOCAL:
            self.faults.append(f"external request: {url}")


def chromium() -> str | None:
    """Path of the browser; None for the one that Playwright installed."""
    if chosen := os.environ.get("NORMVIZ_CHROMIUM"):
        if not shutil.which(chosen):
            pytest.fail(f"NORMVIZ_CHROMIUM names no program: {chosen}")
        return chosen
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, headless. Its absence is a failure: a skipped browser test is no test."""
    path = chromium()
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        if path is None and not Path(playwright.chromium.executable_path).exists():
            pytest.fail(
                "No Chromium found. Install one (Debian: apt install chromium; elsewhere: playwright install chromium),"
                " or name it in NORMVIZ_CHROMIUM."
            )
        flags = [*FLAGS, "--no-sandbox"] if root else FLAGS
        browser = playwright.chromium.launch(executable_path=path, args=flags, headless=True)
        expect.set_options(timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[Path, Server]]:
    """The servers that run, by their script."""
    running: dict[Path, Server] = {}
    yield running
    for server in running.values():
        server.stop()


@pytest.fixture(scope="session")
def serve(servers: dict[Path, Server], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Server]:
    """Start a Streamlit script, once per session: `serve(path).url`."""

    def start(script: Path) -> Server:
        if script in servers:
            return servers[script]
        folder = tmp_path_factory.mktemp("server")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = {
            "server.address": "127.0.0.1",
            "server.port": port,
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
        }
        command = [sys.executable, "-m", "streamlit", "run", str(script)]
        command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "NORMVIZ_STORE": str(folder / "store"), "PYTHONPATH": path}
        with (folder / "log.txt").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        servers[script] = Server(f"http://127.0.0.1:{port}", folder / "log.txt", process)
        servers[script].wait()
        return servers[script]

    return start


@pytest.fixture(scope="session")
def app_server(serve: Callable[[Path], Server]) -> Server:
    """The dashboard itself."""
    return serve(ROOT / "app.py")


@pytest.fixture(autouse=True)
def _no_traceback(servers: dict[Path, Server]) -> Iterator[None]:
    yield
    for server in servers.values():
        log = server.new_log()
        assert "Traceback (most recent call last)" not in log, log


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page as another reader: `open_page(url, locale="zh-CN", width=390, color_scheme="dark")`.

    Other names go to `browser.new_context`. Whatever any of the pages asked of another machine, and every error in
    their consoles, fails the test at its end.
    """
    visits: list[Visit] = []

    def start(url: str | None = None, *, width: int = 1280, height: int = 900, **options: Any) -> Page:
        defaults = {"locale": "en-US", "color_scheme": "light", "viewport": {"width": width, "height": height}}
        context = browser.new_context(**{**defaults, **options})
        context.set_default_timeout(PATIENCE)
        visits.append(Visit(context))
        context.on("page", visits[-1].watch)
        page = context.new_page()
        if url is not None:
            page.goto(url)
        return page

    yield start
    for visit in visits:
        visit.context.close()
    assert not (faults := [fault for visit in visits for fault in visit.faults]), "\n".join(faults)


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """A fresh English reader's empty page at a desk."""
    return open_page()


@pytest.fixture
def axe() -> Callable[..., None]:
    """Check a page, or the part under a CSS selector, for accessibility: `axe(page, within=".normviz-plot")`."""

    def check(page: Page, *, within: str | None = None) -> None:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        violations = page.evaluate("async (within) => (await axe.run(within ?? document)).violations", within)
        found = [f"{v['id']}: {v['help']}\n  " + "\n  ".join(n["html"] for n in v["nodes"]) for v in violations]
        assert not found, "\n".join(found)

    return check
