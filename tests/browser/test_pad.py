"""Does the vector pad follow the hand, agree with Python, and speak to the server on release only?"""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import normviz as nv
from tests.browser.figures import drag
from tests.browser.pads import Visit, bar, drawn_outputs, end, knob, middle, released, runs, shown

pytestmark = pytest.mark.browser

STARTING = [1.0, 2.0, 3.0, 4.0]


def test_arithmetic_in_the_browser_agrees_with_normviz(visit_pad: Visit) -> None:
    page = visit_pad()
    for eps in (0.0, 1e-12, 1e-5, 1.0, 10.0):
        compare(page, eps)


def compare(page: Page, eps: float) -> None:
    """The served module against the package, on sixty random vectors, weights, biases and gradients."""
    rng = np.random.default_rng(int(1e6 * eps))
    cases = []
    for trial in range(60):
        d = int(rng.integers(2, 25))
        x = rng.normal(rng.normal(0, 3), 10.0 ** rng.uniform(-3, 3), d)
        weight, bias = rng.normal(size=(2, d)) if trial % 3 else (None, None)
        cases.append((x, weight, bias, rng.normal(size=d)))
    listed = [[None if part is None else part.tolist() for part in case] for case in cases]
    results = page.evaluate(
        """async ([cases, eps]) => {
          const { name } = performance.getEntriesByType("resource").find((e) => e.name.includes("/norms.js"));
          const norms = await import(name);
          return cases.map(([x, weight, bias, g]) => ({
            layer: norms.layerNorm(x, weight, bias, eps),
            rms: norms.rmsNorm(x, weight, eps),
            plane: norms.plane(x, eps),
            back: ["layer_norm", "rms_norm"].map((norm) => norms.pullback(norm, x, weight, eps, g)),
          }));
        }""",
        [listed, eps],
    )
    for (x, weight, bias, g), result in zip(cases, results, strict=True):
        plane = nv.plane(x, eps=eps)
        np.testing.assert_allclose(result["layer"], nv.layer_norm(x, weight, bias, eps=eps).output, rtol=0, atol=1e-12)
        np.testing.assert_allclose(result["rms"], nv.rms_norm(x, weight, eps=eps).output, rtol=0, atol=1e-12)
        for name in ("x", "layer_norm", "rms_norm"):
            camel = {"x": "x", "layer_norm": "layerNorm", "rms_norm": "rmsNorm"}[name]
            np.testing.assert_allclose(result["plane"][camel], getattr(plane, name), rtol=1e-12, atol=1e-12)
        for norm, image in zip(("layer_norm", "rms_norm"), result["back"], strict=True):
            expected = nv.jacobian(norm, x, weight=weight, eps=eps).T @ g
            # The Jacobian of two entries is 0 at eps 0: rounding is measured by what cancels in it.
            large = np.abs(g).max() * (1 if weight is None else np.abs(weight).max()) / np.sqrt(x.var() + eps)
            np.testing.assert_allclose(image, expected, rtol=0, atol=1e-12 * large)


def test_undefined_norms_are_left_out_and_said(visit_pad: Visit) -> None:
    page = visit_pad("x=0.1,0.1,0.1,0.1,0.1,0.1,0.1&eps=0")
    expect(page.locator(".normviz-pad-note")).to_have_text("LN(x) is undefined here.")
    expect(page.locator(".normviz-pad-column .normviz-pad-layer:visible")).to_have_count(0)
    expect(page.locator(".normviz-pad-column .normviz-pad-rms:visible")).to_have_count(7)
    page.goto(page.url.replace("0.1,", "0,").replace(",0.1&", ",0&"))
    expect(page.locator(".normviz-pad-note")).to_have_text("LN(x) is undefined here. RMSNorm(x) is undefined here.")


def test_a_dragged_bar_reaches_python_once_and_on_release(visit_pad: Visit) -> None:
    sent: list[str | bytes] = []
    page = visit_pad("weight=1", sent=sent)
    before = runs(page)
    x, y = end(page, 2)
    page.mouse.move(x, y)
    page.mouse.down()
    quiet = len(sent)
    for step in range(1, 41):
        page.mouse.move(x + step, y + 2 * step)
    page.wait_for_timeout(300)
    moved = shown(page)
    assert moved[1] < 1.0
    assert [moved[0], *moved[2:]] == [1.0, 3.0, 4.0]
    assert len(sent) == quiet
    assert runs(page) == before
    page.mouse.up()
    value = released(page, before + 1)
    assert value == {"x": moved}
    page.wait_for_timeout(700)
    assert runs(page) == before + 1
    assert len(sent) == quiet + 1
    assert shown(page) == moved
    weight, bias = np.linspace(0.5, 2.0, 4), np.linspace(-1.0, 1.0, 4)
    layer = nv.layer_norm(moved, weight, bias, eps=1e-5).output
    assert drawn_outputs(page, "layer") == pytest.approx(layer, abs=1e-6)
    assert drawn_outputs(page, "rms") == pytest.approx(nv.rms_norm(moved, weight, eps=1e-5).output, abs=1e-6)


def test_dragging_the_tip_moves_mean_and_std(visit_pad: Visit) -> None:
    sent: list[str | bytes] = []
    page = visit_pad(sent=sent)
    x, y = knob(page)
    page.mouse.move(x, y)
    page.mouse.down()
    quiet = len(sent)
    page.mouse.move(x - 30, y - 40, steps=12)
    page.wait_for_timeout(200)
    assert len(sent) == quiet
    assert knob(page) == pytest.approx((x - 30, y - 40), abs=1)
    page.mouse.up()
    entries = np.array(released(page, 2)["x"])
    assert entries.mean() < 2.5
    assert entries.std() > np.std(STARTING)
    cosine = np.corrcoef(entries, STARTING)[0, 1]
    assert cosine == pytest.approx(1, abs=1e-5)
    assert all(len(repr(entry)) <= 7 for entry in entries.tolist())
    assert shown(page) == entries.tolist()


def test_a_sideways_pull_moves_the_mean_alone_however_small_the_spread(visit_pad: Visit) -> None:
    page = visit_pad("x=1000,1001,1002")
    x, y = knob(page)
    drag(page, (x, y), (x - 60, y))
    moved = np.array(released(page, 2)["x"])
    assert moved.mean() < 990
    assert moved - moved.mean() == pytest.approx([-1, 0, 1], abs=1e-3)


def test_subnormal_entries_are_drawn_and_both_norms_said_to_be_undefined(visit_pad: Visit) -> None:
    page = visit_pad("x=1e-320,2e-320,5e-324&eps=0")
    expect(page.locator(".normviz-pad-note")).to_have_text("LN(x) is undefined here. RMSNorm(x) is undefined here.")


def test_the_tip_may_cross_the_axis_and_the_frame_stays(visit_pad: Visit) -> None:
    page = visit_pad()
    x, y = knob(page)
    axis = page.locator(".normviz-pad-plane .normviz-pad-circle").bounding_box()
    assert axis is not None
    below = 2 * (axis["y"] + axis["height"] / 2) - y
    drag(page, (x, y), (x, below))
    entries = released(page, 2)["x"]
    assert np.corrcoef(entries, STARTING)[0, 1] == pytest.approx(-1)
    center = page.locator(".normviz-pad-plane .normviz-pad-circle").bounding_box()
    assert center is not None
    assert knob(page)[1] > center["y"] + center["height"] / 2 + 10


def test_a_constant_vector_leaves_its_axis_as_a_rising_ramp(visit_pad: Visit) -> None:
    page = visit_pad("x=2,2,2")
    x, y = knob(page)
    drag(page, (x, y), (x, y - 60))
    first, second, third = released(page, 2)["x"]
    assert first < second < third
    assert second - first == pytest.approx(third - second, abs=0.01)


def test_a_tip_near_an_axis_is_put_on_it(visit_pad: Visit) -> None:
    page = visit_pad()
    center = middle(page.locator(".normviz-pad-plane .normviz-pad-circle"))
    x, y = knob(page)
    drag(page, (x, y), (center[0] + 2, y))
    assert sum(released(page, 2)["x"]) == pytest.approx(0, abs=1e-12)
    expect(page.locator(".normviz-pad-live")).to_contain_text("mean 0,")
    x, y = knob(page)
    drag(page, (x, y), (x + 40, center[1] - 2))
    assert len(set(released(page, 3)["x"])) == 1


def test_keys_report_when_they_have_rested(visit_pad: Visit) -> None:
    page = visit_pad()
    expect(bar(page, 3)).to_have_attribute("aria-label", "entry 3")
    for _ in range(3):
        bar(page, 3).press("ArrowUp")
    value = released(page, 2)["x"]
    assert value == pytest.approx([1, 2, 3.15, 4])
    bar(page, 3).press("Shift+ArrowDown")
    value = released(page, 3)["x"]
    assert value == pytest.approx([1, 2, 2.65, 4])
    bar(page, 3).press("PageUp")
    assert released(page, 4)["x"] == pytest.approx([1, 2, 3.15, 4])
    bar(page, 1).press("Home")
    assert released(page, 5)["x"] == pytest.approx([-5, 2, 3.15, 4])
    tip = page.get_by_role("application")
    before = np.array(shown(page))
    tip.press("Shift+ArrowRight")
    after = np.array(released(page, 6)["x"])
    assert after.mean() > before.mean()
    assert after.std() == pytest.approx(before.std(), abs=5e-3)
    tip.press("ArrowDown")
    assert np.std(released(page, 7)["x"]) < after.std()


def touch(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    finger = page.context.new_cdp_session(page)
    way = np.linspace(start, end, 10)
    for kind, points in (
        ("touchStart", [way[0]]),
        *(("touchMove", [place]) for place in way[1:]),
        ("touchEnd", []),
    ):
        places = [{"x": float(x), "y": float(y)} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
        page.wait_for_timeout(20)


def test_a_finger_drags_a_bar_taps_a_column_and_scrolls_beside_them(visit_pad: Visit) -> None:
    page = visit_pad(width=390, height=600, has_touch=True, is_mobile=True)
    scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
    x, y = end(page, 1)
    touch(page, (x, y), (x, y - 50))
    first = released(page, 2)["x"]
    assert first[0] > 2
    assert page.evaluate(scrolled) == 0
    x, y = end(page, 3)
    page.touchscreen.tap(x, y - 60)
    assert released(page, 3)["x"][2] > 3.5
    x, y = middle(page.locator(".normviz-pad-index").first)
    touch(page, (x, y), (x, y - 150))
    page.wait_for_function(f"{scrolled} > 60")
    page.wait_for_timeout(600)
    assert runs(page) == 3


def test_a_press_in_a_column_takes_the_bar_there(visit_pad: Visit) -> None:
    page = visit_pad()
    page.mouse.click(end(page, 1)[0], end(page, 3)[1])
    assert released(page, 2)["x"] == [3.0, 2.0, 3.0, 4.0]


def test_a_press_that_moves_nothing_reports_nothing(visit_pad: Visit) -> None:
    page = visit_pad()
    before = runs(page)
    page.mouse.click(*end(page, 2))
    page.mouse.click(*knob(page))
    page.wait_for_timeout(700)
    assert runs(page) == before


def test_a_drag_ends_at_the_border_and_the_range_follows_on_release(visit_pad: Visit) -> None:
    page = visit_pad()
    highest = bar(page, 4)
    expect(highest).to_have_attribute("aria-valuemax", "5")
    x, y = end(page, 4)
    drag(page, (x, y), (x, y - 400))
    assert released(page, 2)["x"][3] == 5.0
    expect(highest).to_have_attribute("aria-valuemax", "6")


def test_data_waits_while_the_pointer_is_down(visit_pad: Visit) -> None:
    page = visit_pad("kind=live")

    def tick() -> int:
        return int(page.get_by_text("Tick ").inner_text().removeprefix("Tick "))

    x, y = end(page, 1)
    page.mouse.move(x, y)
    page.mouse.down()
    before, first = shown(page), tick()
    page.wait_for_function(
        "(n) => [...document.querySelectorAll('*')].some((e) => /^Tick \\d+$/.test(e.textContent)"
        " && Number(e.textContent.slice(5)) >= n)",
        arg=first + 3,
    )
    assert shown(page) == before
    page.mouse.up()
    page.wait_for_function(f"Number(document.querySelectorAll('[role=slider]')[3].ariaValueNow) > {before[3] + 0.15}")


def test_other_data_leaves_the_vector_and_another_vector_replaces_it(visit_pad: Visit) -> None:
    page = visit_pad()
    bar(page, 1).press("ArrowUp")
    released(page, 2)
    page.get_by_text("Large eps").click()
    last = nv.layer_norm([1.05, 2, 3, 4], eps=10).output[3]
    expect(page.locator(".normviz-pad-row-layer").last).to_have_text(f"{last:.4g}")
    assert shown(page) == [1.05, 2, 3, 4]
    page.get_by_role("button", name="Preset").click()
    expect(bar(page, 1)).to_have_attribute("aria-valuenow", "4")
    assert shown(page) == [4, -3, 2, -1]


def test_a_long_vector_is_dragged_by_its_tip(visit_pad: Visit) -> None:
    page = visit_pad("d=1000")
    expect(page.get_by_role("slider")).to_have_count(0)
    expect(page.get_by_text("It is exact for any number of entries.")).to_be_visible()
    x, y = knob(page)
    drag(page, (x, y), (x + 40, y))
    value = released(page, 2)
    start = np.random.default_rng(1000).normal(1.5, 2.0, 1000)
    assert value["mean"] > start.mean()
    assert value["std"] == pytest.approx(start.std(), rel=1e-2)
    assert knob(page) == pytest.approx((x + 40, y), abs=1)
    expect(page.locator(".normviz-pad-live")).to_contain_text(f"mean {value['mean']:.4g}")
