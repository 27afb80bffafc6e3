"""Does the picture of lengths show the closed form and the vector itself?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.figures.vector import length_picture
from normviz.geometry import lengths
from normviz.text import Text
from tests.figures.checks import check, numbers, trace_named

ENGLISH = Text("en")
X = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.5, 10.0])
def test_lines_follow_the_closed_form(eps: float, t: Text, mode: str) -> None:
    picture = length_picture(lengths(X, eps=eps), t=t, mode=mode)
    check(picture, t, mode)
    for name, size in (("LN(c x)", X.std()), ("RMSNorm(c x)", np.sqrt((X**2).mean()))):
        trace = trace_named(picture, name)
        scaled = trace["x"] / np.linalg.norm(X) * size
        np.testing.assert_allclose(trace["y"], 2 * scaled / np.sqrt(scaled**2 + eps), rtol=1e-12)
    low, high = picture.spec["layout"]["yaxis"]["range"]
    assert low < np.log10(2) < high
    assert "√d = 2" in picture.title


def test_x_itself_is_marked_on_both_lines(t: Text, mode: str) -> None:
    eps = 0.5
    picture = length_picture(lengths(X, eps=eps), t=t, mode=mode)
    marks = [trace for trace in picture.spec["data"] if trace["name"] == t("x itself (c = 1)")]
    assert [mark["x"] for mark in marks] == [[pytest.approx(np.sqrt(30))]] * 2
    expected = [2 * np.sqrt(1.25 / (1.25 + eps)), 2 * np.sqrt(7.5 / (7.5 + eps))]
    np.testing.assert_allclose([mark["y"][0] for mark in marks], expected)
    assert sum(mark["showlegend"] for mark in marks) == 1
    assert len({mark["marker"]["symbol"] for mark in marks}) == 2
    assert f"{expected[0]:.4g}" in picture.alt


@pytest.mark.parametrize(
    ("x", "eps", "sentence"),
    [
        ([3.0, 3.0, 3.0], 0.0, "LN(c x) is undefined here."),
        ([3.0, 3.0, 3.0], 0.1, "LN(c x) has length 0 for every c."),
        ([0.0, 0.0], 0.0, "RMSNorm(c x) is undefined here."),
        ([0.0, 0.0], 1.0, "RMSNorm(c x) has length 0 for every c."),
    ],
)
def test_a_length_without_a_place_is_said(x: list[float], eps: float, sentence: str, t: Text, mode: str) -> None:
    picture = length_picture(lengths(x, eps=eps), t=t, mode=mode)
    check(picture, t, mode)
    name, rest = sentence.split(" ", 1)[0] + " x)", sentence.split("x)", 1)[1]
    said = t("{name}" + rest, name=name)
    assert said in picture.alt
    assert said in picture.spec["layout"]["annotations"][-1]["text"]
    assert name not in {trace["name"] for trace in picture.spec["data"]}


@pytest.mark.parametrize("factors", [[1.0], [1e-8, 1.0], [1.0, 1.0001]])
def test_few_factors_have_axes_too(factors: list[float]) -> None:
    picture = length_picture(lengths(X, eps=1e-5, factors=factors), t=ENGLISH, mode="light")
    assert all(np.isfinite(values).all() for values in numbers(picture.spec))
    assert len(picture.spec["layout"]["xaxis"]["tickvals"]) >= 2
    assert len(picture.table) == len(factors)


def test_the_table_has_every_factor() -> None:
    found = lengths(X, eps=0.1)
    table = length_picture(found, t=ENGLISH, mode="light").table
    np.testing.assert_array_equal(table["factor c"], found.factors)
    np.testing.assert_array_equal(table["L2 norm of LN(c x)"], found.layer_norm)
