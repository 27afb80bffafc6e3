"""Can a person run, watch, share, cancel and question a depth sweep in the browser?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from normviz.depth.config import SweepConfig
from normviz.depth.results import collect
from normviz.depth.sweep import sweep
from tests.browser.labs import SMALL, figure, settled

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
# Some seconds on two cores, in many slices: time enough to press Cancel.
LONG = (
    "placements=post_norm%2Cpre_norm%2Csandwich_norm%2Cperi_ln&depths=64%2C128%2C256&seeds=16&d_model=64&seq_len=64"
    "&layers=64"
)
MEASURED = re.compile(r"[1-9]\d* of \d+ models measured")


def run(page: Page) -> None:
    """Press Run, or Go on where an earlier test has left the sweep."""
    button = page.get_by_role("button", name=re.compile("^(Run|Go on)$"))
    settled(page)
    if button.is_enabled():
        button.click()


def test_a_sweep_runs_and_its_link_shows_it_again(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", SMALL)
    expect(page.get_by_text("Measured on cpu")).to_be_visible()
    expect(figure(page)).to_have_attribute("aria-label", re.compile("Post-Norm.*Pre-Norm"))
    page.reload()
    expect(page.get_by_text("Measured on cpu")).to_be_visible()
    expect(page.get_by_role("button", name="Run")).to_be_disabled()


def test_a_sweep_is_cancelled_in_the_middle_and_goes_on_later(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", LONG)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    go_on = page.get_by_role("button", name=re.compile("^(Run|Go on)$"))
    cancel = page.get_by_role("button", name="Cancel")
    run(page)
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 192 models measured"))).to_be_visible()
    figure(page)
    cancel.click()
    expect(page.get_by_text(re.compile(r"Cancelled after \d+ of 192 models"))).to_be_visible()
    expect(go_on).to_have_text("Go on")
    go_on.click()
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 192 models measured"))).to_be_visible()
    cancel.click()
    expect(page.get_by_text(re.compile(r"Cancelled after \d+ of 192 models"))).to_be_visible()


def test_the_language_is_switched_in_the_middle_of_a_sweep(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", LONG.replace("seeds=16", "seeds=14"))
    run(page)
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 168 models measured"))).to_be_visible()
    page.get_by_role("radio", name="中文").or_(page.get_by_role("button", name="中文")).first.click()
    expect(page.get_by_text(re.compile(r"已测量 \d+ / 168 个模型"))).to_be_visible()
    expect(figure(page)).to_have_attribute("aria-label", re.compile("前置归一化"))
    page.get_by_role("button", name="取消").click()
    expect(page.get_by_text(re.compile(r"已取消，完成了 \d+ / 168 个模型"))).to_be_visible()


def test_a_choice_from_a_list_outlives_the_language_switch(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", f"{SMALL}&quantity=grad_wv")
    expect(figure(page)).to_have_attribute("aria-label", re.compile("dLoss/dWV"))
    for name, words in (("中文", "dLoss/dWV 的"), ("English", "dLoss/dWV")):
        page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first.click()
        expect(figure(page)).to_have_attribute("aria-label", re.compile(words))
        settled(page)
        page.get_by_role("slider").first.press("ArrowRight")
        expect(page).to_have_url(re.compile("quantity=grad_wv"))
        settled(page)


def test_zoom_outlives_the_live_updates_of_a_sweep(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", LONG.replace("seeds=16", "seeds=15"))
    run(page)
    area = figure(page)
    box = area.bounding_box()
    assert box is not None
    left, top = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.3
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(left + 150, top + 100, steps=8)
    page.mouse.up()
    canvas = "document.querySelector('.normviz-plot-canvas')"
    zoomed = page.evaluate(f"{canvas}.layout.xaxis.range")
    done = page.get_by_text(re.compile(r"\d+ of 180 models measured"))
    first = done.inner_text()
    expect(done).not_to_have_text(first)
    assert page.evaluate(f"{canvas}.layout.xaxis.range") == zoomed
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(re.compile("Cancelled after"))).to_be_visible()
    assert page.evaluate(f"{canvas}.layout.xaxis.range") == zoomed


def test_a_reload_in_the_middle_of_a_sweep_finds_it_again(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", LONG.replace("seeds=16", "seeds=13"))
    run(page)
    expect(page.get_by_text(MEASURED)).to_be_visible()
    page.reload()
    expect(page.get_by_text(MEASURED)).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    page.get_by_role("button", name="Cancel").click()
    # The closed session still holds its lease: this reader leaves, the sweep ends with the lease.
    expect(page.get_by_text(re.compile("Cancelled after|You left this sweep"))).to_be_visible()


def test_two_readers_watch_one_sweep(visit_lab: Callable[..., Page]) -> None:
    query = LONG.replace("seeds=16", "seeds=12")
    first, second = visit_lab("depth", query), visit_lab("depth", query, locale="zh-CN")
    run(first)
    expect(first.get_by_text(MEASURED)).to_be_visible()
    second.reload()
    expect(second.get_by_text(re.compile(r"已测量 [1-9]\d* / 144 个模型"))).to_be_visible()
    first.get_by_role("button", name="Cancel").click()
    expect(first.get_by_text("You left this sweep")).to_be_visible()
    second.get_by_role("button", name="取消").click()
    expect(second.get_by_text(re.compile("已取消"))).to_be_visible()


@pytest.mark.parametrize(
    ("locale", "holds", "fails", "sets"),
    [
        ("en-US", "Post-Norm the gradient of the last layer", "does not hold", "Set the knobs that test it"),
        ("zh-CN", "后置归一化", "不成立", "设好检验它的旋钮"),
    ],
)
def test_claims_have_verdicts_from_the_run_and_one_click_tests_another(
    visit_lab: Callable[..., Page], locale: str, holds: str, fails: str, sets: str
) -> None:
    page = visit_lab("depth", "view=claims", locale=locale)
    settled(page)
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("✅").first).to_be_visible()
    expect(main.get_by_text(holds).first).to_be_visible()
    expect(main.get_by_text(fails).first).to_be_visible()
    untested = page.get_by_test_id("stExpander").filter(has_text="◌").first
    untested.locator("summary").click()
    untested.get_by_role("button", name=sets).click()
    expect(page).to_have_url(re.compile("placements=|attention=|init="))


def test_a_result_file_is_opened_and_a_foreign_one_is_explained(visit_lab: Callable[..., Page], tmp_path: Path) -> None:
    config = SweepConfig(depths=(1, 3), seeds=(5,), d_model=16, d_ff=32, n_heads=2, batch=1, seq_len=4)
    result = tmp_path / "mine.npz"
    collect(config, sweep(config)).save(result)
    foreign = tmp_path / "foreign.npz"
    foreign.write_bytes(b"not a result")
    page = visit_lab("depth", SMALL)
    expect(page.get_by_text("Measured on cpu")).to_be_visible()
    page.get_by_text("Open a result file").first.click()
    field = page.locator("input[type=file]")
    field.set_input_files(foreign)
    expect(page.get_by_role("alert").filter(has_text="is not a result of a depth sweep")).to_be_visible()
    field.set_input_files(result)
    expect(page.get_by_text("The figures show a file that you opened")).to_be_visible()
    expect(page.get_by_text(re.compile("seeds 5"))).to_be_visible()
    expect(figure(page)).to_have_attribute("aria-label", re.compile("1.*3 layers"))
    page.get_by_role("button", name="Close the file").click()
    expect(page.get_by_text(re.compile("seeds 0"))).to_be_visible()


def test_the_plain_script_gives_the_numbers_of_the_view(visit_lab: Callable[..., Page], tmp_path: Path) -> None:
    page = visit_lab("depth", SMALL)
    expect(page.get_by_text("Measured on cpu")).to_be_visible()
    settled(page)
    page.get_by_text("The same models in plain PyTorch").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download script").last.click()
    script = tmp_path / "plain.py"
    download.value.save_as(script)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=environment)
    config = SweepConfig(depths=(1, 2), seeds=(0,), d_model=32, d_ff=128, seq_len=8, batch=2)
    for point in sweep(config):
        value = point.profiles["grad_w2"].value[-1]
        line = next(
            line for line in done.stdout.splitlines()
            if line.startswith(f"{point.placement}, {point.depth} layer") and "seed 0" in line
        )  # fmt: skip
        assert float(line.split("last layer ")[1].split(",")[0]) == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("view", ["map", "stream", "attention", "claims"])
def test_every_view_is_accessible(visit_lab: Callable[..., Page], axe: Callable[..., None], view: str) -> None:
    page = visit_lab("depth", f"{SMALL}&view={view}")
    expect(page.get_by_text("Measured on cpu")).to_be_visible()
    if view != "claims":
        figure(page)
    settled(page)
    axe(page)


def test_pointing_at_a_layer_marks_it_in_the_figure_beside(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("depth", SMALL.replace("depths=1%2C2", "depths=16").replace("layers=2", "layers=16"))
    expect(page.get_by_text("Measured on cpu")).to_be_visible()
    profile = figure(page, 1)
    profile.scroll_into_view_if_needed()
    x, y = page.evaluate(
        "() => { const c = document.querySelectorAll('.normviz-plot-canvas')[1], l = c._fullLayout,"
        " r = c.getBoundingClientRect(), d = c._fullData.find((t) => t.mode && t.x.length > 8);"
        " return [r.left + l.xaxis._offset + l.xaxis.d2p(d.x[7]), r.top + l.yaxis._offset + l.yaxis.d2p(d.y[7])]; }"
    )
    page.mouse.move(x - 4, y)
    page.mouse.move(x, y, steps=4)
    expect(page.locator(".normviz-plot-mark").nth(2)).to_be_visible()
