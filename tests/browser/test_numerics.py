"""Can a person follow a norm through its formats, and read what went wrong where?"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labs import figure, settled

pytestmark = pytest.mark.browser

VisitLab = Callable[..., Page]


VIEWS = (3, 2, 1, 1)
"""How many figures each view draws."""


def ready(page: Page, figures: int) -> None:
    settled(page)
    expect(page.locator(".normviz-plot-area[aria-busy=false]")).to_have_count(figures)
    expect(page.locator(".normviz-plot-area[aria-busy=true]")).to_have_count(0)


def test_another_format_gives_another_answer_and_is_in_the_link(visit_lab: VisitLab) -> None:
    page = visit_lab("numerics")
    ready(page, VIEWS[0])
    before = figure(page).get_attribute("aria-label") or ""
    expect(page.get_by_role("cell", name="too large for the format").first).to_be_visible()
    page.get_by_role("radio", name="float32", exact=True).click()
    expect(page).to_have_url(re.compile("format=float32"))
    expect(figure(page)).not_to_have_attribute("aria-label", before)
    expect(page.get_by_role("cell", name="too large for the format")).to_have_count(0)
    page.go_back()
    expect(figure(page)).to_have_attribute("aria-label", before)


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_every_view_fits_a_phone_and_is_accessible(visit_lab: VisitLab, axe: Callable[..., None], locale: str) -> None:
    scheme = "dark" if locale == "en-US" else "light"
    page = visit_lab("numerics", width=390, height=844, locale=locale, color_scheme=scheme)
    for place, figures in enumerate(VIEWS):
        page.get_by_role("radiogroup").nth(1).get_by_role("radio").nth(place).click()
        ready(page, figures)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
        axe(page)
