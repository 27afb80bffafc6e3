"""Does pointing at a layer in one figure mark it in the others?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.figures import drag

pytestmark = pytest.mark.browser


def place(page: Page, number: int, x: float) -> tuple[float, float]:
    """Pixel of the point (x, x) of one of the linked figures."""
    left, top = page.evaluate(
        "([n, x]) => { const c = document.querySelectorAll('.normviz-plot-canvas')[n], l = c._fullLayout,"
        " r = c.getBoundingClientRect();"
        " return [r.left + l.xaxis._offset + l.xaxis.d2p(x), r.top + l.yaxis._offset + l.yaxis.d2p(x)]; }",
        [number, x],
    )
    return left, top


def linked(visit: Callable[..., Page], **options: Any) -> tuple[Page, Locator]:
    page = visit("linked", **options)
    expect(page.locator(".normviz-plot-area[aria-busy=false]")).to_have_count(3)
    marks = page.locator(".normviz-plot-mark")
    expect(marks).to_have_count(3)
    return page, marks


def test_pointing_at_a_layer_marks_it_in_linked_figures_only(visit: Callable[..., Page]) -> None:
    page, marks = linked(visit)
    x, y = place(page, 0, 5)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y, steps=4)
    expect(marks.nth(1)).to_be_visible()
    expect(marks.nth(1)).to_have_attribute("data-place", "5")
    box = marks.nth(1).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] / 2 == pytest.approx(place(page, 1, 5)[0], abs=1.5)
    expect(marks.nth(0)).to_be_hidden()
    expect(marks.nth(2)).to_be_hidden()
    page.mouse.move(2, 2)
    expect(marks.nth(1)).to_be_hidden()
    expect(page.get_by_text("Runs 0")).to_be_visible()


def test_a_mark_stays_at_its_layer_while_the_figure_is_zoomed(visit: Callable[..., Page]) -> None:
    page, marks = linked(visit)
    drag(page, place(page, 1, 3), place(page, 1, 7))
    page.wait_for_function("document.querySelectorAll('.normviz-plot-canvas')[1]._fullLayout.xaxis.autorange === false")
    x, y = place(page, 0, 5)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y, steps=4)
    expect(marks.nth(1)).to_have_attribute("data-place", "5")
    box = marks.nth(1).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] / 2 == pytest.approx(place(page, 1, 5)[0], abs=1.5)
    page.mouse.move(*place(page, 0, 1), steps=12)
    expect(marks.nth(1)).to_be_hidden()


def test_a_tap_marks_a_layer_until_the_next_tap_elsewhere(visit: Callable[..., Page]) -> None:
    page, marks = linked(visit, width=390, has_touch=True)
    page.touchscreen.tap(*place(page, 0, 5))
    expect(marks.nth(1)).to_have_attribute("data-place", "5")
    expect(marks.nth(1)).to_be_visible()
    page.touchscreen.tap(5, 5)
    expect(marks.nth(1)).to_be_hidden()
