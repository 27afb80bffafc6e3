"""Do both scripts of a view of the vector lab give the numbers of the page?"""

from __future__ import annotations

import numpy as np
import pytest

import normviz as nv
from normviz.snippets import torch_script, vector_script
from tests.snippets.scripts import NORMS, arguments, attributes, case, close, run, same

CASES = [
    (1, "", 1e-5, 0.0),
    (1, "wb", 1e-5, 1.0),
    (2, "w", 0.0, 0.0),
    (3, "", 0.0, 0.0),
    (3, "wb", 1e-5, 0.0),
    (5, "b", 0.0, 0.0),
    (5, "wb", 0.0, 1.0),
    (40, "w", 1e-5, 0.0),
    (200, "", 1e-5, 0.0),
    (200, "wb", 0.0, 0.0),
    (300, "wb", 1e-5, 1.0),
    (300, "w", 0.0, 0.0),
]

each_case = pytest.mark.parametrize(("d", "kind", "eps", "offset"), CASES)


@each_case
def test_the_steps_are_those_of_the_page(d: int, kind: str, eps: float, offset: float) -> None:
    x, options = case(d, kind, eps, offset)
    names = run(vector_script("steps", x, **options))
    layer = nv.layer_norm(x, **arguments(options, "weight", "bias"))
    root = nv.rms_norm(x, **arguments(options, "weight"))
    attributes(names["layer"], layer)
    attributes(names["root"], root)
    attributes(names["plane"], nv.plane(x, eps=eps))
    assert names["triangle"] == nv.triangle(x)
    assert set(names["slips"]) == set(nv.SLIPS)
    for name, slip in names["slips"].items():
        attributes(slip, nv.slip(name, x, eps=eps))

    plain = run(torch_script("steps", x, **options))
    assert layer.mean is not None
    for found, expected in {
        "mean": layer.mean[0], "centered": layer.centered, "variance": layer.var[0], "divisor": layer.denominator[0],
        "layer": layer.output, "rms_divisor": root.denominator[0], "root": root.output,
        "squares": (root.rms[0] ** 2, layer.var[0], layer.mean[0] ** 2),
    }.items():  # fmt: skip
        close(plain[found], expected)
    for name, divisor in plain["slips"].items():
        expected = nv.slip(name, x, eps=eps).other_divisor
        assert divisor.item() == pytest.approx(expected, rel=1e-4 if name == "one_pass" else 1e-12, abs=1e-12)
    assert ("unbiased" in plain["slips"]) == (d > 1)


@each_case
def test_the_geometry_is_that_of_the_page(d: int, kind: str, eps: float, offset: float) -> None:
    x, options = case(d, kind, eps, offset)
    both = arguments(options, "weight", "bias")
    names = run(vector_script("geometry", x, **options))
    plane = nv.plane(x, eps=eps)
    attributes(names["plane"], plane)
    attributes(names["lengths"], nv.lengths(x, eps=eps))
    assert ("space" in names) == (d >= 3)
    if d >= 3:
        attributes(names["space"], nv.space(x, **both))

    plain = run(torch_script("geometry", x, **options))
    for name, point in plain["plane"].items():
        close(point, getattr(plane, name))
    factors = list(plain["lengths"])
    lengths = nv.lengths(x, eps=eps, factors=factors)
    for name in ("before", "layer_norm", "rms_norm"):
        close([plain["lengths"][factor][name] for factor in factors], getattr(lengths, name))
    if d == 3:
        space = nv.space(x, **both)
        close(plain["outputs"], [space.layer_output, space.rms_output])
    elif d > 3 and kind:
        space = nv.space(x, **both)
        points = np.array([space.layer_output, space.rms_output])
        close(plain["space"][:, :2], points[:, :2])
        close(plain["space"][:, 2].abs(), np.abs(points[:, 2]))  # the third axis may point the other way
        close(plain["outside"], [space.layer_outside, space.rms_outside])
    else:
        assert "space" not in plain


@pytest.mark.parametrize("distribution", ["normal", "uniform", "exponential", "outlier"])
@pytest.mark.parametrize("d", [2, 3, 20])
def test_the_cloud_is_the_same_cloud(d: int, distribution: str) -> None:
    x, options = case(d, "", 1e-5)
    asked = {"mean": 1.5, "distribution": distribution, "seed": 4, "n": 50}
    expected = nv.cloud(d, eps=1e-5, **asked)  # type: ignore[arg-type]
    attributes(run(vector_script("geometry", x, cloud=asked, **options))["cloud"], expected)
    landed = run(torch_script("geometry", x, cloud=asked, **options))["landed"]
    for name in ("before", "layer_norm", "rms_norm"):
        close(landed[name], getattr(expected, name))


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (-1.0, 0.0), (2.5, -3.0), (-0.1, 7.0)])
@each_case
def test_another_scale_and_another_mean(
    d: int, kind: str, eps: float, offset: float, scale: float, shift: float
) -> None:
    x, options = case(d, kind, eps, offset)
    expected = nv.affine(x, scale, shift, **arguments(options, "weight", "bias"))
    attributes(run(vector_script("invariances", x, scale=scale, shift=shift, **options))["affine"], expected)
    plain = run(torch_script("invariances", x, scale=scale, shift=shift, **options))
    close(plain["moved"], expected.moved)
    for word in NORMS:
        for when in ("before", "after", "moved"):
            close(plain[f"{word}_{when}"], getattr(expected, f"{word}_{when}"))


@pytest.mark.parametrize("factor", [3.0, -0.5, 100.0])
def test_the_table_of_invariances_in_both_scripts(factor: float) -> None:
    x = np.array([1.0, 2, 3, 4])
    expected = nv.invariance_table(factor=factor)
    assert run(vector_script("invariances", x, factor=factor))["table"] == expected
    plain = run(torch_script("invariances", x, factor=factor))["table"]
    assert list(plain) == [(cell.norm, cell.change) for cell in expected]
    for cell in expected:
        close(plain[cell.norm, cell.change], cell.difference)
        assert (plain[cell.norm, cell.change] < 1e-9) == cell.invariant


@each_case
def test_what_passes_back(d: int, kind: str, eps: float, offset: float) -> None:
    x, options = case(d, kind, eps, offset)
    gain = arguments(options, "weight")
    gradient = np.random.default_rng(1).normal(size=d)
    names = run(vector_script("backward", x, gradient=gradient, **options))
    plain = run(torch_script("backward", x, gradient=gradient, **options))
    for word, norm in NORMS.items():
        pullback = nv.pullback(norm, x, gradient, **gain)
        attributes(names[f"{word}_pullback"], pullback)
        close(plain[f"{word}_image"], pullback.image)
        close(plain[f"{word}_away"], pullback.lost)
        close((plain[f"{word}_away"].norm() / plain["gradient"].norm()) ** 2, pullback.lost_share)
        assert (f"{word}_jacobian" in names) == (f"{word}_jacobian" in plain) == (d <= 256)
        if d > 256:
            continue
        jacobian, spectrum = nv.jacobian(norm, x, **gain), nv.spectrum(norm, x, **gain)
        same(names[f"{word}_jacobian"], jacobian)
        attributes(names[f"{word}_spectrum"], spectrum)
        close(plain[f"{word}_jacobian"], jacobian)
        close(plain[f"{word}_values"], spectrum.values)
        assert plain[f"{word}_rank"] == spectrum.rank
        for basis in ("unseen", "lost"):  # bases of one space, whose projectors are equal
            found, expected = plain[f"{word}_{basis}"], getattr(spectrum, basis)
            np.testing.assert_allclose(found.T @ found, expected.T @ expected, atol=1e-8 if eps else 1e-12)


@pytest.mark.parametrize("weight", [np.array([1.0, 0, 2, 3, -1]), np.zeros(5), np.array([1e-6, 1, 1, 1, 1])])
@pytest.mark.parametrize("eps", [0.0, 1e-5])
def test_weights_that_are_0_or_small(weight: np.ndarray, eps: float) -> None:
    x, gradient = np.array([3.0, -1, 4, 1, -5]), np.array([1.0, 2, -1, 0.5, 3])
    plain = run(torch_script("backward", x, weight=weight, gradient=gradient, eps=eps))
    for word, norm in NORMS.items():
        # Where a gain is 0 the null space comes from the matrix, as sharp as its smallest singular value is large.
        lost = nv.pullback(norm, x, gradient, weight=weight, eps=eps).lost
        np.testing.assert_allclose(plain[f"{word}_away"], lost, atol=1e-12 if weight.all() else 1e-8)
        assert plain[f"{word}_rank"] == nv.spectrum(norm, x, weight=weight, eps=eps).rank


def test_a_long_gain_with_a_zero_leaves_only_the_part_that_is_lost_out() -> None:
    x, options = case(300, "w", 0.0)
    options["weight"][7] = 0
    gradient = np.arange(300.0)
    script = torch_script("backward", x, gradient=gradient, **options)
    names = run(script)
    assert "# Some gain is 0" in script
    assert "layer_away" not in names
    close(names["layer_image"], nv.pullback("layer_norm", x, gradient, **arguments(options, "weight")).image)


def test_without_a_gradient_it_is_that_of_the_sum() -> None:
    x, options = case(5, "w", 1e-5)
    same(run(vector_script("backward", x, **options))["gradient"], np.ones(5))
    np.testing.assert_array_equal(run(torch_script("backward", x, **options))["gradient"], np.ones(5))
