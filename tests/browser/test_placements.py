"""Can a person do in the placement lab what it promises: read a wiring, decode a checkpoint, break a port?"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labs import figure, settled

pytestmark = pytest.mark.browser

VisitLab = Callable[..., Page]


VIEWS = (0, 0, 0, 1, 0)
"""How many figures each view draws, diagrams aside."""


def ready(page: Page, figures: int = 0) -> None:
    settled(page)
    expect(page.locator(".normviz-plot-area[aria-busy=false]")).to_have_count(figures)
    expect(page.locator(".normviz-plot-area[aria-busy=true]")).to_have_count(0)


def test_a_box_says_what_it_computes_and_what_it_is_called(visit_lab: VisitLab) -> None:
    page = visit_lab("placements", "view=families&family=gemma2")
    ready(page)
    box = page.get_by_text("post_feedforward", exact=False).first
    expect(box).to_be_visible()
    page.get_by_role("button", name="List").first.click()
    expect(page.get_by_text("model.layers.{i}.post_feedforward_layernorm").first).to_be_visible()


def test_the_header_of_a_checkpoint_is_read_and_nothing_else(visit_lab: VisitLab, tmp_path: Path) -> None:
    names = {f"h.0.{norm}.{part}": [8] for norm in ("ln_1", "ln_2") for part in ("weight", "bias")}
    names |= {"ln_f.weight": [8], "ln_f.bias": [8]}
    entries = {name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 32]} for name, shape in names.items()}
    header = json.dumps(entries).encode()
    file = tmp_path / "model.safetensors"
    with file.open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)
        stream.truncate(500 * 2**20)  # half a gigabyte of nothing, which never leaves the disk
    page = visit_lab("placements", "view=names")
    ready(page)
    page.locator(".nv-header-file input").set_input_files(file)
    expect(page.get_by_text("Only the header was read.")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("GPT-2"))).to_be_visible()
    expect(page.get_by_text("their parameters: 48")).to_be_visible()
    page.get_by_role("button", name="Close the file").click()
    expect(page.get_by_role("heading", name="Gemma 2")).to_be_visible()


def test_a_mistake_parts_the_streams_and_its_switch_brings_them_together(visit_lab: VisitLab) -> None:
    page = visit_lab("placements", "view=porting")
    ready(page, 1)
    wrong = figure(page).get_attribute("aria-label") or ""
    page.get_by_text("1 added to a stored scale").click()
    expect(page).to_have_url(re.compile("mistake_w_for_scale=0"))
    expect(figure(page)).not_to_have_attribute("aria-label", wrong)
    page.reload()
    expect(figure(page)).not_to_have_attribute("aria-label", wrong)


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_every_view_fits_a_phone_and_is_accessible(visit_lab: VisitLab, axe: Callable[..., None], locale: str) -> None:
    scheme = "light" if locale == "en-US" else "dark"
    page = visit_lab("placements", width=390, height=844, locale=locale, color_scheme=scheme)
    for place, figures in enumerate(VIEWS):
        page.get_by_role("radiogroup").nth(1).get_by_role("radio").nth(place).click()
        ready(page, figures)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
        axe(page)
