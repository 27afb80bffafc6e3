"""Can a person read, point at, set in motion and take away a diagram: by mouse, finger, keyboard, in both languages?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

SCRIPT = Path(__file__).parent / "diagram_page.py"
WIDE = "post_norm,pre_norm,sandwich_norm,output_norm"
ALL = "deep_norm,layer_norm_scaling,sub_ln,rezero,mix_ln,b2t,resi_dual,hybrid_norm,keel,peri_ln,parallel"
FAMILIES = "family:gemma3n,family:deepseek_v3,family:bert,family:gpt_neox,family:granite,family:stablelm"

Visit = Callable[..., Page]


@pytest.fixture
def visit_diagram(serve: Callable[..., Any], open_page: Callable[..., Page]) -> Visit:
    """Open the test page and wait until its diagrams are drawn."""

    def start(show: str = WIDE, *, lang: str = "en", **options: Any) -> Page:
        page = open_page(f"{serve(SCRIPT).url}/?show={show}&lang={lang}", **options)
        expect(page.locator(".normviz-diagram-figure")).not_to_have_count(0)
        return page

    return start


def box(page: Page, name: str, figure: int = 0) -> Locator:
    return page.locator(".normviz-diagram-figure").nth(figure).locator(f"[data-id={name}]")


def card(page: Page) -> Locator:
    return page.locator(".normviz-diagram-card")


def shown(page: Page, layer: str) -> int:
    return page.locator(f".normviz-diagram-{layer} > *:visible").count()


@pytest.mark.parametrize(("lang", "width", "scheme"), [("en", 1440, "light"), ("zh", 390, "dark")])
def test_diagrams_are_accessible(
    visit_diagram: Visit, axe: Callable[..., None], lang: str, width: int, scheme: str
) -> None:
    page = visit_diagram(lang=lang, width=width, color_scheme=scheme)
    page.locator(".normviz-diagram-tools button").first.click()
    box(page, "norm0", 1).press("Enter")
    expect(card(page)).to_be_visible()
    axe(page, within=".normviz-diagram")


@pytest.mark.parametrize("show", [WIDE, ALL, FAMILIES])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_words_fit_into_their_boxes(visit_diagram: Visit, show: str, lang: str) -> None:
    page = visit_diagram(show, lang=lang)
    out = page.locator(".normviz-diagram-box").evaluate_all(
        """(boxes) => boxes.filter((box) => !["point", "end", "add"].includes(box.dataset.kind)).flatMap((box) => {
          const ground = box.querySelector("rect").getBBox();
          return [...box.querySelectorAll("text")].filter((text) => {
            const { x, y, width, height } = text.getBBox();
            const inside = x >= ground.x + 1 && x + width <= ground.x + ground.width - 1;
            const covered = [...box.parentNode.querySelectorAll("[data-kind=norm] > rect:first-child")].some((norm) => {
              const other = norm.getBBox();
              const apart = other.y > y + height - 3 || other.y + other.height < y + 3;
              return norm.parentNode !== box && !apart && other.x < x + width && other.x + other.width > x;
            });
            return !inside || covered || y < ground.y - 2 || y + height > ground.y + ground.height + 2;
          }).map((text) => text.textContent);
        })"""
    )
    assert out == []


@pytest.mark.parametrize(("width", "in_first_row"), [(1440, 4), (390, 1)])
def test_as_many_stand_in_a_row_as_fit(visit_diagram: Visit, width: int, in_first_row: int) -> None:
    page = visit_diagram(width=width)
    places = page.locator(".normviz-diagram-drawing").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect()).map(({ bottom, right }) => [bottom, right])"
    )
    first = places[0][0]
    assert sum(abs(bottom - first) < 1 for bottom, _ in places) == in_first_row
    assert all(right <= width for _, right in places)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_wide_diagram_shrinks_to_a_phone(visit_diagram: Visit) -> None:
    page = visit_diagram("family:gpt_neox,parallel,resi_dual", width=350)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sizes = page.locator(".normviz-diagram-drawing text").evaluate_all(
        "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
    )
    assert min(sizes) >= 9.5


def test_pointing_at_a_box_shows_its_formula_and_the_gradient_s_way(visit_diagram: Visit) -> None:
    page = visit_diagram("post_norm,family:llama")
    expect(card(page)).to_be_hidden()
    box(page, "norm1").hover()
    expect(card(page)).to_contain_text("= N(h + m)")
    expect(card(page)).to_contain_text("every gradient on its way down passes it")
    expect(card(page).locator("code")).to_be_hidden()
    box(page, "norm1", 1).hover()
    expect(card(page).locator("code")).to_have_text("model.layers.{i}.post_attention_layernorm")
    expect(card(page)).to_contain_text("N(h)")
    expect(card(page)).to_contain_text("goes around it")
    page.mouse.move(2, 2)
    expect(card(page)).to_be_hidden()


def test_the_card_can_be_reached_pinned_and_dismissed(visit_diagram: Visit) -> None:
    page = visit_diagram("pre_norm")
    box(page, "norm0").hover()
    card(page).hover()
    page.wait_for_timeout(400)
    expect(card(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    box(page, "norm0").click()
    page.mouse.move(2, 2)
    page.wait_for_timeout(400)
    expect(card(page)).to_be_visible()
    expect(box(page, "norm0")).to_have_attribute("aria-expanded", "true")
    page.mouse.click(2, 2)
    expect(card(page)).to_be_hidden()


def test_keys_go_from_box_to_box_in_the_order_of_the_forward_pass(visit_diagram: Visit) -> None:
    page = visit_diagram("pre_norm")
    page.get_by_role("button", name="Backward pass").focus()
    page.keyboard.press("Tab")
    expect(box(page, "embedding")).to_be_focused()  # One step waits until a pass is chosen
    names = []
    for _ in range(5):
        page.keyboard.press("ArrowUp")
        names.append(page.evaluate("document.activeElement.dataset.id"))
    assert names == ["x", "norm0", "attention", "add0", "norm1"]
    expect(card(page)).to_contain_text("N(h)")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    page.keyboard.press("End")
    expect(box(page, "head")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="List")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(box(page, "head")).to_be_focused()


def test_a_finger_opens_and_closes_a_card(visit_diagram: Visit) -> None:
    page = visit_diagram("resi_dual", width=390, has_touch=True, is_mobile=True)
    box(page, "norm0").tap()
    expect(card(page)).to_contain_text("another way leads around it")
    inside = card(page).bounding_box()
    assert inside is not None
    assert inside["x"] >= 0
    assert inside["x"] + inside["width"] <= 390
    box(page, "norm0").tap()
    expect(card(page)).to_be_hidden()


def test_the_forward_pass_runs_up_the_wires_and_the_backward_pass_down(visit_diagram: Visit) -> None:
    page = visit_diagram("post_norm,sandwich_norm")
    assert shown(page, "pulses") == 0
    for name, first, last in (("Forward pass", "embedding", "head"), ("Backward pass", "head", "embedding")):
        button = page.get_by_role("button", name=name)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".normviz-diagram-dots circle:visible")).not_to_have_count(0)
        assert "normviz-diagram-ahead" not in (box(page, first).get_attribute("class") or "")
        assert "normviz-diagram-ahead" in (box(page, last).get_attribute("class") or "")
    page.get_by_role("button", name="Backward pass").click()
    expect(page.locator(".normviz-diagram-pulses path:visible")).to_have_count(0)
    expect(page.locator(".normviz-diagram-ahead")).to_have_count(0)


def test_less_motion_means_steps(visit_diagram: Visit) -> None:
    page = visit_diagram("pre_norm", reduced_motion="reduce")
    step = page.get_by_role("button", name="One step")
    expect(step).to_be_disabled()
    page.get_by_role("button", name="Forward pass").click()
    status = page.locator(".normviz-diagram-status")
    expect(status).to_have_text("Forward pass: step 1 of 10")
    before = page.locator(".normviz-diagram-dots circle:visible").evaluate_all("(all) => all.map((e) => e.outerHTML)")
    page.wait_for_timeout(500)
    after = page.locator(".normviz-diagram-dots circle:visible").evaluate_all("(all) => all.map((e) => e.outerHTML)")
    assert before == after
    for _ in range(2):
        step.click()
    expect(status).to_have_text("Forward pass: step 3 of 10")
    reached = page.locator(".normviz-diagram-box:not(.normviz-diagram-ahead)")
    assert reached.evaluate_all("(all) => all.map((e) => e.dataset.id)") == ["embedding", "x", "norm0", "attention"]
    for _ in range(7):
        step.click()
    expect(page.locator(".normviz-diagram-ahead")).to_have_count(0)
    step.click()
    expect(status).to_have_text("Forward pass: step 0 of 10")


def test_one_step_stops_the_motion(visit_diagram: Visit) -> None:
    page = visit_diagram("pre_norm")
    page.get_by_role("button", name="Backward pass").click()
    page.get_by_role("button", name="One step").click()
    text = page.locator(".normviz-diagram-status").inner_text()
    assert text.startswith("Backward pass: step ")
    page.wait_for_timeout(900)
    expect(page.locator(".normviz-diagram-status")).to_have_text(text)


def test_the_list_says_what_the_boxes_say(visit_diagram: Visit) -> None:
    page = visit_diagram("family:gemma2")
    button = page.get_by_role("button", name="List")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    items = page.locator(".normviz-diagram-list li")
    expect(items).to_have_count(page.locator(".normviz-diagram-box").count())
    expect(items.filter(has_text="post_attention_layernorm")).to_contain_text("N(a)")
    button.click()
    expect(items).to_have_count(0)


def test_a_diagram_is_saved_as_it_stands(visit_diagram: Visit, tmp_path: Path) -> None:
    page = visit_diagram("deep_norm")
    page.get_by_role("button", name="Forward pass").click()
    for label, ending in (("Save the figure as SVG", "svg"), ("Save the figure as PNG", "png")):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        assert download.value.suggested_filename == f"normviz-wiring-deep-norm.{ending}"
        download.value.save_as(tmp_path / f"saved.{ending}")
    svg = (tmp_path / "saved.svg").read_text(encoding="utf-8")
    assert "DeepNorm, 12 layers" in svg
    assert "× 2.21" in svg
    assert "normviz-diagram" not in svg
    saved = page.evaluate(
        "(text) => { const e = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;"
        " return [e.tagName, e.getAttribute('width'), e.getAttribute('height')]; }",
        svg,
    )
    png = (tmp_path / "saved.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    wide, high = (int.from_bytes(png[16 + 4 * i : 20 + 4 * i]) for i in range(2))
    assert saved == ["svg", str(wide // 3), str(high // 3)]


def test_other_diagrams_replace_these_and_the_same_ones_stay(visit_diagram: Visit) -> None:
    page = visit_diagram("pre_norm")
    box(page, "norm0").click()
    page.get_by_role("button", name="Again").press("Enter")
    expect(page.get_by_text("Ran again")).to_be_visible()
    expect(card(page)).to_be_visible()
    page.get_by_role("button", name="Other").click()
    expect(page.locator(".normviz-diagram-title")).to_have_text("B2T")
    expect(card(page)).to_be_hidden()
    page.get_by_role("button", name="Forward pass").click()
    expect(page.locator(".normviz-diagram-dots circle:visible")).not_to_have_count(0)
