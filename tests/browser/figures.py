"""How does a test find a figure on the page, and drag in it?"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SCRIPT = Path(__file__).parent / "plot_page.py"


def drawn(page: Page) -> Locator:
    area = page.locator(".normviz-plot-area[aria-busy=false]").first
    expect(area).to_be_visible()
    return area


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=8)
    page.mouse.up()
