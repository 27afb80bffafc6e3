"""Are the plane, the triangle and the Jacobians exact?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.geometry import LARGEST_JACOBIAN, jacobian, plane, triangle
from normviz.norms import layer_norm, rms_norm

ENTRIES = st.floats(-1e4, 1e4, allow_subnormal=False)
VECTORS = (
    st.integers(2, 12)
    .flatmap(lambda d: arrays(np.float64, d, elements=ENTRIES))
    .filter(lambda x: np.std(x) > 1e-3 * (1 + np.abs(x).max()))
)
EPS = st.sampled_from([0.0, 1e-5, 0.5])


def points(x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """The five vectors in d dimensions, and their coordinates in the plane, in the same order."""
    p = plane(x, eps=eps)
    assert p.layer_norm is not None
    assert p.rms_norm is not None
    mean = np.full(x.size, x.mean())
    vectors = np.array([x, mean, x - mean, layer_norm(x, eps=eps).output, rms_norm(x, eps=eps).output])
    return vectors, np.array([p.x, p.mean_part, p.centered, p.layer_norm, p.rms_norm])


@given(VECTORS, EPS)
def test_the_plane_keeps_every_length_and_dot_product(x: np.ndarray, eps: float) -> None:
    vectors, flat = points(x, eps)
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(flat @ flat.T, vectors @ vectors.T, atol=1e-10 * np.outer(lengths, lengths).max())
    np.testing.assert_allclose(np.linalg.norm(flat, axis=1), lengths, rtol=1e-9, atol=1e-12)


@given(VECTORS, EPS)
def test_the_frame_is_orthonormal_and_gives_the_vectors_back(x: np.ndarray, eps: float) -> None:
    vectors, flat = points(x, eps)
    frame = plane(x, eps=eps).frame
    np.testing.assert_allclose(frame @ frame.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(flat @ frame, vectors, atol=1e-10 * (1 + np.abs(vectors).max()))


@given(VECTORS)
def test_both_norms_end_on_the_circle_of_radius_root_d_at_eps_0(x: np.ndarray) -> None:
    p = plane(x)
    assert p.radius == np.sqrt(x.size)
    np.testing.assert_allclose([np.linalg.norm(p.layer_norm), np.linalg.norm(p.rms_norm)], p.radius, rtol=1e-12)
    assert p.layer_norm is not None
    assert p.layer_norm[0] == 0


@given(VECTORS)
def test_eps_pulls_both_points_inside_the_circle(x: np.ndarray) -> None:
    p = plane(x, eps=0.5)
    assert max(np.linalg.norm(p.layer_norm), np.linalg.norm(p.rms_norm)) < p.radius


@pytest.mark.parametrize(
    ("x", "eps", "layer", "rms"),
    [
        ([2.0, 2.0, 2.0, 2.0], 0.0, None, [2, 0]),
        ([-0.1] * 7, 0.0, None, [-np.sqrt(7), 0]),
        ([0.0, 0.0], 0.0, None, None),
        ([0.0, 0.0], 1e-5, [0, 0], [0, 0]),
        ([3.0], 0.0, None, [1, 0]),
        ([3.0, 3.0], 1.0, [0, 0], [3 * np.sqrt(2 / 10), 0]),
    ],
)
def test_a_point_without_a_value_is_none(x: list[float], eps: float, layer: Any, rms: Any) -> None:
    p = plane(x, eps=eps)
    np.testing.assert_allclose(p.x, [np.sqrt(len(x)) * x[0], 0])
    for point, expected in ((p.layer_norm, layer), (p.rms_norm, rms)):
        assert (point is None) == (expected is None)
        if point is not None:
            np.testing.assert_allclose(point, expected)


def test_the_plane_cannot_be_changed() -> None:
    p = plane([1, 2, 4])
    for field in ("x", "mean_part", "centered", "layer_norm", "rms_norm", "frame"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(p, field)[0] = 1


@given(st.integers(1, 12).flatmap(lambda d: arrays(np.float64, d, elements=ENTRIES)))
def test_mean_and_std_are_the_legs_and_rms_the_hypotenuse(x: np.ndarray) -> None:
    sides = triangle(x)
    np.testing.assert_allclose(np.hypot(sides.mean, sides.std), sides.rms, rtol=1e-12)
    np.testing.assert_allclose(sides.mean, x.mean(), atol=1e-12 * (1 + np.abs(x).max()))
    np.testing.assert_allclose(sides.std, x.std(), atol=1e-12 * (1 + np.abs(x).max()))


def test_the_chapters_triangle() -> None:
    sides = triangle([1, 2, 3, 4])
    assert sides.mean == 2.5
    assert sides.std == np.sqrt(1.25)
    assert sides.rms == np.sqrt(7.5)


def autograd(norm: str, x: np.ndarray, weight: np.ndarray | None, eps: float) -> np.ndarray:
    w = None if weight is None else torch.tensor(weight)
    function = {"layer_norm": F.layer_norm, "rms_norm": F.rms_norm}[norm]
    result = torch.autograd.functional.jacobian(lambda v: function(v, [x.size], w, eps=eps), torch.tensor(x))
    return np.asarray(result)


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("weighted", [False, True])
@given(x=VECTORS, eps=EPS)
def test_the_closed_form_is_autograds(norm: str, weighted: bool, x: np.ndarray, eps: float) -> None:
    weight = np.linspace(-1, 2, x.size) if weighted else None
    ours, theirs = jacobian(norm, x, weight=weight, eps=eps), autograd(norm, x, weight, eps)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 / rms_norm(x, eps=eps).rms.min())


@pytest.mark.parametrize(
    ("norm", "eps", "missing"),
    [("layer_norm", 0, 2), ("layer_norm", 1e-5, 1), ("rms_norm", 0, 1), ("rms_norm", 1e-5, 0)],
)
def test_rank_null_space_and_singular_values(norm: str, eps: float, missing: int) -> None:
    d = 16
    x = np.random.default_rng(0).normal(1, 2, d)
    matrix = jacobian(norm, x, eps=eps)
    values = np.linalg.svd(matrix, compute_uv=False)
    assert (values < 1e-10).sum() == missing
    square = x.var() if norm == "layer_norm" else (x**2).mean()
    along = x - x.mean() if norm == "layer_norm" else x
    divisor = np.sqrt(square + eps)
    np.testing.assert_allclose(matrix @ along, eps / (square + eps) / divisor * along, atol=1e-12)
    np.testing.assert_allclose(values[: d - 2], 1 / divisor, rtol=1e-12)
    if norm == "layer_norm":
        np.testing.assert_allclose(matrix @ np.ones(d), 0, atol=1e-12)


def test_a_constant_vector_has_a_steep_layer_norm() -> None:
    matrix = jacobian("layer_norm", np.full(8, 0.1), eps=1e-5)
    np.testing.assert_allclose(np.linalg.norm(matrix, 2), 1e-5**-0.5, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plane([[1, 2]]), "x is one vector, shape [d] with d >= 1; got shape [1, 2]"),
        (lambda: plane([]), "x needs at least one number"),
        (lambda: plane([1], eps=-1), "eps is 0 or a positive number"),
        (lambda: plane([1e-160, 0]), "below which float64 loses digits"),
        (lambda: plane([1e-170, 2e-170]), "below which float64 loses digits"),
        (lambda: plane([1e151, 0]), "x holds numbers up to 1e+150 in size"),
        (lambda: triangle([1e151, 0]), "x holds numbers up to 1e+150 in size"),
        (lambda: jacobian("layer_norm", [1e-170, 2e-170], eps=0), "below which float64 loses digits"),
        (lambda: triangle([1, float("nan")]), "x[1] is NaN"),
        (lambda: jacobian("batch_norm", [1, 2], eps=0), "norm is layer_norm or rms_norm; got 'batch_norm'"),
        (lambda: jacobian("layer_norm", [2, 2], eps=0), "constant vector"),
        (lambda: jacobian("rms_norm", [0, 0], eps=0), "vector of zeros"),
        (lambda: jacobian("rms_norm", [1, 2], weight=[1], eps=0), "weight has one number per channel"),
        (lambda: jacobian("rms_norm", np.ones(LARGEST_JACOBIAN + 1), eps=0), "x has up to 4096 numbers; got 4097"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)


def test_tiny_vectors_keep_their_place_and_their_sides() -> None:
    p, sides = plane([1e-170, 3e-170], eps=1e-5), triangle([1e-170, 3e-170])
    np.testing.assert_allclose(p.x, np.array([2e-170, 1e-170]) * np.sqrt(2))
    np.testing.assert_allclose(p.frame @ p.frame.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose([sides.mean, sides.std, sides.rms], np.array([2, 1, np.sqrt(5)]) * 1e-170)


def test_a_jacobian_cannot_be_changed() -> None:
    for weight in (None, [1, 2]):
        with pytest.raises(ValueError, match="read-only"):
            jacobian("layer_norm", [1, 2], weight=weight, eps=0)[0] = 1
