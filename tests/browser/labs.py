"""How does a test find its way in a lab: where they are, when a figure is drawn, when the page is at rest?"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

LABS = {name: f"/{name}" for name in ("vector", "axes", "depth", "placements", "numerics", "cost")} | {"home": "/"}
DRAWN = ("vector", "axes", "depth", "numerics")
"""Labs whose first view has a figure."""

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
    """Wait until the script has answered and its last parts are drawn."""
    expect(page.locator(".nv-tools button").first).not_to_be_empty()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", re.compile("notRunning"))
