"""Do LayerNorm and RMSNorm agree with torch, with each other and with arithmetic done by hand?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.norms import NormTrace, layer_norm, rms_norm

EPS = st.sampled_from([1e-12, 1e-6, 1e-5, 0.1, 3.0])
ENTRIES = st.floats(-1e6, 1e6, allow_subnormal=False)
VECTORS = st.integers(1, 12).flatmap(lambda d: arrays(np.float64, d, elements=ENTRIES))
SHAPES = [(1,), (4,), (3, 5), (2, 3, 7), (2, 0, 4), (2, 1, 2, 9)]


def spread(x: np.ndarray) -> bool:
    """Far enough from constant that eps 0 leaves most digits."""
    return bool(np.std(x) > 1e-3 * (1 + np.abs(x).max()))


def test_the_chapters_vector_by_hand() -> None:
    layer, rms = layer_norm([1, 2, 3, 4], eps=0), rms_norm([1, 2, 3, 4], eps=0)
    assert layer.mean is not None
    assert layer.mean.tolist() == [2.5]
    assert layer.var is not None
    assert layer.var.tolist() == [1.25]
    np.testing.assert_allclose(layer.std, [1.1180], atol=5e-5)
    np.testing.assert_array_equal(layer.centered, [-1.5, -0.5, 0.5, 1.5])
    np.testing.assert_allclose(layer.output, [-1.3416, -0.4472, 0.4472, 1.3416], atol=5e-5)
    np.testing.assert_allclose(rms.rms, [2.7386], atol=5e-5)
    np.testing.assert_allclose(rms.output, [0.3651, 0.7303, 1.0954, 1.4606], atol=5e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.3])
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm_is_torchs(shape: tuple[int, ...], eps: float, affine: bool) -> None:
    rng = np.random.default_rng(0)
    x, (w, b) = rng.normal(3, 2, shape), rng.normal(size=(2, shape[-1]))
    given_ = (torch.tensor(w), torch.tensor(b)) if affine else (None, None)
    ours = layer_norm(x, w if affine else None, b if affine else None, eps)
    expected = F.layer_norm(torch.tensor(x), shape[-1:], *given_, eps=eps)
    np.testing.assert_allclose(ours.output, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.3])
@pytest.mark.parametrize("affine", [False, True])
def test_rms_norm_is_torchs(shape: tuple[int, ...], eps: float, affine: bool) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(3, 2, shape), rng.normal(size=shape[-1])
    expected = F.rms_norm(torch.tensor(x), shape[-1:], torch.tensor(w) if affine else None, eps=eps)
    np.testing.assert_allclose(rms_norm(x, w if affine else None, eps).output, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64, np.bool_])
@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_any_real_dtype_is_computed_in_float64(norm: Callable[..., NormTrace], dtype: type) -> None:
    x = np.array([0, 1, 1, 0, 1]).astype(dtype)
    trace = norm(x)
    assert trace.output.dtype == np.float64
    np.testing.assert_array_equal(trace.output, norm(x.astype(np.float64)).output)


@given(VECTORS, EPS)
def test_layer_norm_is_rms_norm_of_the_centred_vector(x: np.ndarray, eps: float) -> None:
    layer = layer_norm(x, eps=eps)
    assert layer.centered is not None
    np.testing.assert_array_equal(layer.output, rms_norm(layer.centered, eps=eps).output)
    np.testing.assert_allclose(layer.centered, x - x.mean(), atol=1e-12 * (1 + np.abs(x).max()))


@given(VECTORS)
def test_mean_square_is_variance_plus_squared_mean(x: np.ndarray) -> None:
    layer, rms = layer_norm(x), rms_norm(x)
    assert layer.var is not None
    assert layer.mean is not None
    assert rms.rms is not None
    np.testing.assert_allclose(rms.rms**2, layer.var + layer.mean**2, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e149])
def test_rms_does_not_underflow(scale: float) -> None:
    np.testing.assert_allclose(rms_norm([3 * scale, -4 * scale]).rms, [np.sqrt(12.5) * scale], rtol=1e-15)


@given(VECTORS.filter(spread), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_layer_norm_ignores_positive_scale_and_shift(x: np.ndarray, scale: float, shift: float) -> None:
    before, after = layer_norm(x, eps=0), layer_norm(scale * x + shift, eps=0)
    lost = 1e-15 * (np.abs(scale * x).max() + abs(shift)) / (scale * np.std(x))  # rounding of the shift itself
    np.testing.assert_allclose(after.output, before.output, rtol=1e-9, atol=1e-9 + 10 * lost)


@given(VECTORS.filter(lambda x: np.abs(x).max() > 1e-3), st.floats(1e-3, 1e3))
def test_rms_norm_ignores_positive_scale_and_keeps_direction(x: np.ndarray, scale: float) -> None:
    output = rms_norm(x, eps=0).output
    np.testing.assert_allclose(rms_norm(scale * x, eps=0).output, output, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(rms_norm(-scale * x, eps=0).output, -output, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(output * np.linalg.norm(x), x * np.linalg.norm(output), rtol=1e-12, atol=1e-300)


@given(VECTORS, EPS)
def test_the_trace_is_consistent(x: np.ndarray, eps: float) -> None:
    rng = np.random.default_rng(x.size)
    w, b = rng.normal(size=(2, x.size))
    layer, rms = layer_norm(x, w, b, eps), rms_norm(x, w, eps)
    np.testing.assert_array_equal(layer.normalized, layer.centered / layer.denominator)
    np.testing.assert_array_equal(layer.output, layer.normalized * w + b)
    np.testing.assert_allclose(rms.normalized, x / rms.denominator, rtol=1e-15)
    np.testing.assert_array_equal(rms.output, rms.normalized * w)
    mean_square, var = (layer.normalized**2).mean(), layer.var
    assert var is not None
    np.testing.assert_allclose(mean_square, var[0] / (var[0] + eps), rtol=1e-12)


def test_steps_that_a_norm_does_not_have_are_none() -> None:
    layer, rms = layer_norm([1, 2]), rms_norm([1, 2])
    assert (layer.rms, layer.weight, layer.bias, layer.running) == (None,) * 4
    assert (rms.mean, rms.var, rms.std, rms.centered, rms.bias, rms.running) == (None,) * 6


def test_a_trace_cannot_be_changed_and_does_not_hold_the_callers_array() -> None:
    x = np.ones((2, 3))
    x[:, 0] = 2
    trace = layer_norm(x, np.ones(3), np.zeros(3))
    x[0, 0] = 99
    assert trace.x[0, 0] == 2
    for field in ("x", "weight", "bias", "mean", "var", "centered", "normalized", "output"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(trace, field)[...] = 0


def test_weight_offset_is_the_one_plus_w_form() -> None:
    x, w = [1.0, -2.0, 3.0], np.array([0.1, -0.2, 0.0])
    stored = rms_norm(x, w, weight_offset=1.0)
    np.testing.assert_array_equal(stored.output, rms_norm(x, 1 + w).output)
    np.testing.assert_array_equal(stored.weight, 1 + w)
    np.testing.assert_array_equal(rms_norm(x, weight_offset=1.0).output, rms_norm(x).output)


def test_a_constant_vector_has_exactly_zero_deviation() -> None:
    # 0.1 added seven times and divided by 7 is not 0.1: a naive mean leaves +-1 in place of 0.
    x = np.full(7, 0.1)
    trace = layer_norm(x, eps=1e-300 * 1e20)
    np.testing.assert_array_equal(trace.output, np.zeros(7))
    with pytest.raises(InputError, match=r"constant vector \(every entry is 0.1\).*eps > 0"):
        layer_norm(x, eps=0)


def test_a_large_common_offset_costs_no_digits() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(layer_norm(x + 2**50, eps=0).output, layer_norm(x, eps=0).output)


def test_a_width_of_one_and_of_two() -> None:
    assert rms_norm([-7.0], eps=0).output.tolist() == [-1]
    assert layer_norm([-7.0]).output.tolist() == [0]
    np.testing.assert_allclose(layer_norm([5.0, -7.0], eps=0).output, [1, -1])


@pytest.mark.parametrize(
    ("norm", "x", "more", "sentence"),
    [
        (
            layer_norm,
            [2, 2, 2],
            {"eps": 0},
            "LayerNorm of a constant vector (every entry is 2) is undefined at eps = 0",
        ),
        (layer_norm, [[1, 2], [3, 3]], {"eps": 0}, "(every entry is 3)"),
        (layer_norm, [5], {"eps": 0}, "LayerNorm of the single number 5 is undefined at eps = 0"),
        (rms_norm, [0, 0], {"eps": 0}, "RMSNorm of a vector of zeros is undefined at eps = 0"),
        (rms_norm, [1e-160, 0], {"eps": 0}, "below which float64 loses digits"),
        (layer_norm, [1e-160, 0], {"eps": 0}, "below which float64 loses digits"),
        (rms_norm, [1e-170, 2e-170], {"eps": 0}, "below which float64 loses digits"),
        (layer_norm, [1e-170, 2e-170], {"eps": 0}, "below which float64 loses digits"),
        (layer_norm, [1, 2], {"eps": True}, "eps is one finite number; got True"),
        (layer_norm, [1, 2], {"eps": "1e-5"}, "eps is one finite number; got '1e-5'"),
        (rms_norm, [1], {"eps": -1e-5}, "eps is 0 or a positive number"),
        (rms_norm, [1], {"eps": float("nan")}, "eps is one finite number; got nan"),
        (layer_norm, [1], {"eps": "small"}, "eps is one finite number; got 'small'"),
        (layer_norm, [1], {"eps": [1, 2]}, "eps is one finite number"),
        (layer_norm, [1, 2], {"weight": [1, 2, 3]}, "weight has one number per channel, shape [2]; got shape [3]"),
        (layer_norm, [1, 2], {"bias": 3.0}, "bias has one number per channel, shape [2]; got shape []"),
        (rms_norm, [1, 2], {"weight": [1, float("nan")]}, "weight holds finite numbers; weight[1] is NaN"),
        (rms_norm, [1, 2], {"weight": [1, 1e200]}, "weight[1] is 1e+200"),
        (rms_norm, [1, 2], {"weight": [1, 1], "weight_offset": None}, "weight_offset is one finite number; got None"),
        (rms_norm, [1, 2], {"weight_offset": -1e200}, "weight_offset is -1e+200"),
        (layer_norm, [], {}, "x needs at least one number along its last axis; got shape [0]"),
        (rms_norm, np.ones((3, 0)), {}, "got shape [3, 0]"),
        (layer_norm, 3.0, {}, "got the single number 3.0"),
        (layer_norm, [[1, 2], [3, float("nan")]], {}, "x holds finite numbers; x[1, 1] is NaN"),
        (rms_norm, [1, float("-inf")], {}, "x holds finite numbers; x[1] is infinite"),
        (rms_norm, float("nan"), {}, "x holds finite numbers; x is NaN"),
        (rms_norm, [1e308, 1], {}, "x holds numbers up to 1e+150 in size"),
        (layer_norm, ["a", "b"], {}, "x holds real numbers; got entries of type <U1"),
        (layer_norm, [1 + 2j], {}, "got entries of type complex128"),
        (layer_norm, [None], {}, "got entries of type object"),
        (layer_norm, [[1, 2], [3]], {}, "x is an array of numbers whose rows are equally long"),
    ],
)
def test_every_refusal_has_its_sentence(
    norm: Callable[..., NormTrace], x: Any, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        norm(x, **more)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_the_largest_allowed_entries_give_finite_steps(norm: Callable[..., NormTrace]) -> None:
    trace = norm([1e150, -1e150, 1e150, 3], np.full(4, 1e150))
    for value in (trace.mean, trace.var, trace.rms, trace.centered, trace.output, trace.denominator):
        assert value is None or np.isfinite(value).all()


def test_what_a_trace_derives_cannot_be_changed_either() -> None:
    for array in (layer_norm([1, 2]).std, layer_norm([1, 2]).denominator, rms_norm([1, 2]).denominator):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.int64])
def test_a_tensor_of_any_real_type_is_taken_with_its_gradient(dtype: torch.dtype) -> None:
    x = torch.tensor([1, 2, 4], dtype=dtype, requires_grad=dtype.is_floating_point)
    np.testing.assert_array_equal(layer_norm(x, weight=x).output, layer_norm([1, 2, 4], [1, 2, 4]).output)
