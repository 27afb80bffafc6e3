"""Can a person do in the browser what the labs promise?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labs import DRAWN, LABS, SMALL, figure, settled

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_home_leads_to_each_lab(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("home")
    for label, title in (
        ("Open the axes lab", "Axes lab"),
        ("Open the vector lab", "Vector lab"),
        ("Open the depth lab", "Depth lab"),
        ("See it on a vector far from zero", "Vector lab"),
        ("Open the placement lab", "Placement lab"),
        ("Open the numerics lab", "Numerics lab"),
        ("Open the cost lab", "Cost lab"),
    ):
        page.get_by_role("link", name=label).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        page.get_by_role("link", name="normviz", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("See what a norm does")


def test_an_edited_vector_changes_the_numbers_the_link_and_comes_back_from_it(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector")
    figure(page)
    expect(page.get_by_text("1.1180")).not_to_have_count(0)
    field = page.get_by_role("textbox", name="Vector x")
    field.fill("3, 4")
    field.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"x=3%2C\+?4|x=3%2C%204"))
    expect(figure(page)).to_have_attribute("aria-label", re.compile("5"))
    page.reload()
    expect(page.get_by_role("textbox", name="Vector x")).to_have_value("3, 4")


def test_the_back_button_undoes_an_edit(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector")
    figure(page)
    field = page.get_by_role("textbox", name="Vector x")
    for text in ("3, 4", "5, 6"):
        field.fill(text)
        field.press("Control+Enter")
        expect(page).to_have_url(re.compile(f"x={text[0]}"))
        settled(page)
    page.go_back()
    expect(field).to_have_value("3, 4")
    page.go_back()
    expect(field).to_have_value("1, 2, 3, 4")


def test_forty_quick_steps_of_a_knob_end_where_the_last_one_left(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("axes")
    figure(page)
    slider = page.get_by_role("slider", name="Channels d")
    for _ in range(40):
        slider.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]d=46\b"))
    expect(slider).to_have_value("46")


def test_a_bad_vector_is_explained_and_the_last_view_stays(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector")
    label = figure(page).get_attribute("aria-label")
    field = page.get_by_role("textbox", name="Vector x")
    field.fill("1, two")
    field.press("Control+Enter")
    expect(page.get_by_role("alert").filter(has_text="two")).to_be_visible()
    expect(figure(page)).to_have_attribute("aria-label", label or "")


def test_the_language_switch_keeps_the_view_and_is_in_the_link(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector", "x=5%2C6")
    figure(page)
    page.get_by_role("radio", name="中文").or_(page.get_by_role("button", name="中文")).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("向量实验室")
    expect(page).to_have_url(re.compile("lang=zh"))
    expect(page.get_by_role("textbox", name="向量 x")).to_have_value("5,6")
    page.get_by_role("link", name="轴实验室").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("轴实验室")
    expect(page).to_have_url(re.compile("lang=zh"))


def test_the_language_switch_goes_back_and_forth(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector")
    for name, title in (("中文", "向量实验室"), ("English", "Vector lab"), ("中文", "向量实验室")):
        page.get_by_role("radio", name=name).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        settled(page)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Vector lab")


def test_a_link_cannot_make_the_page_fetch_a_picture(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector", "eps=![](http%3A%2F%2Fexample.com%2Fa.png)&![b](http%3A%2F%2Fexample.com%2Fb.png)=1")
    expect(page.get_by_role("alert").filter(has_text="![](http://example.com/a.png)")).to_be_visible()
    expect(page.get_by_role("alert").locator("img")).to_have_count(0)


def test_the_browsers_language_chooses_the_first_view(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("home", locale="zh-CN")
    expect(page.get_by_role("heading", level=1)).to_have_text("看清归一化做了什么")
    assert "lang" not in page.url


def test_dark_and_light_are_a_switch_that_every_page_remembers(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector", "x=5%2C6")
    figure(page)
    page.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("button", name="Light")).to_be_visible()
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(20, 23, 28)")
    expect(page.get_by_role("textbox", name="Vector x")).to_have_value("5,6")
    page.goto(page.url.replace("/vector", "/axes").split("?")[0])
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(20, 23, 28)")


def test_the_copied_link_is_the_address(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("axes", "d=5")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    settled(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_script_of_a_view_is_saved_and_gives_its_numbers(visit_lab: Callable[..., Page], tmp_path: Path) -> None:
    page = visit_lab("vector", "x=5%2C6")
    settled(page)
    page.get_by_text("This view as a Python script").click()
    button = page.get_by_role("button", name="Download script").locator("visible=true")
    expect(button).to_be_visible()
    settled(page)  # a button that is about to be drawn anew loses the click
    with page.expect_download() as download:
        button.click()
    script = tmp_path / "view.py"
    download.value.save_as(script)
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, cwd=ROOT, env=ENVIRONMENT
    )
    assert "5.5" in run.stdout


def test_an_unusable_link_says_what_it_could_not_use(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("axes", "source=synthetic&batch=99&colour=red&d=5")
    expect(page.get_by_role("alert").filter(has_text="1 to 8")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="colour")).to_be_visible()
    expect(page.get_by_role("slider", name="Channels d")).to_have_value("5")


def test_an_entry_edited_in_the_table_becomes_the_vector(visit_lab: Callable[..., Page]) -> None:
    page = visit_lab("vector")
    figure(page)
    page.get_by_text("x as a table").click()
    grid = page.get_by_test_id("stDataFrame").locator("canvas").first
    box = grid.bounding_box()
    assert box is not None
    for row, value, link in ((1, "9", "x=9"), (2, "8", r"x=9%2C\+8")):
        page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 37 * row + 17)
        page.locator(".gdg-input").fill(value)
        page.locator(".gdg-input").press("Enter")
        expect(page).to_have_url(re.compile(link))
        settled(page)
    expect(page.get_by_role("textbox", name="Vector x")).to_have_value("9, 8, 3, 4")


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize("lab", LABS)
def test_a_phone_scrolls_down_only(visit_lab: Callable[..., Page], lab: str, locale: str) -> None:
    page = visit_lab(lab, SMALL if lab == "depth" else "", width=390, height=844, locale=locale)
    if lab in DRAWN:
        figure(page)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lab", LABS)
def test_a_page_is_accessible(visit_lab: Callable[..., Page], axe: Callable[..., None], lab: str, scheme: str) -> None:
    page = visit_lab(lab, SMALL if lab == "depth" else "", color_scheme=scheme)
    if lab in DRAWN:
        figure(page)
    settled(page)
    axe(page)
