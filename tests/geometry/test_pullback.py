"""Is the gradient at x autograd's, and the lost part the one that passes nothing back?"""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.geometry import jacobian, pullback, spectrum

SEEDS = st.integers(0, 2**32 - 1)
NORMS = st.sampled_from(["layer_norm", "rms_norm"])
EPS = st.sampled_from([0.0, 1e-5, 0.1, 10.0])
WEIGHTS = st.sampled_from(["none", "random", "zeros", "wide"])
FUNCTIONS = {"layer_norm": F.layer_norm, "rms_norm": F.rms_norm}


def drawn(seed: int, d: int, kind: str = "random") -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """x, a gradient and a weight."""
    generator = np.random.default_rng(seed)
    x, gradient = generator.normal(generator.normal(), 2, d), generator.normal(0, 1, d)
    weight = generator.uniform(0.2, 3, d) * generator.choice([-1, 1], d)
    if kind == "zeros":
        weight[generator.random(d) < 0.4] = 0
    if kind == "wide":
        weight *= 10.0 ** generator.uniform(-8, 0, d)
    return x, gradient, None if kind == "none" else weight


def autograd(norm: str, x: np.ndarray, gradient: np.ndarray, weight: np.ndarray | None, eps: float) -> np.ndarray:
    point = torch.tensor(x, requires_grad=True)
    FUNCTIONS[norm](point, [x.size], None if weight is None else torch.tensor(weight), eps=eps).backward(
        torch.tensor(gradient)
    )
    return np.asarray(point.grad)


def divisor(norm: str, x: np.ndarray, eps: float) -> float:
    return float(np.sqrt((x.var() if norm == "layer_norm" else (x**2).mean()) + eps))


@given(NORMS, SEEDS, st.integers(2, 64), EPS, WEIGHTS)
def test_the_image_is_autograds(norm: str, seed: int, d: int, eps: float, kind: str) -> None:
    x, gradient, weight = drawn(seed, d, kind)
    image = pullback(norm, x, gradient, weight=weight, eps=eps).image
    size = divisor(norm, x, eps)
    # Two numbers can lie close together, where torch's variance has fewer digits left.
    close = 1 + np.abs(x).max() / size
    np.testing.assert_allclose(
        image, autograd(norm, x, gradient, weight, eps), atol=1e-12 * np.linalg.norm(gradient) * 3 / size * close
    )
    np.testing.assert_allclose(
        image, jacobian(norm, x, weight=weight, eps=eps).T @ gradient, atol=1e-13 * np.linalg.norm(gradient) * 3 / size
    )


@given(NORMS, SEEDS, st.integers(1, 48), EPS, st.sampled_from(["none", "random", "zeros"]))
def test_the_lost_part_is_the_projection_on_the_left_null_space(
    norm: str, seed: int, d: int, eps: float, kind: str
) -> None:
    x, gradient, weight = drawn(seed, d, kind)
    eps = eps if d > 1 or norm == "rms_norm" else 0.5
    p = pullback(norm, x, gradient, weight=weight, eps=eps)
    lost = spectrum(norm, x, weight=weight, eps=eps).lost
    np.testing.assert_allclose(p.lost, (lost @ gradient) @ lost, atol=1e-8)
    np.testing.assert_allclose(p.lost_share, (p.lost @ p.lost) / (gradient @ gradient), atol=1e-14)
    np.testing.assert_array_equal(p.gradient, gradient)
    assert (p.norm, p.eps) == (norm, eps)


@given(NORMS, SEEDS, st.integers(2, 64), EPS, WEIGHTS)
def test_the_lost_part_passes_nothing_back_and_the_rest_passes_all(
    norm: str, seed: int, d: int, eps: float, kind: str
) -> None:
    x, gradient, weight = drawn(seed, d, kind)
    p = pullback(norm, x, gradient, weight=weight, eps=eps)
    scale = 1e-12 * np.linalg.norm(gradient) * 3 / divisor(norm, x, eps)
    np.testing.assert_allclose(pullback(norm, x, p.lost, weight=weight, eps=eps).image, 0, atol=scale)
    np.testing.assert_allclose(pullback(norm, x, gradient - p.lost, weight=weight, eps=eps).image, p.image, atol=scale)
    again = pullback(norm, x, p.lost, weight=weight, eps=eps)
    np.testing.assert_allclose(again.lost, p.lost, atol=1e-12 * np.linalg.norm(gradient))


@given(SEEDS, st.integers(2, 64), EPS)
def test_the_image_of_layer_norm_sums_to_0_and_at_eps_0_stands_on_x(seed: int, d: int, eps: float) -> None:
    x, gradient, weight = drawn(seed, d)
    scale = 1e-12 * np.linalg.norm(gradient)
    for norm in ("layer_norm", "rms_norm"):
        image = pullback(norm, x, gradient, weight=weight, eps=eps).image
        if norm == "layer_norm":
            np.testing.assert_allclose(image.sum(), 0, atol=scale * 3 * d / divisor(norm, x, eps))
        if eps == 0:
            np.testing.assert_allclose(image @ x, 0, atol=scale * 3 * np.linalg.norm(x) / divisor(norm, x, eps))


@pytest.mark.parametrize(
    ("norm", "x", "gradient", "weight", "eps", "lost"),
    [
        ("layer_norm", [1, 2, 3, 4], [1, 1, 1, 1], None, 1e-5, [1, 1, 1, 1]),
        ("layer_norm", [1, 2, 3, 4], [1, 2, 3, 4], None, 0, [1, 2, 3, 4]),
        ("layer_norm", [1, 2, 3, 4], [1, 2, 3, 4], None, 1e-5, [2.5] * 4),
        ("rms_norm", [1, 2, 3, 4], [1, 2, 3, 4], None, 0, [1, 2, 3, 4]),
        ("rms_norm", [1, 2, 3, 4], [1, 2, 3, 4], None, 1e-5, [0] * 4),
        ("layer_norm", [1, 2], [5, 7], [2, 3], 0, [5, 7]),
        ("layer_norm", [3], [5], None, 0.1, [5]),
        ("rms_norm", [3], [5], None, 0, [5]),
        ("rms_norm", [3], [5], None, 0.1, [0]),
        ("layer_norm", [2, 2, 2], [3, 0, 0], None, 0.1, [1, 1, 1]),
        ("rms_norm", [0, 0], [3, 4], None, 0.1, [0, 0]),
        ("rms_norm", [1, 2], [3, 4], [0, 0], 0, [3, 4]),
        ("layer_norm", [1, 2, 5], [3, 4, 5], [0, 0, 0], 0, [3, 4, 5]),
        # x is 0 where the weight is: of x / weight the other entries remain.
        ("rms_norm", [0, 1, 1], [3, 4, 6], [0, 1, 1], 0, [3, 5, 5]),
        ("rms_norm", [1, 1, 1], [3, 4, 6], [0, 1, 1], 0, [3, 0, 0]),
        # Two weights of 0 at equal entries, where x minus that entry is 0.
        ("layer_norm", [5, 5, 6, 6], [1, 2, 3, 5], [0, 0, 1, 1], 0, [1, 2, 4, 4]),
        ("layer_norm", [5, 4, 6, 6], [1, 2, 3, 5], [0, 0, 1, 1], 0, [1, 2, 0, 0]),
        ("layer_norm", [1, 2], [0, 0], None, 0, [0, 0]),
    ],
)
def test_what_is_lost_of_a_gradient(
    norm: str, x: list[float], gradient: list[float], weight: list[float] | None, eps: float, lost: list[float]
) -> None:
    p = pullback(norm, x, gradient, weight=weight, eps=eps)
    np.testing.assert_allclose(p.lost, lost, atol=1e-14)
    size = np.dot(gradient, gradient)
    assert p.lost_share == pytest.approx(np.dot(lost, lost) / size if size else 0, abs=1e-14)
    np.testing.assert_allclose(p.image, jacobian(norm, x, weight=weight, eps=eps).T @ gradient, atol=1e-14)


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("scale", [1e150, 1e149, 1e-140])
def test_the_largest_and_smallest_numbers_have_an_image(norm: str, scale: float) -> None:
    x, gradient, weight = drawn(3, 8, "wide")
    assert weight is not None
    x = x / np.abs(x).max()
    plain = pullback(norm, x, gradient, weight=weight, eps=0)
    p = pullback(norm, scale * x, gradient, weight=weight, eps=0)
    np.testing.assert_allclose(p.image * scale, plain.image, rtol=1e-11)
    np.testing.assert_allclose(p.lost, plain.lost, atol=1e-12)
    small = pullback(norm, x, gradient / 1e140, weight=weight * 1e-140, eps=0)
    np.testing.assert_allclose(small.image * 1e140 * 1e140, plain.image, rtol=1e-11)
    np.testing.assert_allclose(small.lost_share, plain.lost_share, rtol=1e-11)


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("weight", [[1e150, 1e-320, 1e-100, 1e150], [1e-150, 1e150, 0, 1], [1e150] * 4])
def test_weights_of_any_range_have_a_lost_part(norm: str, weight: list[float]) -> None:
    p = pullback(norm, [1, 2, 4, 9], [1, 2, 3, 4], weight=weight, eps=0)
    assert np.isfinite(p.lost).all()
    assert 0 < p.lost_share <= 1
    assert pullback(norm, [1, 2, 4, 9], p.lost, weight=weight, eps=0).lost_share == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_a_million_entries_take_memory_in_proportion(norm: str) -> None:
    d = 1_000_000
    x, gradient, weight = drawn(0, d)
    tracemalloc.start()
    p = pullback(norm, x, gradient, weight=weight, eps=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 8 * d
    assert p.image.shape == p.lost.shape == (d,)
    theirs = autograd(norm, x, gradient, weight, 0)
    np.testing.assert_allclose(p.image, theirs, atol=1e-12 * 3 * np.abs(gradient).max() / divisor(norm, x, 0))


def test_a_pullback_cannot_be_changed() -> None:
    p = pullback("layer_norm", [1, 2, 4], [1, 0, 0], eps=0)
    for array in (p.gradient, p.image, p.lost):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pullback("dyt", [1, 2], [1, 2], eps=0), "norm is layer_norm or rms_norm; got 'dyt'"),
        (lambda: pullback("rms_norm", [1, 2], [1], eps=0), "gradient has one number per channel, shape [2]"),
        (lambda: pullback("rms_norm", [1, 2], [1, 2], weight=[1], eps=0), "weight has one number per channel"),
        (lambda: pullback("layer_norm", [2, 2], [1, 2], eps=0), "constant vector"),
        (lambda: pullback("rms_norm", [0, 0], [1, 2], eps=0), "vector of zeros"),
        (
            lambda: pullback("rms_norm", [1e-140, 2e-140], [1e150, 1], weight=[1e150, 1], eps=0),
            "the gradient at x is the gradient times the weight over 1.58114e-140, which leaves float64",
        ),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
