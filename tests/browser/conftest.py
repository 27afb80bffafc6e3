"""How does a test drive the app as a person does: a server, a browser, and nothing but this machine?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebSocket, expect

from scripts.chromium import launched
from scripts.serve import ROOT, Served
from scripts.serve import serve as served
from tests.browser.figures import SCRIPT, drawn
from tests.browser.labs import LABS
from tests.browser.pads import SCRIPT as PADS
from tests.browser.pads import Visit as VisitPad
from tests.browser.pads import rested

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
LOCAL = {"127.0.0.1", "localhost"}
PATIENCE = 60_000
"""Milliseconds until a wait fails: two slow cores draw a first figure in a few seconds, so only a fault gets here."""


@dataclass
class Server:
    """One running server, and how much of its log was read."""

    served: Served
    seen: int = 0

    @property
    def url(self) -> str:
        return self.served.url

    def new_log(self) -> str:
        text = self.served.log.read_text(encoding="utf-8", errors="replace")
        new, self.seen = text[self.seen :], len(text)
        return new


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, headless. Its absence is an error: a skipped browser test is no test."""
    with launched() as browser:
        expect.set_options(timeout=PATIENCE)
        yield browser


@pytest.fixture(scope="session")
def servers() -> dict[Path, Server]:
    """The servers that run, by their script."""
    return {}


@pytest.fixture(scope="session")
def serve(servers: dict[Path, Server]) -> Iterator[Callable[[Path], Server]]:
    """Start a Streamlit script, once per session: `serve(path).url`."""
    with ExitStack() as running:

        def start(script: Path) -> Server:
            if script not in servers:
                servers[script] = Server(running.enter_context(served(script)))
            return servers[script]

        yield start


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
def visit(serve: Callable[..., Any], open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Open the test page with one figure and wait until it is drawn."""

    def start(figure: str, **options: Any) -> Page:
        page = open_page(f"{serve(SCRIPT).url}/?figure={figure}", **options)
        drawn(page)
        return page

    return start


@pytest.fixture
def visit_pad(serve: Callable[..., Any], open_page: Callable[..., Page]) -> VisitPad:
    """Open the test page with one kind of pad and wait until it is drawn and the script is at rest."""

    def start(query: str = "", *, sent: list[str | bytes] | None = None, **options: Any) -> Page:
        page = open_page(**options)
        if sent is not None:

            def watch(socket: WebSocket) -> None:
                socket.on("framesent", lambda frame: sent.append(frame))

            page.on("websocket", watch)
        page.goto(f"{serve(PADS).url}/?{query}")
        expect(page.locator(".normviz-pad")).to_be_visible()
        if "kind=live" not in query:
            rested(page)
        return page

    return start


@pytest.fixture
def visit_lab(app_server: Any, open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Open a lab as a new reader: `visit("vector", "x=5%2C6", locale="zh-CN")`."""

    def start(lab: str, query: str = "", **options: Any) -> Page:
        page = open_page(f"{app_server.url}{LABS[lab]}{'?' * bool(query)}{query}", **options)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        return page

    return start


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
