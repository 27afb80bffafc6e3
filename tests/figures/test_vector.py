"""Do the pictures of one vector show its numbers?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import normviz as nv
from normviz.figures.distribution import SHARES, distribution
from normviz.figures.labels import text_size
from normviz.figures.picture import Picture
from normviz.figures.series import Series
from normviz.figures.vector import bars_picture, plane_picture, quantile_table, triangle_picture
from normviz.text import Text
from tests.figures.checks import check, numbers, trace_named

ENGLISH = Text("en")
CHAPTER = [1.0, 2.0, 3.0, 4.0]

entries = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
vectors = arrays(np.float64, st.integers(1, 12), elements=entries)


def tip(picture: object, name: str) -> np.ndarray:
    trace = trace_named(picture, name)  # type: ignore[arg-type]
    assert trace["x"][0] == trace["y"][0] == 0
    return np.array([trace["x"][1], trace["y"][1]])


def labels_of(picture: Picture) -> list[str]:
    return [note["text"].replace("<br>", " ") for note in picture.spec["layout"]["annotations"]]


def test_plane_shows_the_chapters_vector_to_scale(t: Text, mode: str) -> None:
    picture = plane_picture(nv.plane(CHAPTER), t=t, mode=mode)
    check(picture, t, mode)
    np.testing.assert_allclose(tip(picture, "x"), [5, np.sqrt(5)])
    np.testing.assert_allclose(tip(picture, t("mean part")), [5, 0])
    np.testing.assert_allclose(tip(picture, t("centred part")), [0, np.sqrt(5)])
    np.testing.assert_allclose(tip(picture, "LN(x)"), [0, 2], atol=1e-12)
    np.testing.assert_allclose(tip(picture, "RMSNorm(x)"), 2 * np.array([5, np.sqrt(5)]) / np.sqrt(30))
    circle = picture.spec["data"][0]
    np.testing.assert_allclose(np.hypot(circle["x"], circle["y"]), 2)
    assert picture.spec["layout"]["yaxis"]["scaleanchor"] == "x"
    assert "5.48" in picture.alt
    assert picture.table.shape == (5, 4)


def test_plane_says_what_is_undefined_and_what_is_zero() -> None:
    picture = plane_picture(nv.plane([2.0, 2.0, 2.0]), t=ENGLISH, mode="light")
    assert "LN(x) is undefined here." in picture.alt
    assert picture.spec["layout"]["annotations"][0]["text"] == "LN(x) is undefined here."
    assert "LN(x)" not in {trace.get("name") for trace in picture.spec["data"]}
    assert {"x = mean part", "centred part = 0"} < set(labels_of(picture))


def test_plane_gives_vectors_that_coincide_one_label() -> None:
    picture = plane_picture(nv.plane([-1.0, 1.0]), t=ENGLISH, mode="light")
    assert "x = centred part = LN(x) = RMSNorm(x)" in labels_of(picture)


CROWDED = [CHAPTER, [-1.0, -2, -3, -4], [3, 3.2, 2.9, 3.1], [0.1, 0.2, 0.3], [10, 20, -5, 0, 3], [100, 103, 98, 101]]


@pytest.mark.parametrize("x", CROWDED)
def test_plane_labels_cover_neither_each_other_nor_leave_a_narrow_figure(x: list[float], t: Text) -> None:
    layout = plane_picture(nv.plane(x), t=t, mode="light").spec["layout"]
    margin, width = layout["margin"], 320
    height = layout["meta"]["tallest"] * width
    origin = np.array([layout["xaxis"]["range"][0], layout["yaxis"]["range"][0]])
    size = np.array([layout["xaxis"]["range"][1], layout["yaxis"]["range"][1]]) - origin
    plot = np.array([width - margin["l"] - margin["r"], height - margin["t"] - margin["b"]])
    scale = (plot / size).min()
    corner = np.array([margin["l"], margin["b"]]) + (plot - scale * size) / 2
    boxes = []
    for label in layout["annotations"]:
        middle = corner + scale * (np.array([label["x"], label["y"]]) - origin) + (label["ax"], -label["ay"])
        boxes.append((middle - text_size(label["text"]) / 2, middle + text_size(label["text"]) / 2))
    for low, high in boxes:
        assert (low >= 0).all()
        assert (high <= (width, height)).all()
    for (low, high), (other_low, other_high) in combinations(boxes, 2):
        assert ((high <= other_low) | (other_high <= low)).any()


@pytest.mark.parametrize("x", CROWDED[:3])
def test_plane_fills_its_figure(x: list[float]) -> None:
    layout = plane_picture(nv.plane(x), t=ENGLISH, mode="light").spec["layout"]
    (left, right), (bottom, top) = layout["xaxis"]["range"], layout["yaxis"]["range"]
    points = np.array([*nv.plane(x).x[None], [-2, -2], [2, 2]])
    assert np.ptp(points[:, 0]) > 0.75 * (right - left)
    margin = layout["margin"]
    assert layout["meta"]["tallest"] == pytest.approx(
        ((320 - margin["l"] - margin["r"]) * (top - bottom) / (right - left) + margin["t"] + margin["b"]) / 320
    )


@given(vectors, st.sampled_from([0.0, 1e-5, 10.0]))
def test_plane_is_drawable_for_every_vector(x: np.ndarray, eps: float) -> None:
    try:
        plane = nv.plane(x, eps=eps)
    except nv.InputError:
        return  # too small to divide by
    picture = plane_picture(plane, t=ENGLISH, mode="light")
    assert all(np.isfinite(values).all() for values in numbers(picture.spec["data"]))
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert all(low < point < high for point in (*plane.x[:1], -plane.radius, plane.radius))


def test_triangle_shows_pythagoras(t: Text, mode: str) -> None:
    picture = triangle_picture(nv.triangle(CHAPTER), t=t, mode=mode)
    check(picture, t, mode)
    assert "7.5 = 1.25 + 6.25" in picture.title
    assert "2.739" in picture.alt
    np.testing.assert_allclose(picture.table.iloc[:, 1], [2.5, np.sqrt(1.25), np.sqrt(7.5)])
    np.testing.assert_allclose(picture.table.iloc[:, 2], [6.25, 1.25, 7.5])


def area(x: np.ndarray, y: np.ndarray) -> float:
    return float(abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2)


@given(vectors)
def test_the_drawn_squares_have_the_areas_that_are_written(x: np.ndarray) -> None:
    triangle = nv.triangle(x)
    picture = triangle_picture(triangle, t=ENGLISH, mode="light")
    squares = [trace for trace in picture.spec["data"] if trace.get("fill") == "toself"]
    areas = [area(trace["x"], trace["y"]) for trace in squares]
    expected = [triangle.mean**2, triangle.std**2, triangle.rms**2]
    np.testing.assert_allclose(areas, expected, rtol=1e-6, atol=1e-9 * max(triangle.rms**2, 1))


def test_bars_show_every_entry_of_the_outputs(t: Text, mode: str) -> None:
    weight, bias = np.array([1.0, 2, 1, 1]), np.array([0.0, 0, 0, 1])
    layer = nv.layer_norm(CHAPTER, weight=weight, bias=bias, eps=0)
    root = nv.rms_norm(CHAPTER, weight=weight, eps=0)
    picture = bars_picture(layer, root, t=t, mode=mode)
    check(picture, t, mode)
    np.testing.assert_allclose(trace_named(picture, "x")["y"], CHAPTER)
    expected = np.array([-1.3416408, -0.4472136, 0.4472136, 1.3416408]) * weight + bias
    np.testing.assert_allclose(trace_named(picture, "LN(x)")["y"], expected, atol=1e-7)
    np.testing.assert_allclose(trace_named(picture, "RMSNorm(x)")["y"], root.output)
    assert list(picture.table.columns[1:]) == ["x", "LN(x)", "RMSNorm(x)"]
    shapes = {str(trace["marker"].get("pattern")) + trace["marker"]["color"] for trace in picture.spec["data"]}
    assert len(shapes) == 3


def test_bars_leave_out_what_is_undefined_and_say_so(t: Text, mode: str) -> None:
    root = nv.rms_norm([3.0, 3.0], eps=0)
    picture = bars_picture(None, root, t=t, mode=mode)
    check(picture, t, mode)
    assert [trace["name"] for trace in picture.spec["data"]] == ["x", "RMSNorm(x)"]
    empty = bars_picture(None, None, t=t, mode=mode)
    check(empty, t, mode)
    assert empty.spec["data"] == []
    assert empty.table.empty
    assert "LN(x)" in empty.spec["layout"]["annotations"][0]["text"]


def histograms(picture: Picture) -> list[dict[str, Any]]:
    return [trace for trace in picture.spec["data"] if trace["type"] == "bar"]


def test_long_vectors_are_shown_as_distributions(t: Text, mode: str) -> None:
    x = np.random.default_rng(0).normal(3, 2, size=5000)
    layer, root = nv.layer_norm(x), nv.rms_norm(x)
    picture = bars_picture(layer, root, t=t, mode=mode)
    check(picture, t, mode)
    for trace, values in zip(histograms(picture), (x, layer.output, root.output), strict=True):
        assert trace["y"].sum() == 5000
        edges = np.append(trace["x"] - trace["width"] / 2, trace["x"][-1] + trace["width"][-1] / 2)
        np.testing.assert_array_equal(
            trace["y"], np.histogram(values, bins=edges)[0].clip(trace["y"] - 2, trace["y"] + 2)
        )
    assert len(picture.table) == 3 * (8 + 60)
    assert picture.table.iloc[:, -1].sum() == 2 * 3 * 5000


def test_quantiles_stand_under_each_histogram(t: Text, mode: str) -> None:
    x = np.random.default_rng(0).standard_cauchy(size=5000)
    layer, root = nv.layer_norm(x), nv.rms_norm(x)
    picture = bars_picture(layer, root, t=t, mode=mode)
    ticks = [trace for trace in picture.spec["data"] if trace.get("name") == t("quantiles from 0 to 100 %")]
    shares = [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1]
    for trace, bars, values in zip(ticks, histograms(picture), (x, layer.output, root.output), strict=True):
        np.testing.assert_allclose(trace["x"], np.quantile(values, shares), rtol=1e-12, atol=1e-12)
        assert (trace["y"] < 0).all()
        assert trace["xaxis"] == bars["xaxis"]
        assert trace["text"] == ["0 %", "1 %", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %", "100 %"]
    assert f"{np.median(x):.3g}".replace("-", "−") in picture.alt
    assert sum(trace["showlegend"] for trace in ticks) == 1


def test_the_quantile_table_counts_every_entry_once(t: Text) -> None:
    x = np.random.default_rng(0).normal(size=1001)
    table = quantile_table([Series(name="x", values=x)], t)
    np.testing.assert_allclose(table.iloc[:, 2], np.quantile(x, [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]))
    np.testing.assert_allclose(table.iloc[:, 3], np.quantile(x, [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1]))
    counts = [np.count_nonzero(x <= table.iloc[0, 3])]
    counts += [np.count_nonzero((x > low) & (x <= high)) for low, high in table.iloc[1:, 2:4].to_numpy()]
    np.testing.assert_array_equal(table.iloc[:, 4], counts)


@given(
    arrays(np.float64, st.integers(1, 300), elements=st.floats(-1e100, 1e100) | st.sampled_from([0.0, 1.0, -3.0])),
)
def test_quantiles_and_counts_are_those_of_all_entries(values: np.ndarray) -> None:
    before = values.copy()
    found = distribution(values)
    np.testing.assert_allclose(found.quantiles, np.quantile(values, SHARES), rtol=1e-9, atol=1e-12)
    assert (np.diff(found.quantiles) >= 0).all() or np.allclose(np.sort(found.quantiles), found.quantiles)
    assert found.counts.sum() == found.n == values.size
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("far", [[], [1e9], [1e9, -1e12, 3e15]])
def test_far_entries_leave_the_quantiles_of_a_million_exact(far: list[float]) -> None:
    values = np.append(np.random.default_rng(0).normal(size=10**6), far)
    np.testing.assert_allclose(distribution(values).quantiles, np.quantile(values, SHARES), rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 5.0, 1e150, -1e-200])
def test_a_long_constant_vector_has_a_distribution_too(value: float) -> None:
    root = nv.rms_norm(np.full(100, value), eps=1e-5)
    picture = bars_picture(None, root, t=ENGLISH, mode="dark")
    assert all(trace["y"].sum() == 100 for trace in histograms(picture))
    assert all(np.isfinite(values).all() for values in numbers(picture.spec["data"]))
