"""Can a person do in the vector lab what it promises: hold a vector, open one, and look at it from all sides?"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import normviz as nv
from tests.browser.figures import drag
from tests.browser.labs import figure, settled

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
VIEWS = {"Steps": 2, "Geometry": 3, "Invariances": 0, "Backward": 4}
"""The views and how many figures each draws."""

TITLES = {"Steps": "step by step", "Geometry": "Where", "Invariances": "do not see", "Backward": "gradient"}
"""What the first line of a view's scripts says."""

VisitLab = Callable[..., Page]


def vector(page: Page) -> list[float]:
    return [float(part) for part in page.get_by_role("textbox", name="Vector x").input_value().split(",")]


def ready(page: Page) -> None:
    """Wait until the page has answered and nothing on it moves any more."""
    settled(page)
    expect(page.locator(".normviz-plot-area[aria-busy=true]")).to_have_count(0)


def bars(page: Page) -> Any:
    return page.locator(".normviz-pad-bars").first.get_by_role("slider")


def option(page: Page, name: str) -> Locator:
    """One of the options that lie side by side."""
    return page.get_by_role("radio", name=name, exact=True)


def npy(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def upload(page: Page, name: str, content: bytes) -> None:
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )


def test_a_bar_pulled_up_is_the_vector_of_the_field_the_link_and_the_steps(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "x=1%2C2%2C3")
    ready(page)
    handle = bars(page).nth(2).locator(".normviz-pad-handle").bounding_box()
    assert handle is not None
    at = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    drag(page, at, (at[0], at[1] - 60))
    expect(page).to_have_url(re.compile(r"x=1%2C\+2%2C\+[4-9]"))
    ready(page)
    x = vector(page)
    assert x[:2] == [1, 2]
    assert x[2] > 3
    mean = f"{np.mean(x):.4f}"
    expect(page.get_by_text(re.compile(re.escape(mean))).first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("textbox", name="Vector x")).to_have_value("1,2,3")


def test_keys_on_a_bar_and_on_the_tip_move_the_vector(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "x=1%2C2%2C3")
    ready(page)
    bars(page).first.focus()
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"x=0\.\d+"))
    ready(page)
    before = vector(page)
    page.get_by_role("slider", name=re.compile("Tip of x")).or_(page.get_by_label(re.compile("Tip of x"))).first.focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_role("textbox", name="Vector x")).not_to_have_value(re.compile(f"^{before[0]:g},"))
    ready(page)
    after = vector(page)
    assert np.mean(after) > np.mean(before)
    np.testing.assert_allclose(np.std(after), np.std(before), rtol=1e-3)


def test_a_long_vector_dragged_by_its_tip_keeps_its_direction(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "source=random&d=40&seed=1")
    ready(page)
    page.get_by_label(re.compile("Tip of x")).first.focus()
    page.keyboard.press("Shift+ArrowUp")
    expect(page.get_by_role("textbox", name="Vector x")).to_be_visible()
    ready(page)
    before, after = nv.random_vector(40, 1), np.array(vector(page))
    assert after.std() > before.std()
    np.testing.assert_allclose(nv.layer_norm(after, eps=0).output, nv.layer_norm(before, eps=0).output, atol=1e-3)


def test_a_file_becomes_the_vector(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "source=file")
    expect(page.get_by_text("No file is open on this page")).to_be_visible()
    for name, content, first in (
        ("x.npy", npy(np.array([[4.0], [5.5], [-1.0]], dtype=np.float32)), "4"),
        ("x.csv", b"value\n3\n5.5\n-1\n", "3"),
        ("x.txt", b"tensor([ 2.0000,  5.5000, -1.0000])", "2"),
    ):
        upload(page, name, content)
        expect(page.get_by_role("textbox", name="Vector x")).to_have_value(f"{first}, 5.5, -1")
        expect(page).to_have_url(re.compile(f"x={first}"))
        option(page, "file").click()


def test_a_long_file_stays_on_the_page_and_out_of_the_link(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "source=file")
    upload(page, "long.npy", npy(np.arange(5000.0)))
    expect(page.get_by_text("5,000 numbers, held by this page")).to_be_visible()
    expect(page.get_by_text("2499.5")).not_to_have_count(0)
    assert "2499" not in page.url
    option(page, "Geometry").click()
    expect(page.get_by_text("5,000 numbers, held by this page")).to_be_visible()


def test_a_file_that_is_no_vector_is_explained_and_the_view_stays(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "source=file")
    label = figure(page).get_attribute("aria-label") or ""
    for name, content, said in (
        ("x.npy", npy(np.zeros((2, 3))), "shape"),
        ("x.csv", b"1, 2\n3, four\n", "four"),
        ("x.npy", b"\x93NUMPY", "damaged"),
    ):
        upload(page, name, content)
        expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
        expect(figure(page)).to_have_attribute("aria-label", label)


def test_the_steps_go_one_by_one_by_button_and_by_key(visit_lab: VisitLab) -> None:
    page = visit_lab("vector")
    ready(page)
    steps = page.get_by_role("group", name="Steps")
    expect(steps.get_by_role("status")).to_have_text("All 6 steps")
    steps.get_by_role("button", name="Next").click()
    expect(steps.get_by_role("status")).to_have_text("Step 1 of 6")
    expect(page.get_by_text("Variance", exact=True)).to_have_count(0)
    for place, key in ((2, "ArrowRight"), (3, "PageDown")):
        page.keyboard.press(key)
        expect(steps.get_by_role("status")).to_have_text(f"Step {place} of 6")
    expect(page.get_by_text("Variance", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("step=3"))
    page.keyboard.press("ArrowLeft")
    expect(steps.get_by_role("status")).to_have_text("Step 2 of 6")
    steps.get_by_role("button", name="All").click()
    expect(steps.get_by_role("status")).to_have_text("All 6 steps")


def test_the_camera_of_the_geometry_survives_a_change_of_every_knob(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "view=geometry&x=1%2C2%2C4")
    area = figure(page)
    camera = "() => document.querySelector('.normviz-plot-canvas')._fullLayout.scene._scene.getCamera().eye"
    first = page.evaluate(camera)
    area.press("ArrowLeft")
    page.wait_for_function(f"(was) => JSON.stringify(({camera})()) !== JSON.stringify(was)", arg=first)
    turned = page.evaluate(camera)
    field = page.get_by_role("textbox", name="eps")
    field.fill("0.5")
    field.press("Enter")
    expect(page).to_have_url(re.compile("eps=0.5"))
    ready(page)
    page.get_by_text("A cloud of random vectors").click()
    expect(page.get_by_text("Mean of the cloud")).to_be_visible()
    figure(page, 3)
    now = page.evaluate(camera)
    np.testing.assert_allclose([now[axis] for axis in "xyz"], [turned[axis] for axis in "xyz"], rtol=1e-3)


def test_a_slid_scale_below_zero_flips_the_sign_and_is_in_the_link(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "view=invariances")
    ready(page)
    scale = page.get_by_role("slider", name=re.compile("scale a"))
    scale.press("Home")
    expect(page).to_have_url(re.compile("scale=-4"))
    expect(page.get_by_text("LN(a x + b) has flipped its sign")).to_be_visible()
    page.reload()
    expect(page.get_by_text("LN(a x + b) has flipped its sign")).to_be_visible()


def test_a_gradient_pulled_at_a_bar_is_typed_into_its_field(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "view=backward")
    ready(page)
    page.locator(".normviz-pad-bars").nth(1).get_by_role("slider").nth(1).press("ArrowUp")
    expect(page.get_by_role("textbox", name="Gradient g")).to_have_value(re.compile(r"^1, 0\.\d+, 0, 0$"))
    expect(page).to_have_url(re.compile(r"g=1%2C\+0\."))


def test_both_scripts_of_every_view_are_saved_and_run(visit_lab: VisitLab, tmp_path: Path) -> None:
    page = visit_lab("vector", "x=1%2C2%2C4&eps=0.1&w=2&b=1&cloud=1&scale=-2")
    ready(page)
    page.get_by_text("This view as a Python script").click()
    for view in VIEWS:
        option(page, view).click()
        for tab, name, line in (
            ("With normviz", "vector_lab.py", "import normviz"),
            ("In plain PyTorch", "vector_lab_torch.py", "import torch"),
        ):
            page.get_by_role("tab", name=tab).click()
            expect(page.locator("code:visible", has_text=line).filter(has_text=TITLES[view])).to_be_visible()
            settled(page)  # a button that is about to be drawn anew loses the click
            with page.expect_download() as download:
                page.get_by_role("button", name="Download script").locator("visible=true").click()
            assert download.value.suggested_filename == name
            script = tmp_path / f"{view}_{name}"
            download.value.save_as(script)
            run = subprocess.run(
                [sys.executable, script], capture_output=True, text=True, check=True, cwd=tmp_path, env=ENVIRONMENT
            )
            assert "LayerNorm" in run.stdout or "layer_norm" in run.stdout


def test_a_million_numbers_are_drawn_and_answer(visit_lab: VisitLab) -> None:
    page = visit_lab("vector", "source=random&d=1000000")
    label = figure(page, 1).get_attribute("aria-label") or ""
    assert "1000000 entries" in label
    page.get_by_role("textbox", name="eps").fill("1")
    page.get_by_role("textbox", name="eps").press("Enter")
    expect(page).to_have_url(re.compile("eps=1"))
    expect(figure(page, 1)).not_to_have_attribute("aria-label", label)


@pytest.mark.parametrize(("locale", "scheme"), [("en-US", "light"), ("zh-CN", "dark")])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_accessible_and_fits_a_phone(
    visit_lab: VisitLab, axe: Callable[..., None], view: str, locale: str, scheme: str
) -> None:
    query = f"view={view.lower()}&x=1%2C2%2C4&w_is=random&cloud=1"
    page = visit_lab("vector", query, locale=locale, color_scheme=scheme)
    ready(page)
    expect(page.locator(".normviz-plot-area")).to_have_count(VIEWS[view] + (view == "Geometry"))
    axe(page)
    page.set_viewport_size({"width": 390, "height": 844})
    ready(page)
    expect(page.locator(".normviz-pad")).not_to_have_count(0)
    assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
