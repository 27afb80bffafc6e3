"""Can everyone tell the colours apart, on both pages?"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from normviz.figures import theme
from normviz.grid import AXES
from normviz.norms import NORMS
from normviz.placements import PLACEMENTS

# How linear RGB is seen: by most people, with deuteranopia, with protanopia (Machado, Oliveira & Fernandes 2009,
# severity 1).
SIGHTS = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
VARIANTS = PLACEMENTS.keys() - {"post_norm", "pre_norm", "sandwich_norm", "output_norm", "no_norm"}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(color: str) -> np.ndarray:
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(color: str, sight: str) -> np.ndarray:
    """CIE 1976 L*a*b* as a reader sees it."""
    ratio = TO_XYZ @ np.clip(SIGHTS[sight] @ linear(color), 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(first: str, second: str) -> float:
    """Contrast ratio of WCAG 2."""
    bright, dark = sorted((float(TO_XYZ[1] @ linear(color)) for color in (first, second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def distance(first: str, second: str, sight: str) -> float:
    return float(np.linalg.norm(lab(first, sight) - lab(second, sight)))


def test_the_colour_metric_knows_black_from_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert distance("#000000", "#ffffff", "normal") == pytest.approx(100)
    # Red and green of one brightness: far apart for most, near for a deuteranope.
    assert distance("#b35050", "#6f7f2d", "deuteranopia") < 0.4 * distance("#b35050", "#6f7f2d", "normal")


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize("colors", [theme.PLACEMENT_COLORS, theme.NORM_COLORS])
@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_of_one_family_are_far_apart_for_every_reader(
    colors: dict[str, dict[str, str]], mode: str, sight: str
) -> None:
    chosen = {name: color for name, color in colors[mode].items() if name not in VARIANTS}
    for first, second in combinations(chosen.values(), 2):
        assert distance(first, second, sight) > 20


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_variants_keep_a_visible_distance_from_every_placement(mode: str, sight: str) -> None:
    # Sixteen colours cannot be as far apart as five; each variant also has a symbol of its own.
    for (name, first), (other, second) in combinations(theme.PLACEMENT_COLORS[mode].items(), 2):
        if {name, other} & VARIANTS:
            assert distance(first, second, sight) > 9


@pytest.mark.parametrize("mode", theme.MODES)
def test_theory_shows_on_the_line_it_agrees_with_and_on_the_page(mode: str) -> None:
    for placement, color in theme.PLACEMENT_COLORS[mode].items():
        dashed = theme.theory_color(mode, placement)
        assert distance(color, dashed, "normal") > 9
        assert contrast(dashed, theme.BACKGROUND[mode]) >= 3


def test_larger_values_are_lighter_for_every_reader() -> None:
    for sight in SIGHTS:
        lightness = [lab(color, sight)[0] for color in theme.SEQUENTIAL]
        assert np.diff(lightness).min() > 4


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_no_norm_looks_like_a_placement(mode: str, sight: str) -> None:
    for norm, first in theme.NORM_COLORS[mode].items():
        for placement, second in theme.PLACEMENT_COLORS[mode].items():
            if (norm, placement) != ("none", "no_norm"):
                assert distance(first, second, sight) > 9


@pytest.mark.parametrize("mode", theme.MODES)
def test_marks_stand_out_from_the_page(mode: str) -> None:
    page = theme.BACKGROUND[mode]
    for color in (*theme.PLACEMENT_COLORS[mode].values(), *theme.NORM_COLORS[mode].values(), theme.ACCENT[mode]):
        assert contrast(color, page) >= 3


@pytest.mark.parametrize("mode", theme.MODES)
def test_words_are_legible_on_the_page_on_panels_and_on_every_cell_of_a_table(mode: str) -> None:
    for ground in (theme.BACKGROUND[mode], theme.PANEL[mode]):
        assert contrast(theme.INK[mode], ground) >= 7
        assert contrast(theme.MUTED[mode], ground) >= 4.5
    for _, color in theme.DIVERGING[mode]:
        assert contrast(theme.INK[mode], color) >= 4.5


@pytest.mark.parametrize("sight", SIGHTS)
def test_statistics_that_touch_in_a_block_differ_in_hue(sight: str) -> None:
    # The next token, channel or group is one on in the cycle, the next sequence three on.
    for step in (1, 3):
        for place, hue in enumerate(theme.HUES):
            assert distance(hue, theme.HUES[(place + step) % len(theme.HUES)], sight) > 4


def test_the_middle_of_the_diverging_scale_is_the_panel_and_its_ends_are_told_apart() -> None:
    for mode in theme.MODES:
        scale = theme.DIVERGING[mode]
        assert dict(scale)[0.5] == theme.PANEL[mode]
        for sight in SIGHTS:
            assert distance(scale[0][1], scale[-1][1], sight) > 30


@pytest.mark.parametrize("mode", theme.MODES)
def test_every_norm_and_placement_has_a_colour_and_a_symbol_of_its_own(mode: str) -> None:
    assert theme.PLACEMENT_COLORS[mode].keys() == PLACEMENTS.keys()
    assert theme.NORM_COLORS[mode].keys() == {*NORMS, *AXES, "power_norm"}
    assert set(AXES) == theme.NORM_NAMES.keys()
    for family in (theme.PLACEMENT_COLORS[mode], theme.NORM_COLORS[mode]):
        assert len({theme.SYMBOLS[name] for name in family}) == len(family)
    # What stands at the edges of a figure means inf, nan and zero.
    assert not {theme.SYMBOLS[name] for name in PLACEMENTS} & {"triangle-up", "triangle-down"}


def test_mix_and_fade_write_colours() -> None:
    assert theme.mix("#000000", "#ffffff", 0.5) == "#808080"
    assert theme.mix("#102030", "#ffffff", 0.0) == "#102030"
    assert theme.fade("#102030", 0.25) == "rgba(16,32,48,0.25)"
