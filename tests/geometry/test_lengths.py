"""Is the length after a norm the one that the norm gives?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.geometry import lengths
from normviz.norms import layer_norm, rms_norm

SEEDS = st.integers(0, 2**32 - 1)
EPS = st.sampled_from([0.0, 1e-12, 1e-5, 0.5, 1e6])
SCALES = st.sampled_from([1.0, 1e-140, 1e-3, 1e6, 1e149])


def drawn(seed: int, d: int, scale: float = 1.0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.asarray(scale * generator.normal(generator.normal(), 1, d))


@given(SEEDS, st.integers(2, 40), SCALES, EPS)
def test_lengths_are_those_of_the_norms_outputs(seed: int, d: int, scale: float, eps: float) -> None:
    x = drawn(seed, d, scale)
    curve = lengths(x, eps=eps)
    scaled = curve.factors[:, None] * x
    for ours, theirs in (
        (curve.layer_norm, layer_norm(scaled, eps=eps).output),
        (curve.rms_norm, rms_norm(scaled, eps=eps).output),
    ):
        # Scaled by a power of two, so that the oracle's squares of the smallest outputs stay inside float64.
        size = np.ldexp(1.0, np.frexp(np.abs(theirs).max(axis=1))[1])
        np.testing.assert_allclose(ours, size * np.linalg.norm(theirs / size[:, None], axis=1), rtol=1e-12)
    np.testing.assert_allclose(curve.before, scale * np.linalg.norm(scaled / scale, axis=1), rtol=1e-12)


@given(SEEDS, st.integers(2, 40), EPS)
def test_lengths_follow_the_closed_form_and_torch(seed: int, d: int, eps: float) -> None:
    x, factors = drawn(seed, d), np.geomspace(0.01, 100, 9)
    curve = lengths(x, eps=eps, factors=factors)
    scaled = torch.tensor(factors[:, None] * x)
    for ours, size, function in (
        (curve.layer_norm, x.std(), F.layer_norm),
        (curve.rms_norm, np.sqrt((x**2).mean()), F.rms_norm),
    ):
        np.testing.assert_allclose(ours, np.sqrt(d) * factors * size / np.sqrt((factors * size) ** 2 + eps), rtol=1e-12)
        np.testing.assert_allclose(ours, function(scaled, [d], eps=eps).norm(dim=1), rtol=1e-11)


@given(SEEDS, st.integers(2, 40), SCALES, EPS)
def test_the_factors_rise_through_1_and_cover_where_eps_matters(seed: int, d: int, scale: float, eps: float) -> None:
    x = drawn(seed, d, scale)
    curve = lengths(x, eps=eps)
    assert curve.factors.shape == (81,)
    assert (np.diff(curve.factors) > 0).all()
    assert (curve.factors == 1).sum() == 1
    rms = curve.before / curve.radius
    unit = max(1.0, np.sqrt(eps))
    assert rms[0] <= 1e-4 * unit * 1.001
    assert rms[-1] >= min(1e4 * unit, 0.99 * 1e150 * rms[0] / curve.factors[0] / np.abs(x).max()) * 0.999


@given(SEEDS, st.integers(2, 40), EPS)
def test_the_current_lengths_are_those_at_factor_1(seed: int, d: int, eps: float) -> None:
    curve = lengths(drawn(seed, d), eps=eps)
    assert curve.layer_norm is not None
    assert curve.rms_norm is not None
    here = int((curve.factors == 1).argmax())
    np.testing.assert_allclose(
        curve.current, [curve.before[here], curve.layer_norm[here], curve.rms_norm[here]], rtol=1e-15
    )


def test_every_length_is_root_d_at_eps_0_and_less_above() -> None:
    flat, pulled = lengths([1, 2, 3, 4]), lengths([1, 2, 3, 4], eps=1.0)
    for norm in ("layer_norm", "rms_norm"):
        np.testing.assert_allclose(getattr(flat, norm), 2, rtol=1e-14)
        curve = getattr(pulled, norm)
        assert (np.diff(curve) > 0).all()
        assert curve[0] < 1e-3
        assert 1.999 < curve[-1] < 2
    assert (pulled.radius, pulled.d, pulled.eps) == (2, 4, 1)


@pytest.mark.parametrize(
    ("x", "eps", "layer", "rms"),
    [
        ([2.0, 2.0], 0.0, None, np.sqrt(2)),
        ([0.0, 0.0], 0.0, None, None),
        ([2.0, 2.0], 12.0, 0, np.sqrt(2) / 2),
        ([0.0, 0.0], 1e-5, 0, 0),
        ([-3.0], 0.0, None, 1),
        ([-3.0], 7.0, 0, 0.75),
    ],
)
def test_a_length_without_a_value_is_none(x: list[float], eps: float, layer: float | None, rms: float | None) -> None:
    curve = lengths(x, eps=eps)
    assert (curve.layer_norm is None) == (layer is None)
    assert (curve.rms_norm is None) == (rms is None)
    assert curve.current[0] == pytest.approx(np.linalg.norm(x), rel=1e-15)
    for length, expected in zip(curve.current[1:], (layer, rms), strict=True):
        assert length == (expected if expected is None else pytest.approx(expected, rel=1e-15))


@pytest.mark.parametrize("x", [[1e150, -1e150, 1e150], [1e-140, 3e-140], [1e150, 1e-140], [1e-310, 2e-310]])
@pytest.mark.parametrize("eps", [1e-5, 1e300])
def test_the_largest_and_smallest_numbers_have_lengths(x: list[float], eps: float) -> None:
    curve = lengths(x, eps=eps)
    assert np.isfinite([curve.before, curve.layer_norm, curve.rms_norm]).all()
    assert (curve.before[-1] / curve.before[0]) > 10


def test_lengths_cannot_be_changed() -> None:
    curve = lengths([1, 2])
    for array in (curve.factors, curve.before, curve.layer_norm, curve.rms_norm):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: lengths([1, 2], factors=[1, 0]), "factors is a list of numbers above 0, shape [k] with k >= 1; got 0"),
        (lambda: lengths([1, 2], factors=[]), "got shape [0]"),
        (lambda: lengths([1, 2], factors=2), "got shape []"),
        (lambda: lengths([1, 2], factors=[1, float("inf")]), "factors[1] is infinite"),
        (lambda: lengths([1, 2], factors=[1, 1e150]), "factors * x holds numbers up to 1e+150 in size"),
        (lambda: lengths([1, 2], factors=[1e-200]), "below which float64 loses digits"),
        (lambda: lengths([1e-170, 2e-170]), "below which float64 loses digits"),
        (lambda: lengths([]), "x needs at least one number"),
        (lambda: lengths([1], eps=-1), "eps is 0 or a positive number"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
