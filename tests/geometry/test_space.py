"""Does the picture in three dimensions keep what it says it keeps?"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.geometry import plane, space
from normviz.norms import layer_norm, rms_norm

SEEDS = st.integers(0, 2**32 - 1)
EPS = st.sampled_from([0.0, 1e-5, 0.5])
SCALES = st.sampled_from([1.0, 1e-140, 1e4, 1e149])


def drawn(seed: int, d: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, weight and bias."""
    generator = np.random.default_rng(seed)
    x = scale * generator.normal(generator.normal(), 1, d)
    return x, generator.normal(1, 0.5, d), generator.normal(0, 0.5, d)


def keeps_all_products(flat: np.ndarray, vectors: np.ndarray) -> None:
    """All inner products, each in units of the two lengths."""
    vectors = vectors / (size := np.abs(vectors).max(axis=1, keepdims=True))
    flat = flat / size
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(
        (flat @ flat.T) / np.outer(lengths, lengths), (vectors @ vectors.T) / np.outer(lengths, lengths), atol=1e-12
    )


@given(SEEDS, st.integers(3, 40), SCALES, EPS)
def test_points_before_weight_and_bias_keep_every_inner_product(seed: int, d: int, scale: float, eps: float) -> None:
    x, weight, bias = drawn(seed, d, scale)
    s = space(x, weight=weight, bias=bias, eps=eps)
    layer, rms = layer_norm(x, eps=eps), rms_norm(x, eps=eps)
    vectors = np.array([x, np.full(d, layer.mean), layer.centered, layer.output, rms.output])
    keeps_all_products(np.array([s.x, s.mean_part, s.centered, s.layer_norm, s.rms_norm]), vectors)


@given(SEEDS, SCALES, EPS)
def test_three_numbers_are_their_own_coordinates(seed: int, scale: float, eps: float) -> None:
    x, weight, bias = drawn(seed, 3, scale)
    s = space(x, weight=weight, bias=bias, eps=eps)
    layer, rms = layer_norm(x, weight, bias, eps=eps), rms_norm(x, weight, eps=eps)
    assert s.exact
    np.testing.assert_array_equal(s.frame, np.eye(3))
    for point, vector in (
        (s.x, x),
        (s.mean_part, np.full(3, layer.mean)),
        (s.centered, layer.centered),
        (s.layer_norm, layer.normalized),
        (s.rms_norm, rms.normalized),
        (s.layer_output, layer.output),
        (s.rms_output, rms.output),
    ):
        np.testing.assert_array_equal(point, vector)
    assert (s.layer_outside, s.rms_outside) == (0, 0)


@given(SEEDS, st.integers(3, 40), SCALES, EPS, st.booleans())
def test_the_frame_is_orthonormal_and_starts_with_the_plane(
    seed: int, d: int, scale: float, eps: float, plain: bool
) -> None:
    x, weight, bias = drawn(seed, d, scale)
    s = space(x, eps=eps) if plain else space(x, weight=weight, bias=bias, eps=eps)
    np.testing.assert_allclose(s.frame @ s.frame.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(s.ones, s.frame @ np.full(d, d**-0.5), atol=1e-14)
    across = np.vstack([s.ones, s.across])
    np.testing.assert_allclose(across @ across.T, np.eye(3), atol=1e-14)
    if d > 3:
        np.testing.assert_allclose(s.frame[:2], plane(x, eps=eps).frame, atol=1e-13)


@given(SEEDS, st.integers(4, 40), EPS, st.sampled_from(["both", "weight", "bias"]))
def test_the_third_direction_holds_most_of_what_weight_and_bias_add(seed: int, d: int, eps: float, what: str) -> None:
    x, weight, bias = drawn(seed, d)
    gain, shift = None if what == "bias" else weight, None if what == "weight" else bias
    s = space(x, weight=gain, bias=shift, eps=eps)
    outputs = np.array([layer_norm(x, gain, shift, eps=eps).output, rms_norm(x, gain, eps=eps).output])
    basis = np.linalg.qr(np.array([np.ones(d), x]).T)[0].T
    added = outputs - (outputs @ basis.T) @ basis
    left, values, _ = np.linalg.svd(added, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(added @ s.frame[2]), values[0], rtol=1e-12)
    assert (added @ s.frame[2])[np.linalg.norm(added, axis=1).argmax()] > 0
    assert left.shape == (2, 2)

    for seen, output, outside in zip(
        (s.layer_output, s.rms_output), outputs, (s.layer_outside, s.rms_outside), strict=True
    ):
        np.testing.assert_allclose(seen, s.frame @ output, atol=1e-12)
        missing = output - s.frame.T @ (s.frame @ output)
        np.testing.assert_allclose(outside, (missing @ missing) / (output @ output), atol=1e-13)


def test_an_output_that_one_direction_explains_is_seen_whole() -> None:
    s = space([1, 2, 4, 8, 16], bias=[1, 0, 0, 0, 0])
    np.testing.assert_allclose([s.layer_outside, s.rms_outside], 0, atol=1e-15)
    assert s.layer_output is not None
    np.testing.assert_allclose(
        np.linalg.norm(s.layer_output), np.linalg.norm(layer_norm([1, 2, 4, 8, 16], bias=[1, 0, 0, 0, 0], eps=0).output)
    )


@given(SEEDS, st.integers(3, 40))
def test_layer_norm_lands_on_the_ring_and_the_ring_on_the_sphere(seed: int, d: int) -> None:
    x, weight, bias = drawn(seed, d)
    s = space(x, weight=weight, bias=bias)
    np.testing.assert_allclose(np.linalg.norm(s.ring, axis=1), s.radius, rtol=1e-14)
    np.testing.assert_allclose(s.ring @ s.ones, 0, atol=1e-13)
    np.testing.assert_array_equal(s.ring[0], s.ring[-1])
    step = 2 * s.radius * np.sin(np.pi / 120)
    np.testing.assert_allclose(np.linalg.norm(np.diff(s.ring, axis=0), axis=1), step, rtol=1e-10)
    assert s.radius == np.sqrt(d)
    # 3 degrees apart, no point of the circle is farther from the nearest one than half a step.
    assert s.layer_norm is not None
    assert np.linalg.norm(s.ring - s.layer_norm, axis=1).min() <= step / 2 * 1.001


@given(SEEDS, st.integers(3, 40), st.sampled_from(["both", "weight", "bias"]))
def test_the_ellipse_is_the_ring_after_weight_and_bias(seed: int, d: int, what: str) -> None:
    x, weight, bias = drawn(seed, d)
    gain, shift = None if what == "bias" else weight, None if what == "weight" else bias
    s = space(x, weight=gain, bias=shift)
    ring = s.ring @ s.frame
    expected = ring * (1 if gain is None else gain) + (0 if shift is None else shift)
    np.testing.assert_allclose(s.ellipse, expected @ s.frame.T, atol=1e-12)


@pytest.mark.parametrize("d", [3, 4, 9])
def test_without_weight_and_bias_the_outputs_are_the_normalized_points(d: int) -> None:
    s = space(np.arange(d) ** 2, eps=1e-5)
    assert s.ellipse is None
    np.testing.assert_allclose(s.layer_output, s.layer_norm, atol=1e-14)
    np.testing.assert_allclose(s.rms_output, s.rms_norm, atol=1e-14)
    np.testing.assert_allclose([s.layer_outside, s.rms_outside], 0, atol=1e-15)
    assert (s.exact, s.d, s.eps) == (d == 3, d, 1e-5)


@pytest.mark.parametrize("d", [3, 4, 5, 9])
@pytest.mark.parametrize(
    ("value", "eps", "layer", "rms"), [(0.1, 0.0, None, 1), (0.0, 0.0, None, None), (0.1, 0.5, 0, 0.1), (0, 0.5, 0, 0)]
)
def test_a_constant_vector_has_a_frame_and_the_points_that_exist(
    d: int, value: float, eps: float, layer: float | None, rms: float | None
) -> None:
    s = space(np.full(d, value), weight=np.arange(d), eps=eps)
    np.testing.assert_allclose(s.frame @ s.frame.T, np.eye(3), atol=1e-14)
    np.testing.assert_array_equal(s.centered, 0)
    np.testing.assert_allclose(s.x, np.sqrt(d) * value * s.ones, atol=1e-15)
    for point, output, outside, expected in (
        (s.layer_norm, s.layer_output, s.layer_outside, layer),
        (s.rms_norm, s.rms_output, s.rms_outside, rms),
    ):
        assert (point is None) == (output is None) == (outside is None) == (expected is None)
    if eps and value:
        np.testing.assert_allclose(s.rms_norm, np.sqrt(d) * 0.1 / np.sqrt(0.01 + 0.5) * s.ones, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("d", [3, 8])
@pytest.mark.parametrize("scale", [1e150, 1e-140, 5e-324])
def test_the_largest_and_smallest_numbers_have_a_picture(d: int, scale: float) -> None:
    sign = np.where(np.arange(d) % 3, 1.0, -1.0)
    s = space(scale * sign, weight=1e150 * sign, bias=np.full(d, 1e150), eps=0 if scale > 1e-150 else 1e-5)
    assert all(np.isfinite(value).all() for f in fields(s) if isinstance(value := getattr(s, f.name), np.ndarray))
    np.testing.assert_allclose(s.frame @ s.frame.T, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("d", [3, 5])
def test_a_picture_cannot_be_changed(d: int) -> None:
    s = space(np.arange(d), weight=np.ones(d))
    for field in fields(s):
        if isinstance(value := getattr(s, field.name), np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: space([1, 2]), "a picture in space needs x with 3 numbers or more; got 2"),
        (lambda: space([[1, 2, 3]]), "x is one vector"),
        (lambda: space([1, 2, 3], weight=[1, 2]), "weight has one number per channel, shape [3]"),
        (lambda: space([1, 2, 3], bias=[1]), "bias has one number per channel, shape [3]"),
        (lambda: space([1, 2, 3], eps=-1), "eps is 0 or a positive number"),
        (lambda: space([1e-170, 2e-170, 0]), "below which float64 loses digits"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
