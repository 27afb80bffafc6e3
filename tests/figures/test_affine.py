"""Does the picture of a x + b show both outputs and say what became of them?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.figures.picture import Picture
from normviz.figures.vector import affine_picture
from normviz.invariances import affine
from normviz.text import Text
from tests.figures.checks import check

ENGLISH = Text("en")
X = np.array([1.0, 2.0, 3.0, 4.0])


def panel(picture: Picture, suffix: str) -> list[dict[str, object]]:
    return [trace for trace in picture.spec["data"] if trace.get("xaxis") == f"x{suffix}"]


def layer(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


def rms(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean())


def test_bars_are_after_and_marks_before(t: Text, mode: str) -> None:
    picture = affine_picture(affine(X, 2.0, 3.0), t=t, mode=mode)
    check(picture, t, mode)
    for suffix, norm in (("", layer), ("2", rms)):
        bars, marks = panel(picture, suffix)
        np.testing.assert_allclose(bars["y"], norm(2 * X + 3))
        np.testing.assert_allclose(marks["y"], norm(X))
    assert "2 x + 3" in picture.title
    assert t("{name} stays the same", name="LN(x)") in picture.title
    moved = np.abs(rms(2 * X + 3) - rms(X)).max()
    assert f"{moved:.3g}" in picture.title


@pytest.mark.parametrize(
    ("scale", "shift", "change", "verdict"),
    [
        (-1.0, 0.0, "−x", "RMSNorm(x) flips its sign"),
        (1.0, -0.5, "x − 0.5", "LN(x) stays the same"),
        (-2.0, 1.0, "−2 x + 1", "LN(x) flips its sign"),
        (0.0, 1.0, "0 x + 1", "LN(x) is undefined"),
    ],
)
def test_title_says_the_change_and_the_verdict(scale: float, shift: float, change: str, verdict: str) -> None:
    picture = affine_picture(affine(X, scale, shift), t=ENGLISH, mode="light")
    assert picture.title.startswith(f"x replaced by {change}: ")
    assert verdict in picture.title
    assert any(verdict in note["text"] for note in picture.spec["layout"]["annotations"])


def test_an_undefined_norm_has_an_empty_panel(t: Text, mode: str) -> None:
    picture = affine_picture(affine([2.0, 2.0], 3.0, 1.0), t=t, mode=mode)
    check(picture, t, mode)
    assert panel(picture, "") == []
    assert len(panel(picture, "2")) == 2
    assert not any(column.startswith("LN") for column in picture.table.columns)


def test_long_vectors_are_drawn_one_against_the_other(t: Text, mode: str) -> None:
    x = np.random.default_rng(0).normal(size=5000)
    x[1234], x[4321] = 50.0, -60.0
    picture = affine_picture(affine(x, -2.0, 1.0), t=t, mode=mode)
    check(picture, t, mode)
    for suffix, norm in (("", layer), ("2", rms)):
        diagonal, dots = panel(picture, suffix)
        np.testing.assert_array_equal(diagonal["x"], diagonal["y"])
        here = np.asarray(dots["customdata"]) - 1
        assert {1234, 4321} <= set(here.tolist())
        np.testing.assert_allclose(dots["x"], norm(x)[here])
        np.testing.assert_allclose(dots["y"], norm(-2 * x + 1)[here], rtol=1e-12, atol=1e-12)
    assert 1000 <= len(picture.table) <= 1008
    here = picture.table.iloc[:, 0].to_numpy() - 1
    np.testing.assert_array_equal(picture.table["x"], x[here])
    np.testing.assert_allclose(picture.table["LN(a x + b)"], layer(-2 * x + 1)[here], rtol=1e-12, atol=1e-12)


def test_the_table_has_all_four_outputs() -> None:
    weight = np.array([1.0, 2.0, 0.5, 1.0])
    table = affine_picture(affine(X, 2.0, 3.0, weight=weight, eps=0.1), t=ENGLISH, mode="light").table
    assert list(table.columns) == [
        "entry", "x", "a x + b", "LN(x)", "LN(a x + b)", "RMSNorm(x)", "RMSNorm(a x + b)",
    ]  # fmt: skip
    np.testing.assert_allclose(
        table["RMSNorm(a x + b)"], (2 * X + 3) / np.sqrt(((2 * X + 3) ** 2).mean() + 0.1) * weight
    )


def test_before_and_after_differ_without_colour() -> None:
    picture = affine_picture(affine(X, 2.0, 3.0), t=ENGLISH, mode="light")
    keys = [trace for trace in picture.spec["data"] if trace.get("showlegend")]
    assert [trace["type"] for trace in keys] == ["scatter", "bar"]
    layer_bar, rms_bar = (panel(picture, suffix)[0]["marker"] for suffix in ("", "2"))
    assert "pattern" not in layer_bar
    assert rms_bar["pattern"]["shape"]
