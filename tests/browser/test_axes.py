"""Can a person do in the axes lab what it promises: click cells, lengthen a sentence, feed batches, open a file?"""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.labs import figure, press, settled

pytestmark = pytest.mark.browser

VIEWS = {"grid": 2, "padding": 2, "batches": 2, "running": 4, "power": 3, "tokens": 2}
"""The views and how many figures each draws."""

NAMES = {
    "grid": "Who shares",
    "padding": "Padding",
    "batches": "Small batches",
    "running": "Training and inference",
    "power": "PowerNorm",
    "tokens": "What is lost",
}

VisitLab = Callable[..., Page]


def ready(page: Page, figures: int = 1) -> None:
    """Wait until the page has answered and its figures are drawn."""
    settled(page)
    expect(page.locator(".normviz-plot-area[aria-busy=false]")).to_have_count(figures)
    expect(page.locator(".normviz-plot-area[aria-busy=true]")).to_have_count(0)


def option(page: Page, name: str) -> Locator:
    """One of the options that lie side by side."""
    return page.get_by_role("radio", name=name, exact=True)


def label(page: Page, place: int) -> str:
    """What a figure says to those who cannot see it."""
    return figure(page, place).get_attribute("aria-label") or ""


def table_cell(page: Page, row: int, column: int) -> list[float]:
    """Pixel of a cell of the flat table, scrolled into the window."""
    figure(page, 1).scroll_into_view_if_needed()
    place: list[float] = page.evaluate(
        """([row, column]) => {
          const plot = document.querySelectorAll('.normviz-plot-canvas')[1], box = plot.getBoundingClientRect()
          const { xaxis, yaxis } = plot._fullLayout
          return [box.left + xaxis._offset + xaxis.d2p(column), box.top + yaxis._offset + yaxis.d2p(row)]
        }""",
        [row, column],
    )
    return place


def test_a_click_on_a_cell_of_the_table_selects_it_in_both_pictures(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "source=synthetic&d=4")
    ready(page, 2)
    press(page, *table_cell(page, 5, 1))
    expect(page).to_have_url(re.compile(r"cell=1\.2\.0"))
    expect(page.get_by_text("Cell: sequence 2, token 3, channel 1")).to_be_visible()
    for place in (0, 1):
        expect(figure(page, place)).to_have_attribute("aria-label", re.compile("sequence 2, token 3, channel 1"))


def test_a_click_on_a_block_selects_its_cell(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "source=synthetic&d=4&cell=1.2.3")
    ready(page, 2)
    corner = "Cell: sequence 2, token 3, channel 4"
    expect(page.get_by_role("heading", name=corner)).to_be_visible()
    figure(page, 0).scroll_into_view_if_needed()
    box = figure(page, 0).bounding_box()
    assert box is not None
    press(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_role("heading", name=corner)).to_have_count(0)
    expect(page.get_by_role("heading", name=re.compile("^Cell: sequence"))).to_be_visible()


def test_a_cell_of_the_largest_grid_can_be_clicked(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "source=synthetic&batch=8&tokens=32&d=64&norm=batch_norm")
    ready(page, 2)
    press(page, *table_cell(page, 200, 40))
    expect(page).to_have_url(re.compile(r"cell=6\.8\.39"))
    expect(page.get_by_text("Cell: sequence 7, token 9, channel 40")).to_be_visible()
    expect(page.get_by_text("256 of 16384")).to_be_visible()


def test_typed_sentences_are_the_grid(visit_lab: VisitLab) -> None:
    page = visit_lab("axes")
    ready(page, 2)
    field = page.get_by_role("textbox", name="Sentences")
    field.fill("one two three four\nfive")
    field.press("Control+Enter")
    expect(page).to_have_url(re.compile("text=one"))
    ready(page, 2)
    assert "2 × 4 × 6" in label(page, 0)
    expect(page.get_by_role("alert")).to_have_count(0)
    field.fill(" ")
    field.press("Control+Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    assert "2 × 4 × 6" in label(page, 0)


def test_a_longer_sentence_moves_the_others_under_batch_norm_only(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "view=padding&change=0")
    ready(page, 2)
    still = label(page, 0)
    page.get_by_role("slider", name="Words more or fewer").press("ArrowRight")
    expect(page).to_have_url(re.compile("change=1"))
    expect(figure(page, 0)).not_to_have_attribute("aria-label", still)
    said = label(page, 0)
    assert re.search(r"LayerNorm: no token moves", said)
    assert re.search(r"BatchNorm: [1-9]\d* of \d+ tokens move", said)


def test_batches_are_fed_and_a_reload_in_the_middle_goes_on_from_there(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "view=running&fed=0&stream=drift")
    ready(page, 3)
    for n in range(1, 6):
        page.get_by_role("button", name="Next batch").click()
        expect(page).to_have_url(re.compile(rf"fed={n}\b"))
    ready(page, 4)
    before = [label(page, place) for place in range(4)]
    page.reload()
    ready(page, 4)
    assert [label(page, place) for place in range(4)] == before
    for n in range(6, 11):
        page.get_by_role("button", name="Next batch").click()
        expect(page).to_have_url(re.compile(rf"fed={n}\b"))
    page.get_by_role("button", name="Ten batches").click()
    # 20 is what the first view has, and is left out of the link.
    expect(page).not_to_have_url(re.compile("fed="))
    page.go_back()
    expect(page).to_have_url(re.compile(r"fed=10\b"))


def test_the_switch_between_training_and_inference_shows_other_outputs(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "view=running&fed=3")
    ready(page, 4)
    training = label(page, 2)
    option(page, "inference").click()
    expect(page).to_have_url(re.compile("mode=eval"))
    expect(figure(page, 2)).not_to_have_attribute("aria-label", training)
    page.go_back()
    expect(figure(page, 2)).to_have_attribute("aria-label", training)


def test_a_file_is_the_grid_and_stays_out_of_the_link(visit_lab: VisitLab) -> None:
    page = visit_lab("axes", "source=file&norm=batch_norm")
    expect(page.get_by_text("No file is open on this page")).to_be_visible()
    field = page.get_by_test_id("stFileUploaderDropzoneInput")
    file = io.BytesIO()
    np.save(file, np.random.default_rng(0).standard_normal((2, 40, 5)).astype(np.float32))
    field.set_input_files({"name": "x.npy", "mimeType": "application/octet-stream", "buffer": file.getvalue()})
    expect(page.get_by_text("[2, 40, 5]").first).to_be_visible()
    expect(page.get_by_text("Shown and normalized is a part of 2 × 32 × 5")).to_be_visible()
    expect(figure(page, 0)).to_have_attribute("aria-label", re.compile("2 × 32 × 5"))
    page.get_by_role("spinbutton", name="From token").fill("9")
    page.get_by_role("spinbutton", name="From token").press("Enter")
    expect(page).to_have_url(re.compile("from_t=9"))
    field.set_input_files({"name": "x.npy", "mimeType": "application/octet-stream", "buffer": b"no array"})
    expect(page.get_by_role("alert")).to_be_visible()
    expect(figure(page, 0)).to_have_attribute("aria-label", re.compile("2 × 32 × 5"))


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_every_view_fits_a_phone_and_is_accessible(visit_lab: VisitLab, axe: Callable[..., None], locale: str) -> None:
    scheme = "light" if locale == "en-US" else "dark"
    page = visit_lab("axes", width=390, height=844, locale=locale, color_scheme=scheme)
    for place, figures in enumerate(VIEWS.values()):
        page.get_by_role("radiogroup").nth(1).get_by_role("radio").nth(place).click()
        ready(page, figures)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
        axe(page)


def test_forty_quick_changes_of_the_view_end_at_the_last_one(visit_lab: VisitLab) -> None:
    page = visit_lab("axes")
    ready(page, 2)
    names = list(NAMES.values())
    for turn in range(40):
        option(page, names[turn % 6]).click()
    expect(page).to_have_url(re.compile("view=running"))
    ready(page, 4)
