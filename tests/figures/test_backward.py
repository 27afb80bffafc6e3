"""Do the pictures of the backward pass show the Jacobian, its singular values and the image of a gradient?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.figures.vector import eps_picture, jacobian_picture, pullback_picture, spectrum_picture
from normviz.geometry import jacobian, pullback, spectra, spectrum
from normviz.text import Text
from tests.figures.checks import check, numbers, trace_named

ENGLISH = Text("en")
NORMS = ("layer_norm", "rms_norm")
X = np.array([1.0, 2.0, 3.0, 4.0])
LONG = np.random.default_rng(1).normal(0.5, 1, size=32)
WEIGHT = np.random.default_rng(2).uniform(0.5, 2, size=32)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("x", [X, LONG])
def test_the_heatmap_is_the_jacobian_and_zero_has_the_middle_colour(
    norm: str, x: np.ndarray, t: Text, mode: str
) -> None:
    matrix = jacobian(norm, x, eps=0.1)
    picture = jacobian_picture(matrix, norm, t=t, mode=mode)
    check(picture, t, mode)
    assert picture.name == f"normviz-jacobian-{norm.replace('_', '-')}"
    (cells,) = picture.spec["data"]
    np.testing.assert_array_equal(cells["z"], matrix)
    assert cells["zmin"] == -cells["zmax"] == -np.abs(matrix).max()
    assert ("text" in cells) == (len(x) <= 6)
    # The first output entry is the topmost row.
    top, bottom = picture.spec["layout"]["yaxis"]["range"]
    assert top > bottom
    column, row, value = picture.table.columns[1], picture.table.columns[0], picture.table.columns[2]
    np.testing.assert_array_equal(picture.table.pivot(index=row, columns=column, values=value), matrix)


def test_a_jacobian_of_zeros_is_drawable() -> None:
    picture = jacobian_picture(jacobian("layer_norm", [3.0], eps=1e-5), "layer_norm", t=ENGLISH, mode="light")
    assert all(np.isfinite(values).all() for values in numbers(picture.spec))


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_singular_values_stand_where_they_are_and_zeros_below(eps: float, t: Text, mode: str) -> None:
    found = {norm: spectrum(norm, LONG, weight=WEIGHT, eps=eps) for norm in NORMS}
    picture = spectrum_picture(found, t=t, mode=mode)
    check(picture, t, mode)
    for (norm, one), name in zip(found.items(), ("LN", "RMSNorm"), strict=True):
        expected = np.linalg.svd(jacobian(norm, LONG, weight=WEIGHT, eps=eps), compute_uv=False)
        rank = {("layer_norm", True): 30, ("layer_norm", False): 31, ("rms_norm", True): 31, ("rms_norm", False): 32}[
            norm, eps == 0
        ]
        traces = [trace for trace in picture.spec["data"] if trace["name"] == name]
        np.testing.assert_allclose(traces[0]["y"], expected[:rank], rtol=1e-9)
        np.testing.assert_array_equal(traces[0]["x"], np.arange(1, rank + 1))
        zeros = traces[1]["y"] if len(traces) == 2 else np.zeros(0)
        assert len(zeros) == 32 - rank
        assert (zeros < min(one.values[: one.rank])).all()
        assert t("{name} has rank {rank} of {d}", name=name, rank=rank, d=32) in picture.title
    ticks = picture.spec["layout"]["yaxis"]
    assert (ticks["ticktext"][0] == "0") == any(one.rank < 32 for one in found.values())
    assert len({trace["marker"]["symbol"] for trace in picture.spec["data"]}) == 2


def test_unseen_directions_of_a_short_vector_are_written_out() -> None:
    picture = spectrum_picture({"rms_norm": spectrum("rms_norm", [3.0, 4.0], eps=0)}, t=ENGLISH, mode="light")
    assert "RMSNorm cannot see a change of x along one direction. It is (0.6, 0.8)." in picture.alt
    both = spectrum_picture({"layer_norm": spectrum("layer_norm", X, eps=0)}, t=ENGLISH, mode="light")
    assert "LN cannot see changes of x along 2 directions." in both.alt


def test_a_spectrum_of_zeros_is_drawable() -> None:
    picture = spectrum_picture({"layer_norm": spectrum("layer_norm", [2.0], eps=0.1)}, t=ENGLISH, mode="light")
    assert all(np.isfinite(values).all() for values in numbers(picture.spec))
    assert picture.spec["data"][0]["showlegend"]
    assert "rank 0 of 1" in picture.title


def test_the_strong_line_follows_the_closed_form(t: Text, mode: str) -> None:
    eps = np.geomspace(1e-8, 10, 30)
    picture = eps_picture(eps, {norm: spectra(norm, X, eps) for norm in NORMS}, 1e-5, t=t, mode=mode)
    check(picture, t, mode)
    for name, square in (("LN", X.var()), ("RMSNorm", (X**2).mean())):
        strong = [trace for trace in picture.spec["data"] if trace["name"] == name and "marker" in trace]
        (line,) = strong
        np.testing.assert_allclose(line["y"], eps / (square + eps) ** 1.5, rtol=1e-5)
        others = [trace for trace in picture.spec["data"] if trace["name"] == name and "marker" not in trace]
        np.testing.assert_allclose(others[0]["y"], 1 / np.sqrt(square + eps), rtol=1e-9)
    (now,) = picture.spec["layout"]["shapes"]
    assert now["x0"] == now["x1"] == 1e-5
    assert len(picture.table) == 2 * 30 * 4


def test_gains_spread_the_other_values_into_a_band() -> None:
    eps = np.geomspace(1e-6, 10, 12)
    values = spectra("rms_norm", LONG, eps, weight=WEIGHT)
    picture = eps_picture(eps, {"rms_norm": values}, 1e-5, t=ENGLISH, mode="light")
    top, bottom, line = picture.spec["data"]
    np.testing.assert_array_equal(top["y"], values[:, 0])
    np.testing.assert_array_equal(bottom["y"], values[:, -2])
    np.testing.assert_array_equal(line["y"], values[:, -1])
    assert bottom["fill"] == "tonexty"


@pytest.mark.parametrize(("eps", "text"), [(0.0, "← eps = 0"), (1e-12, "← eps = 1e−12"), (100.0, "eps = 100 →")])
def test_an_eps_beyond_the_axis_is_pointed_at(eps: float, text: str, t: Text, mode: str) -> None:
    values = np.array([0.0, 1e-6, 1e-3, 1.0])
    picture = eps_picture(values, {"layer_norm": spectra("layer_norm", X, values)}, eps, t=t, mode=mode)
    check(picture, t, mode)
    assert picture.spec["layout"]["shapes"] == []
    assert picture.spec["layout"]["annotations"][0]["text"] == text
    assert all((np.asarray(trace["x"]) > 0).all() for trace in picture.spec["data"])


def test_a_constant_vector_has_no_value_that_appears() -> None:
    eps = np.geomspace(1e-6, 1, 10)
    found = spectra("layer_norm", [2.0, 2.0, 2.0], eps)
    picture = eps_picture(eps, {"layer_norm": found}, 1e-5, t=ENGLISH, mode="light")
    (line,) = picture.spec["data"]
    np.testing.assert_allclose(line["y"], 1 / np.sqrt(eps))
    assert line["showlegend"]
    assert "appears" not in picture.title


def test_bars_show_the_gradient_and_its_images(t: Text, mode: str) -> None:
    gradient = np.array([1.0, 0.0, 0.0, -0.5])
    found = {norm: pullback(norm, X, gradient, eps=0) for norm in NORMS}
    picture = pullback_picture(found, t=t, mode=mode)
    check(picture, t, mode)
    np.testing.assert_array_equal(trace_named(picture, t("g, at the output"))["y"], gradient)
    for trace, norm in zip(picture.spec["data"][1:], NORMS, strict=True):
        np.testing.assert_allclose(trace["y"], jacobian(norm, X, eps=0).T @ gradient, atol=1e-12)
    # What of g lies in span{1, x} passes nothing back through LN, and what lies along x through RMSNorm.
    basis = np.linalg.qr(np.stack([np.ones(4), X], axis=1))[0]
    layer = ((basis.T @ gradient) ** 2).sum() / 1.25
    rms = (X @ gradient) ** 2 / 30 / 1.25
    assert f"LN {100 * layer:.3g} %" in picture.title
    assert f"RMSNorm {100 * rms:.3g} %" in picture.title


def test_long_gradients_are_distributions() -> None:
    generator = np.random.default_rng(0)
    x, gradient = generator.normal(size=(2, 500))
    picture = pullback_picture({"rms_norm": pullback("rms_norm", x, gradient, eps=1e-5)}, t=ENGLISH, mode="dark")
    bars = [trace for trace in picture.spec["data"] if trace["type"] == "bar"]
    assert [trace["y"].sum() for trace in bars] == [500, 500]
    assert "RMSNorm 0 %" in picture.title


def test_a_gradient_of_zeros_loses_nothing() -> None:
    picture = pullback_picture({"layer_norm": pullback("layer_norm", X, np.zeros(4), eps=0)}, t=ENGLISH, mode="light")
    assert "LN 0 %" in picture.title
