"""How does a test find its way in a lab: where they are, when a figure is drawn, when the page is at rest?"""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

LABS = {name: f"/{name}" for name in ("vector", "axes", "depth", "placements", "numerics", "cost")} | {"home": "/"}
DRAWN = ("vector", "axes", "depth", "numerics")
"""Labs whose first view has a figure."""

QUIET = 500
"""Milliseconds without a change after which a page is at rest."""

AT_REST = """
(quiet) => {
  if (!window.rest) {
    window.rest = { changed: performance.now() };
    const note = () => { window.rest.changed = performance.now(); };
    const all = { childList: true, subtree: true, characterData: true, attributes: true };
    new MutationObserver(note).observe(document, all);
  }
  const app = document.querySelector("[data-testid=stApp]");
  const tools = document.querySelector(".nv-tools button");
  return app?.dataset.testScriptState === "notRunning" && tools?.textContent
    && performance.now() - window.rest.changed > quiet;
}
"""

SMALL = "depths=1%2C2&seeds=1&d_model=32&seq_len=8&batch=2&layers=2"


def figure(page: Page, place: int = 0) -> Locator:
    """A figure of the page, drawn."""
    expect(page.locator(".normviz-plot-area[aria-busy=true]")).to_have_count(0)
    area = page.locator(".normviz-plot-area").nth(place)
    expect(area).to_have_attribute("aria-busy", "false")
    return area


def press(page: Page, x: float, y: float) -> None:
    """Point, press and release as slowly as a hand does: plotly looks up what is under the pointer between frames."""
    page.mouse.move(x, y)
    page.wait_for_timeout(1000)
    page.mouse.click(x, y, delay=300)


def settled(page: Page) -> None:
    """Wait until the script has answered and nothing on the page has changed for a while.

    A click takes a moment to reach the server: until then the page looks as much at rest as it will be afterwards.
    """
    page.wait_for_function(AT_REST, arg=QUIET)
