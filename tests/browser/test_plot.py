"""Does a figure keep a person's view, answer a click, and leave the page as numbers and images?"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.figures import SCRIPT, drag, drawn

pytestmark = pytest.mark.browser

CANVAS = "document.querySelector('.normviz-plot-canvas')"


def lift(page: Page, steps: int = 1) -> None:
    """Turn the page's knob by keyboard and wait until the figure follows."""
    knob = page.get_by_role("slider")
    first = f"({{y, z}} = {CANVAS}.data[0]) => (z ?? y).at(z ? -1 : 0)"
    before = page.evaluate(f"({first})()")
    for _ in range(steps):
        knob.press("ArrowRight")
    page.wait_for_function(f"(before) => ({first})() !== before", arg=before)


def position(page: Page, x: float, y: float) -> tuple[float, float]:
    """Pixel of a point of a flat figure."""
    left, top = page.evaluate(
        f"([x, y]) => {{ const c = {CANVAS}, a = c._fullLayout.xaxis, b = c._fullLayout.yaxis,"
        " r = c.getBoundingClientRect();"
        " return [r.left + a._offset + a.d2p(x), r.top + b._offset + b.d2p(y)]; }",
        [x, float(y)],
    )
    return left, top


def middle(page: Page) -> tuple[float, float]:
    box = drawn(page).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def eye(page: Page) -> list[float]:
    """Where the camera stands, once it has come to rest."""
    look = f"Object.values({CANVAS}._fullLayout.scene._scene.getCamera().eye)"
    now = page.evaluate(look)
    while True:
        page.wait_for_timeout(300)
        before, now = now, page.evaluate(look)
        if before == now:
            return now


def count_drawings(page: Page) -> None:
    page.evaluate(f"window.drawings = 0, {CANVAS}.on('plotly_afterplot', () => {{ window.drawings += 1; }})")


def tick(page: Page) -> int:
    return int(page.get_by_text("Tick ").inner_text().removeprefix("Tick "))


def wait_ticks(page: Page, more: int) -> None:
    after = tick(page) + more
    page.wait_for_function(
        "(n) => [...document.querySelectorAll('pre,div,p')].some((e) => e.textContent === `Tick ${n}`)"
        " || [...document.querySelectorAll('*')].some((e) => /^Tick \\d+$/.test(e.textContent)"
        " && Number(e.textContent.slice(5)) >= n)",
        arg=after,
    )


def saved(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_bytes()


def test_zoom_outlives_live_updates(visit: Callable[..., Page]) -> None:
    page = visit("live")
    box = drawn(page).bounding_box()
    assert box is not None
    drag(page, (box["x"] + 150, box["y"] + 80), (box["x"] + 300, box["y"] + 250))
    page.wait_for_function(f"{CANVAS}._fullLayout.xaxis.autorange === false")
    before = page.evaluate(f"[{CANVAS}._fullLayout.xaxis.range, {CANVAS}.data[0].y[0]]")
    wait_ticks(page, 3)
    after = page.evaluate(f"[{CANVAS}._fullLayout.xaxis.range, {CANVAS}.data[0].y[0]]")
    assert after[0] == before[0]
    assert after[1] > before[1]


def test_legend_choice_outlives_an_update_and_reset_forgets_it(visit: Callable[..., Page]) -> None:
    page = visit("line")
    page.locator(".legendtoggle").last.click()
    page.wait_for_function(f"{CANVAS}._fullData[1].visible === 'legendonly'")
    lift(page)
    assert page.evaluate(f"{CANVAS}._fullData[1].visible") == "legendonly"
    page.get_by_role("button", name="Reset view").click()
    page.wait_for_function(f"{CANVAS}._fullData[1].visible === true")


def test_camera_outlives_a_knob_and_a_turn_is_no_click(visit: Callable[..., Page]) -> None:
    page = visit("blocks")
    x, y = middle(page)
    first = eye(page)
    drag(page, (x, y), (x + 120, y + 20))
    turned = eye(page)
    assert np.abs(np.subtract(turned, first)).max() > 0.1
    lift(page, 2)
    assert eye(page) == pytest.approx(turned, abs=1e-6)
    expect(page.get_by_text("Clicks []")).to_be_visible()
    page.get_by_role("button", name="Reset view").click()
    page.wait_for_function(f"Math.abs({CANVAS}._fullLayout.scene.camera.eye.x - {first[0]}) < 1e-6")
    assert eye(page) == pytest.approx(first, abs=1e-6)


OVERTAKEN = """
import plot from "./plot.js?itself";
export default (component) => {
  const end = plot(component);
  end(); // what Streamlit does with the result of a call that a newer one overtook
  return end;
};
"""


def test_a_figure_outlives_a_call_that_was_overtaken(serve: Callable[..., Any], open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.route(re.compile(r"/plot\.js$"), lambda route: route.fulfill(body=OVERTAKEN, content_type="text/javascript"))
    page.goto(f"{serve(SCRIPT).url}/?figure=blocks")
    drawn(page).press("ArrowRight")
    turned = eye(page)
    lift(page)
    assert eye(page) == pytest.approx(turned, abs=1e-6)


def test_arrow_keys_turn_a_3d_figure_for_good(visit: Callable[..., Page]) -> None:
    page = visit("blocks")
    first = eye(page)
    drawn(page).press("ArrowRight")
    page.wait_for_function(f"Math.abs({CANVAS}._fullLayout.scene.camera.eye.x - {first[0]}) > 0.05")
    turned = eye(page)
    assert np.linalg.norm(turned) == pytest.approx(np.linalg.norm(first))
    lift(page)
    assert eye(page) == pytest.approx(turned, abs=1e-6)


def test_click_reaches_python_as_customdata(visit: Callable[..., Page]) -> None:
    page = visit("line")
    page.mouse.click(*position(page, 94, np.sin(94 / 30)), delay=50)
    expect(page.get_by_text("Clicks [[94, 95]]")).to_be_visible()


def test_click_on_a_block_reaches_python_once(visit: Callable[..., Page]) -> None:
    page = visit("blocks")
    page.mouse.move(*middle(page))
    page.wait_for_timeout(500)  # the figure picks what is under the pointer a frame later
    page.mouse.click(*middle(page), delay=300)
    expect(page.get_by_text("Clicks [[7, 8, 9]]", exact=True)).to_be_visible()
    page.get_by_role("button", name="Again").click()
    expect(page.get_by_text("Runs 2")).to_be_visible()
    expect(page.get_by_text("Clicks [[7, 8, 9]]", exact=True)).to_be_visible()


def test_a_click_on_a_block_may_be_short(visit: Callable[..., Page]) -> None:
    page = visit("blocks")
    x, y = middle(page)
    page.mouse.move(x - 20, y)
    page.mouse.move(x, y, steps=4)
    page.wait_for_timeout(500)
    page.mouse.click(x, y)
    expect(page.get_by_text("Clicks [[7, 8, 9]]", exact=True)).to_be_visible()


def test_what_stays_the_same_is_sent_and_drawn_once(serve: Callable[..., Any], open_page: Callable[..., Page]) -> None:
    page, received = open_page(), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.goto(f"{serve(SCRIPT).url}/?figure=still")
    drawn(page)
    assert sum(received) > 20_000
    box = drawn(page).bounding_box()
    assert box is not None
    drag(page, (box["x"] + 150, box["y"] + 80), (box["x"] + 300, box["y"] + 250))
    page.wait_for_function(f"{CANVAS}._fullLayout.xaxis.range[0] > 0")
    zoomed = page.evaluate(f"{CANVAS}._fullLayout.xaxis.range")
    page.evaluate(f"window.image = {CANVAS}.querySelector('.heatmaplayer image'), window.href = image.href.baseVal")
    received.clear()
    for _ in range(2):
        page.get_by_role("slider").press("ArrowRight")
    expect(page.get_by_role("img", name="A frame around row 2.")).to_be_visible()
    page.wait_for_function(f"{CANVAS}._fullLayout.shapes[0].y0 === 1.5")
    assert sum(received) < 20_000
    assert page.evaluate(f"image === {CANVAS}.querySelector('.heatmaplayer image') && href === image.href.baseVal")
    assert page.evaluate(f"{CANVAS}._fullLayout.xaxis.range") == zoomed
    page.get_by_role("button", name="Reset view").click()
    page.wait_for_function(f"{CANVAS}._fullLayout.xaxis.range[0] === -0.5")
    assert page.evaluate(f"{CANVAS}._fullLayout.shapes[0].y0") == 1.5


def test_a_part_takes_no_room_and_its_numbers_leave_whole(visit: Callable[..., Page]) -> None:
    page = visit("still")
    sizes = "[document.querySelectorAll('[data-testid=stBidiComponentRegular]').length, " + (
        "document.querySelector('.normviz-plot').closest('[data-testid=stVerticalBlock]').offsetHeight"
        " - document.querySelector('.normviz-plot').offsetHeight]"
    )
    count, rest = page.evaluate(sizes)
    assert count == 2
    assert rest < 1
    table = pd.read_csv(io.StringIO(saved(page, "CSV").decode("utf-8").removeprefix("\ufeff")))
    np.testing.assert_array_equal(table["z"], np.sin(np.arange(2400.0)))
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("table")).to_contain_text("The first 200 of 2400 rows.")


def test_tap_reaches_python_and_a_finger_scrolls_the_page(visit: Callable[..., Page]) -> None:
    page = visit("line", width=390, height=650, has_touch=True, is_mobile=True)
    page.touchscreen.tap(*position(page, 94, np.sin(94 / 30)))
    expect(page.get_by_text("Clicks [[94, 95]]")).to_be_visible()
    x, y = position(page, 150, 0)
    finger = page.context.new_cdp_session(page)
    for kind, way in (("touchStart", 0), *(("touchMove", 15 * step) for step in range(1, 11)), ("touchEnd", None)):
        points = [] if way is None else [{"x": x, "y": y - way}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 100")
    assert page.evaluate(f"{CANVAS}._fullLayout.xaxis.autorange") is True
    expect(page.get_by_text("Clicks [[94, 95]]")).to_be_attached()


def test_updates_wait_while_the_pointer_is_down(visit: Callable[..., Page]) -> None:
    page = visit("live")
    page.mouse.move(*middle(page))
    page.mouse.down()
    count_drawings(page)
    before = page.evaluate(f"{CANVAS}.data[0].y[0]")
    wait_ticks(page, 3)
    assert page.evaluate(f"[{CANVAS}.data[0].y[0], window.drawings]") == [before, 0]
    page.mouse.up()
    page.wait_for_function(f"{CANVAS}.data[0].y[0] > {before + 2}")


def test_unchanged_data_is_not_drawn_again(visit: Callable[..., Page]) -> None:
    page = visit("line")
    count_drawings(page)
    page.get_by_role("button", name="Again").click()
    expect(page.get_by_text("Runs 1")).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate("window.drawings") == 0


def test_table_shows_the_first_rows_and_says_so(visit: Callable[..., Page], axe: Callable[..., None]) -> None:
    page = visit("line")
    button = page.get_by_role("button", name="Table")
    button.click()
    table = page.get_by_role("table")
    expect(table).to_contain_text("The first 200 of 300 rows. The CSV file has all of them.")
    expect(table.get_by_role("row")).to_have_count(201)
    expect(table.get_by_role("row").nth(4)).to_have_text("3a,b")
    expect(button).to_have_attribute("aria-expanded", "true")
    axe(page, within=".normviz-plot")
    button.press("Enter")
    expect(table).to_have_count(0)


def test_csv_holds_every_digit_of_every_row(visit: Callable[..., Page]) -> None:
    page = visit("line")
    text = saved(page, "CSV").decode("utf-8")
    assert text.startswith("\ufeffx,y,名\r\n")
    assert '\r\n3,,"a,b"\r\n4,inf,"say ""c"""\r\n' in text
    table = pd.read_csv(io.StringIO(text.removeprefix("\ufeff")))
    y = np.sin(np.arange(300) / 30)
    y[3], y[4] = np.nan, np.inf
    np.testing.assert_array_equal(table["x"], np.arange(300))
    np.testing.assert_array_equal(table["y"], y)
    assert table["名"].tolist() == ['say "c"', "a,b"] * 150


def test_csv_gives_a_spreadsheet_no_formula_and_its_numbers_as_they_are(visit: Callable[..., Page]) -> None:
    text = saved(visit("words"), "CSV").decode("utf-8").removeprefix("\ufeff")
    x, words = zip(*csv.reader(io.StringIO(text, newline="")), strict=True)
    assert words[1:] == ("'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\rx", "'\uff1d1", "a=b", "", "−1")
    assert x[1:] == tuple(str(place) for place in range(-5, 5))


@pytest.mark.parametrize(("scheme", "background"), [("light", (255, 255, 255)), ("dark", (14, 17, 23))])
def test_png_has_the_page_behind_it(visit: Callable[..., Page], scheme: str, background: tuple[int, ...]) -> None:
    page = visit("line", color_scheme=scheme)
    width = page.evaluate(f"{CANVAS}.clientWidth")
    image = Image.open(io.BytesIO(saved(page, "PNG"))).convert("RGB")
    assert image.width == 2 * width
    assert image.getpixel((2, 2)) == background
    assert image.getpixel((image.width - 3, image.height - 3)) == background
    # The title is drawn above the axes.
    assert np.ptp(np.asarray(image)[20:60, 40:400], axis=(0, 1)).max() > 100


def test_svg_is_text_with_title_and_typeset_label(visit: Callable[..., Page]) -> None:
    svg = saved(visit("math"), "SVG").decode("utf-8")
    assert svg.startswith("<svg")
    assert "A line lifted by 0" in svg
    assert "$" not in re.sub(r'data-unformatted="[^"]*"', "", svg)  # plotly keeps the source in an attribute
    assert "MJX-" in svg


def test_latex_label_is_drawn_as_glyphs(visit: Callable[..., Page]) -> None:
    page = visit("math")
    expect(page.locator(".xtitle-math-group svg path")).not_to_have_count(0)
    assert "$" not in page.locator(".normviz-plot").inner_text()


def test_mathjax_is_fetched_for_latex_only(visit: Callable[..., Page]) -> None:
    page = visit("line")
    assert page.evaluate("typeof window.MathJax") == "undefined"
    assert page.evaluate("typeof window.Plotly.react") == "function"


def test_reload_downloads_no_library_again(visit: Callable[..., Page]) -> None:
    page = visit("math")
    sizes = (
        "performance.getEntriesByType('resource')"
        ".filter((e) => /plotly.min.js|tex-svg.js/.test(e.name)).map((e) => e.transferSize)"
    )
    first = page.evaluate(sizes)
    assert len(first) == 2
    assert min(first) > 100_000
    page.reload()
    drawn(page)
    assert page.evaluate(sizes) == [0, 0]


def test_figure_has_a_name_and_a_description(visit: Callable[..., Page], axe: Callable[..., None]) -> None:
    page = visit("line")
    expect(page.get_by_role("img", name="A sine wave around 0.")).to_be_visible()
    expect(page.locator("figcaption")).to_have_text("A line lifted by 0")
    lift(page)
    expect(page.get_by_role("img", name="A sine wave around 1.")).to_be_visible()
    axe(page, within=".normviz-plot")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_page_does_not_scroll_sideways(visit: Callable[..., Page], axe: Callable[..., None], scheme: str) -> None:
    page = visit("line", width=390, height=844, color_scheme=scheme)
    page.get_by_role("button", name="Table").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(f"{CANVAS}.querySelector('.main-svg').getBoundingClientRect().right") <= 390
    axe(page, within=".normviz-plot")


def test_figure_follows_the_width_of_the_page(visit: Callable[..., Page]) -> None:
    page = visit("line")
    page.set_viewport_size({"width": 600, "height": 900})
    page.wait_for_function(
        f"Math.abs({CANVAS}._fullLayout.width - {CANVAS}.clientWidth) < 1 && {CANVAS}.clientWidth < 600"
    )


def test_figure_shrinks_in_a_narrow_column(visit: Callable[..., Page]) -> None:
    page = visit("blocks", width=390)
    sizes = f"[{CANVAS}.clientWidth, {CANVAS}.clientHeight, {CANVAS}._fullLayout.height]"
    width, height, drawn_height = page.evaluate(sizes)
    assert height == pytest.approx(0.75 * width, abs=1)
    assert drawn_height == pytest.approx(height, abs=1)
    page.set_viewport_size({"width": 1000, "height": 900})
    page.wait_for_function(f"{CANVAS}.clientHeight === 420 && {CANVAS}._fullLayout.height === 420")


def test_fifth_3d_figure_gives_its_numbers_instead(visit: Callable[..., Page]) -> None:
    page = visit("many")
    expect(page.get_by_text("A page draws four 3-D figures at most.")).to_have_count(1)
    expect(page.locator(".normviz-plot canvas:not([width='0'])").first).to_be_visible()
    page.get_by_role("button", name="Table").last.click()
    expect(page.get_by_role("table")).to_be_visible()


def test_removed_figure_is_cleaned_up_and_can_return(visit: Callable[..., Page]) -> None:
    page = visit("removed")
    page.evaluate(f"window.old = {CANVAS}")
    page.get_by_text("Shown").click()
    expect(page.locator(".normviz-plot")).to_have_count(0)
    assert page.evaluate("window.old.data") is None
    page.get_by_text("Shown").click()
    drawn(page)


def test_missing_library_is_said_and_leaves_the_numbers(
    serve: Callable[..., Any], open_page: Callable[..., Page]
) -> None:
    page = open_page()
    page.route("**/plotly.min.js*", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(f"{serve(SCRIPT).url}/?figure=line")
    expect(page.get_by_text("The figure could not be drawn.")).to_be_visible()
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("table")).to_be_visible()
