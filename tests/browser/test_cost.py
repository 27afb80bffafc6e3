"""Can a person measure norms on the worker, and see what the paper measured beside it?"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labs import figure, settled

pytestmark = pytest.mark.browser

VIEWS = (0, 1, None, 1)
"""How many figures each view draws; the benchmark has some if it was run before."""

VisitLab = Callable[..., Page]
SMALL = "view=bench&rows=64&width=64&repeats=3&ways=eager%2Cfunctional&kinds=layer_norm%2Crms_norm"


def test_a_run_shows_ratios_and_goes_beside_the_paper_and_the_layer(visit_lab: VisitLab) -> None:
    page = visit_lab("cost", SMALL)
    settled(page)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile("3 rounds after"))).to_be_visible()
    expect(figure(page)).to_have_attribute("aria-label", re.compile("copies"))
    settled(page)
    page.get_by_role("radio", name="The paper's 7 % to 64 %").click()
    expect(figure(page)).to_have_attribute("aria-label", re.compile("40.8"))
    page.get_by_role("radio", name="Share of a layer").click()
    expect(page.get_by_text("Run the live benchmark once")).to_have_count(0)


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_every_view_fits_a_phone_and_is_accessible(visit_lab: VisitLab, axe: Callable[..., None], locale: str) -> None:
    scheme = "light" if locale == "en-US" else "dark"
    page = visit_lab("cost", width=390, height=844, locale=locale, color_scheme=scheme)
    for place, figures in enumerate(VIEWS):
        page.get_by_role("radiogroup").nth(1).get_by_role("radio").nth(place).click()
        settled(page)
        if figures is not None:
            expect(page.locator(".normviz-plot-area[aria-busy=false]")).to_have_count(figures)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
        axe(page)
