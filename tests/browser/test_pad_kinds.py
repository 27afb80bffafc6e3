"""Do the pads of a gradient and of a x + b follow as well, and do all pads fit a phone and the reader?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import normviz as nv
from tests.browser.figures import drag
from tests.browser.pads import SCRIPT, Visit, bar, drawn_outputs, end, middle, released, rested, runs, shown

pytestmark = pytest.mark.browser

STARTING = [1.0, 2.0, 3.0, 4.0]


def test_a_gradient_is_dragged_with_its_images(visit_pad: Visit) -> None:
    page = visit_pad("kind=gradient")
    bar(page, 2).press("Shift+ArrowUp")
    gradient = released(page, 2)["gradient"]
    assert gradient == shown(page)
    assert gradient[1] > -2
    assert [gradient[0], *gradient[2:]] == [1.0, 0.5, 0.0]
    for look, norm in (("layer", "layer_norm"), ("rms", "rms_norm")):
        image = nv.jacobian(norm, STARTING, eps=1e-5).T @ gradient
        # A bar of no height is drawn as a line.
        assert drawn_outputs(page, look) == pytest.approx(image, abs=0.02)


def test_scale_and_shift_say_what_they_move(visit_pad: Visit) -> None:
    sent: list[str | bytes] = []
    page = visit_pad("kind=affine&eps=0", sent=sent)
    scale, shift = page.get_by_role("slider").all()
    expect(page.get_by_text("LN(a x + b) is unchanged.", exact=True)).to_be_visible()
    quiet = len(sent)
    y = middle(scale)[1]
    box = scale.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.625 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.25 * box["width"], y, steps=10)
    expect(page.get_by_text("LN(a x + b) has flipped its sign; it has moved by 2.68.", exact=True)).to_be_visible()
    expect(page.get_by_text("RMSNorm(a x + b) has flipped its sign; it has moved by 2.92.", exact=True)).to_be_visible()
    assert len(sent) == quiet
    page.mouse.up()
    scaled = released(page, 2)
    assert scaled["scale"] == pytest.approx(-2, abs=0.15)
    assert scaled["shift"] == 0
    for _ in range(3):
        shift.press("ArrowRight")
    assert released(page, 3) == {"scale": scaled["scale"], "shift": 0.3}
    expect(page.get_by_text("LN(a x + b) has flipped its sign; it has moved by 2.68.", exact=True)).to_be_visible()
    expect(page.get_by_text("RMSNorm(a x + b) has moved by ")).to_be_visible()
    page.wait_for_timeout(600)
    assert runs(page) == 3


@pytest.mark.parametrize("weighted", ["", "&weight=1"])
def test_lines_of_a_long_vector_are_those_of_its_entries(visit_pad: Visit, weighted: str) -> None:
    page = visit_pad(f"kind=affine&d=30&eps=1{weighted}")
    scale, shift = page.get_by_role("slider").all()
    scale.press("Home")
    shift.press("End")
    released(page, 2)
    x = np.random.default_rng(30).normal(1.5, 2.0, 30)
    weight = np.linspace(0.5, 2.0, 30) if weighted else None
    was, now = (nv.layer_norm(v, weight, eps=1).output for v in (x, -4 * x + 10))
    line = f"LN(a x + b) has moved by {np.abs(now - was).max():.3g}."
    expect(page.get_by_text(line, exact=True)).to_be_visible()
    if weighted:
        expect(page.locator(".normviz-pad-live:visible")).to_have_count(1)
        return
    was, now = (nv.rms_norm(v, eps=1).output for v in (x, -4 * x + 10))
    line = f"RMSNorm(a x + b) has moved by {np.abs(now - was).max():.3g}."
    expect(page.get_by_text(line, exact=True)).to_be_visible()


@pytest.mark.parametrize("kind", ["vector", "gradient", "affine"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_page_is_narrow_and_accessible(
    visit_pad: Visit, axe: Callable[..., None], kind: str, scheme: str
) -> None:
    page = visit_pad(f"kind={kind}&lang=zh", width=358, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 358
    for svg in page.locator(".normviz-pad-drawing:visible").all():
        box = svg.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 358
    axe(page, within=".normviz-pad")


def test_words_are_in_the_readers_language(visit_pad: Visit) -> None:
    page = visit_pad("lang=zh")
    expect(bar(page, 3)).to_have_attribute("aria-label", re.compile("第 ?3"))
    expect(page.locator(".normviz-pad-name", has_text="去均值部分")).to_be_visible()


def test_bars_and_plane_stand_side_by_side_where_there_is_room(visit_pad: Visit) -> None:
    page = visit_pad(width=1100)
    bars, plane = page.locator(".normviz-pad-bars"), page.locator(".normviz-pad-plane")
    assert middle(plane)[0] > middle(bars)[0] + 300
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(
        "document.querySelector('.normviz-pad-plane').getBoundingClientRect().top >="
        " document.querySelector('.normviz-pad-bars').getBoundingClientRect().bottom"
    )
    x, y = end(page, 1)
    drag(page, (x, y), (x, y - 30))
    assert released(page, 2)["x"][0] > 1


OVERTAKEN = """
import pad from "./pad.js?itself";
export default (component) => {
  const end = pad(component);
  end(); // what Streamlit does with the result of a call that a newer one overtook
  return end;
};
"""


def test_a_pad_outlives_a_call_that_was_overtaken(serve: Callable[..., Any], open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.route(re.compile(r"/pad\.js$"), lambda route: route.fulfill(body=OVERTAKEN, content_type="text/javascript"))
    page.goto(f"{serve(SCRIPT).url}/")
    rested(page)
    bar(page, 1).press("ArrowUp")
    assert released(page, 2)["x"] == pytest.approx([1.05, 2, 3, 4])
