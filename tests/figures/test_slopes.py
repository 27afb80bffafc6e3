"""Is the fitted slope that of a straight line, with the uncertainty that a textbook gives?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.results import DepthSweep
from normviz.figures.depth import gradient_picture, slope_notes, slopes
from normviz.text import Text

ENGLISH = Text("en")
CONFIG = SweepConfig(placements=("pre_norm",), depths=(2, 4, 8, 16), seeds=(0, 1, 2))


def root(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    """Exactly L^(-1/2) at the last layer, constant at the first."""
    layer = np.arange(1.0, key.depth + 1)
    return layer, layer**-0.5


def noisy(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    layer, value = root(key)
    return layer, value * np.exp(0.3 * np.random.default_rng([key.seed, key.depth]).standard_normal(key.depth))


def test_a_power_law_gives_its_exponent(make_sweep: Callable[..., DepthSweep]) -> None:
    last, middle, first = slopes(make_sweep(CONFIG, {"grad_w2": root}), "grad_w2")
    assert (last.where, middle.where, first.where) == ("last", "middle", "first")
    assert last.slope == pytest.approx(-0.5)
    assert last.error == pytest.approx(0, abs=1e-9)
    assert first.slope == pytest.approx(0, abs=1e-12)
    assert last.depths == (2, 4, 8, 16)


def test_slope_and_error_are_those_of_least_squares_over_all_seeds(make_sweep: Callable[..., DepthSweep]) -> None:
    sweep = make_sweep(CONFIG, {"grad_w2": noisy})
    (slope,) = slopes(sweep, "grad_w2", ("last",))
    points = [
        (np.log(depth), np.log(value))
        for depth in CONFIG.depths
        for value in sweep.values("grad_w2", "pre_norm", depth)[:, -1]
    ]
    (expected, _), covariance = np.polyfit(*zip(*points, strict=True), deg=1, cov=True)
    assert slope.slope == pytest.approx(expected)
    assert slope.error == pytest.approx(np.sqrt(covariance[0, 0]))


@pytest.mark.parametrize(("depths", "expected"), [((2,), 0), ((2, 4), 1)])
def test_few_depths_have_no_slope_or_no_error(
    make_sweep: Callable[..., DepthSweep], depths: tuple[int, ...], expected: int
) -> None:
    config = SweepConfig(placements=("pre_norm",), depths=depths, seeds=(0, 1))
    found = slopes(make_sweep(config, {"grad_w2": root}), "grad_w2", ("last",))
    assert len(found) == expected
    assert all(slope.error is None for slope in found)
    assert all("two depths" in note for note in slope_notes(make_sweep(config, {"grad_w2": root}), "grad_w2",
                                                            ("last",), ENGLISH))  # fmt: skip


def test_inf_nan_and_zero_are_left_out(make_sweep: Callable[..., DepthSweep]) -> None:
    def holes(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
        layer, value = root(key)
        return layer, value * {8: np.nan, 16: 0.0}.get(key.depth, 1.0)

    (slope,) = slopes(make_sweep(CONFIG, {"grad_w2": holes}), "grad_w2", ("last",))
    assert slope.depths == (2, 4)
    assert slope.slope == pytest.approx(-0.5)


def test_an_empty_sweep_has_no_slopes(make_sweep: Callable[..., DepthSweep]) -> None:
    assert slopes(make_sweep(CONFIG, {"grad_w2": root}, arrived=0), "grad_w2") == []


def test_the_slope_is_said_pointed_at_and_tabulated(make_sweep: Callable[..., DepthSweep]) -> None:
    sweep = make_sweep(CONFIG, {"grad_w2": root})
    picture = gradient_picture(sweep, where=("last",), theory=False, t=ENGLISH, mode="light")
    assert slope_notes(sweep, "grad_w2", ("last",), ENGLISH) == ["Pre-Norm (last layer): slope −0.500 ± 0.000."]
    assert "Pre-Norm (last layer): slope −0.500 ± 0.000." in picture.alt
    assert "slope −0.500 ± 0.000" in picture.spec["data"][0]["hovertemplate"]
    np.testing.assert_allclose(picture.table["slope"], -0.5)
    np.testing.assert_allclose(picture.table["standard error of the slope"], 0, atol=1e-9)
