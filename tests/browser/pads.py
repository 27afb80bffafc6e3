"""How does a test find the parts of a pad, read its values, and what Python received?"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

SCRIPT = Path(__file__).parent / "pad_page.py"

Visit = Callable[..., Page]


def rested(page: Page) -> None:
    expect(page.get_by_text("Value ")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", re.compile("notRunning"))


def runs(page: Page) -> int:
    return int(page.get_by_text("Runs ").inner_text().removeprefix("Runs "))


def released(page: Page, run: int) -> Any:
    """What Python received, once the script has run so often."""
    expect(page.get_by_text(f"Runs {run}", exact=True)).to_be_visible()
    rested(page)
    return ast.literal_eval(page.get_by_text("Value ").inner_text().removeprefix("Value "))


def bar(page: Page, entry: int) -> Locator:
    return page.get_by_role("slider").nth(entry - 1)


def shown(page: Page) -> list[float]:
    """The entries that the bars say they have."""
    return [float(one) for one in page.get_by_role("slider").evaluate_all("(all) => all.map((e) => e.ariaValueNow)")]


def middle(part: Locator) -> tuple[float, float]:
    box = part.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def end(page: Page, entry: int) -> tuple[float, float]:
    return middle(bar(page, entry).locator(".normviz-pad-handle"))


def knob(page: Page) -> tuple[float, float]:
    return middle(page.locator(".normviz-pad-knob"))


def drawn_outputs(page: Page, look: str) -> list[float]:
    """Values of the drawn bars of a norm, read off their heights against that of the first bar of x."""
    boxes = page.locator(f".normviz-pad-column .normviz-pad-{look}").evaluate_all(
        "(all) => all.map((e) => [Number(e.getAttribute('y')), Number(e.getAttribute('height'))])"
    )
    zero = float(page.locator(".normviz-pad-bars .normviz-pad-drawing > .normviz-pad-zero").get_attribute("y1") or "")
    ((_, height),) = page.locator(".normviz-pad-column .normviz-pad-x").first.evaluate_all(
        "(all) => all.map((e) => [Number(e.getAttribute('y')), Number(e.getAttribute('height'))])"
    )
    unit = height / abs(shown(page)[0])
    return [(height if top < zero - 1 else -height) / unit for top, height in boxes]
