"""Does every axis of [B, T, d] pool the cells that torch pools, and are pads left out?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.grid import AXES, cell, normalize_grid, pad_lengths, pad_mask, padding_shift, sample_grid
from normviz.norms import batch_norm, layer_norm, rms_norm

B, T, D = 3, 4, 6
SIZES = st.tuples(st.integers(1, 4), st.integers(2, 4), st.sampled_from([2, 4, 6]))


def grid() -> np.ndarray:
    return np.random.default_rng(0).normal(1, 2, (B, T, D))


def in_torch(
    axis: str, x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, eps: float, groups: int
) -> np.ndarray:
    """The same norm by torch.nn.functional, on the layout that torch wants."""
    v = torch.tensor(x)
    weight, bias = (None if p is None else torch.tensor(p) for p in (w, b))
    channels_first = v.transpose(1, 2)
    if axis == "layer_norm":
        out = F.layer_norm(v, [x.shape[-1]], weight, bias, eps)
    elif axis == "rms_norm":
        out = F.rms_norm(v, [x.shape[-1]], weight, eps)
    elif axis == "batch_norm":
        out = F.batch_norm(channels_first, None, None, weight, bias, training=True, eps=eps).transpose(1, 2)
    elif axis == "instance_norm":
        out = F.instance_norm(channels_first, weight=weight, bias=bias, eps=eps).transpose(1, 2)
    else:
        out = F.group_norm(channels_first, groups, weight, bias, eps).transpose(1, 2)
    return np.asarray(out)


CASES = [(axis, 1) for axis in AXES] + [("group_norm", groups) for groups in (2, 3, 6)]


@pytest.mark.parametrize(("axis", "groups"), CASES)
@pytest.mark.parametrize("affine", [False, True])
def test_every_axis_is_torchs(axis: str, groups: int, affine: bool) -> None:
    x, (w, b) = grid(), np.random.default_rng(1).normal(size=(2, D))
    weight, bias = (w if affine else None), (b if affine and axis != "rms_norm" else None)
    trace = normalize_grid(x, axis, groups=groups, weight=weight, bias=bias)
    np.testing.assert_allclose(trace.output, in_torch(axis, x, weight, bias, 1e-5, groups), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(trace.normalized, in_torch(axis, x, None, None, 1e-5, groups), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("axis", "groups", "n", "count"),
    [
        ("layer_norm", 1, B * T, D),
        ("rms_norm", 1, B * T, D),
        ("batch_norm", 1, D, B * T),
        ("instance_norm", 1, B * D, T),
        ("group_norm", 3, B * 3, T * D // 3),
        ("group_norm", 1, B, T * D),
    ],
)
def test_how_many_statistics_there_are_and_over_how_many_cells(axis: str, groups: int, n: int, count: int) -> None:
    trace = normalize_grid(grid(), axis, groups=groups)
    assert trace.n_statistics == n
    assert trace.count.tolist() == [count] * n
    assert (np.unique(trace.group) == np.arange(n)).all()
    assert trace.parameter_shape == (D,)
    assert trace.bias_shape == (None if axis == "rms_norm" else (D,))
    assert (trace.mean is None) == (trace.var is None) == (axis == "rms_norm")


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("masked", [False, True])
def test_every_statistic_is_that_of_its_cells(axis: str, masked: bool) -> None:
    x, mask = grid(), pad_mask(B, T, (4, 3, 2)) if masked else None
    trace = normalize_grid(x, axis, groups=2, mask=mask)
    assert ((trace.group == -1) == (False if mask is None else ~mask[..., None])).all()
    for k in range(trace.n_statistics):
        members = x[trace.group == k]
        assert trace.count[k] == members.size
        np.testing.assert_allclose(trace.rms[k], np.sqrt((members**2).mean()), rtol=1e-12)
        if trace.mean is not None and trace.var is not None:
            np.testing.assert_allclose([trace.mean[k], trace.var[k]], [members.mean(), members.var()], rtol=1e-11)


@pytest.mark.parametrize(
    ("axis", "shared"),
    [
        ("layer_norm", (1, 2, slice(None))),
        ("rms_norm", (1, 2, slice(None))),
        ("batch_norm", (slice(None), slice(None), 4)),
        ("instance_norm", (1, slice(None), 4)),
        ("group_norm", (1, slice(None), slice(3, 6))),
    ],
)
def test_a_cell_knows_who_shares_its_statistic(axis: str, shared: Any) -> None:
    x, w = grid(), np.arange(1.0, D + 1)
    trace = normalize_grid(x, axis, groups=2, weight=w)
    one = cell(trace, 1, 2, 4)
    expected = np.zeros(x.shape, dtype=bool)
    expected[shared] = True
    np.testing.assert_array_equal(one.members, expected)
    np.testing.assert_array_equal(one.members_values, x[expected])
    assert (one.index, one.value, one.count) == ((1, 2, 4), x[1, 2, 4], expected.sum())
    if one.mean is not None and one.var is not None:
        above, square = one.value - one.mean, one.var
    else:
        assert one.rms is not None
        above, square = one.value, one.rms**2
    np.testing.assert_allclose(one.normalized, above / np.sqrt(square + trace.eps), rtol=1e-12)
    np.testing.assert_allclose(one.output, one.normalized * 5, rtol=1e-15)


@pytest.mark.parametrize("axis", AXES)
def test_a_pad_has_no_statistic(axis: str) -> None:
    trace = normalize_grid(
        grid(), axis, mask=pad_mask(B, T, (4, 3, 2)), bias=None if axis == "rms_norm" else np.ones(D)
    )
    one = cell(trace, 2, 3, 0)
    assert (one.count, one.mean, one.var, one.rms, one.normalized, one.output) == (0, None, None, None, 0.0, 0.0)
    assert not one.members.any()
    assert one.members_values.size == 0


def test_the_grid_agrees_with_the_norms_of_the_package() -> None:
    x, mask = grid(), pad_mask(B, T, (4, 2, 1))
    w, b = np.random.default_rng(2).normal(size=(2, D))
    layer = layer_norm(x, w, b).output * mask[..., None]
    np.testing.assert_allclose(normalize_grid(x, "layer_norm", weight=w, bias=b, mask=mask).output, layer, atol=1e-13)
    rms = rms_norm(x, w).output * mask[..., None]
    np.testing.assert_allclose(normalize_grid(x, "rms_norm", weight=w, mask=mask).output, rms, atol=1e-13)
    batch = batch_norm(x, w, b, mask=mask)
    trace = normalize_grid(x, "batch_norm", weight=w, bias=b, mask=mask)
    np.testing.assert_allclose(trace.output, batch.output, atol=1e-13)
    np.testing.assert_allclose(trace.var, batch.var, rtol=1e-12)


@pytest.mark.parametrize("axis", ["instance_norm", "group_norm"])
def test_a_masked_sequence_is_torchs_norm_of_the_short_one(axis: str) -> None:
    x, lengths = grid(), (4, 3, 2)
    output = normalize_grid(x, axis, groups=2, mask=pad_mask(B, T, lengths)).output
    for b, length in enumerate(lengths):
        expected = in_torch(axis, x[b : b + 1, :length], None, None, 1e-5, 2)[0]
        np.testing.assert_allclose(output[b, :length], expected, rtol=1e-10, atol=1e-12)
        assert not output[b, length:].any()


def test_a_sequence_of_pads_alone_leaves_no_gap_in_the_numbering() -> None:
    trace = normalize_grid(grid(), "instance_norm", mask=[[1] * T, [0] * T, [1] * T])
    assert trace.n_statistics == 2 * D
    assert np.unique(trace.group).tolist() == [-1, *range(2 * D)]


@given(SIZES, st.integers(0, 2**31 - 1), st.sampled_from(AXES))
def test_a_statistic_leaves_mean_zero_and_mean_square_at_most_one(
    sizes: tuple[int, int, int], seed: int, axis: str
) -> None:
    trace = normalize_grid(sample_grid(*sizes, seed=seed), axis, groups=2, eps=1e-9)
    n = trace.n_statistics
    mean_square = np.bincount(trace.group.ravel(), trace.normalized.ravel() ** 2, n) / trace.count
    assert (mean_square <= 1 + 1e-12).all()
    if trace.mean is not None:
        total = np.bincount(trace.group.ravel(), trace.normalized.ravel(), n)
        np.testing.assert_allclose(total / trace.count, 0, atol=1e-10)


def test_equal_cells_are_zero_with_eps_and_refused_without() -> None:
    x = np.full((2, 7, 2), 0.1)
    assert not normalize_grid(x, "instance_norm", eps=1e-12).normalized.any()
    with pytest.raises(InputError, match="all 7 cells that share a statistic are equal"):
        normalize_grid(x, "instance_norm", eps=0)


def test_pads_move_batch_norm_by_the_known_amount_and_layer_norm_not_at_all() -> None:
    # Zero pads in a share p of the tokens inflate zero-mean real tokens by 1/sqrt(1 - p).
    x = np.array([1.0, -1, 1, -1, 0, 0]).reshape(1, 6, 1) * [[[1.0, 2.0]]]
    mask = pad_mask(1, 6, (4,))
    shift = padding_shift(x, mask, "batch_norm", eps=0)
    np.testing.assert_allclose(shift[0, :4], 1 / np.sqrt(2 / 3) - 1)
    assert np.isnan(shift[0, 4:]).all()
    for axis in ("layer_norm", "rms_norm"):
        shift = padding_shift(grid(), pad_mask(B, T, (4, 3, 2)), axis)
        np.testing.assert_array_equal(shift[np.isfinite(shift)], np.zeros(9))


@pytest.mark.parametrize("axis", AXES)
def test_the_shift_is_the_largest_change_of_a_token(axis: str) -> None:
    x, mask, w = grid(), pad_mask(B, T, (4, 3, 2)), np.arange(1.0, D + 1)
    with_pads = normalize_grid(x, axis, groups=3, weight=w).output
    without = normalize_grid(x, axis, groups=3, weight=w, mask=mask).output
    shift = padding_shift(x, mask, axis, groups=3, weight=w)
    np.testing.assert_array_equal(shift[mask], np.abs(with_pads - without).max(axis=2)[mask])


def test_a_sample_grid_is_seeded_and_has_one_decimal() -> None:
    x = sample_grid(2, 3, 4, seed=5)
    assert x.shape == (2, 3, 4)
    np.testing.assert_array_equal(x, sample_grid(2, 3, 4, seed=5))
    assert (x != sample_grid(2, 3, 4, seed=6)).any()
    np.testing.assert_array_equal(x, x.round(1))
    assert not np.signbit(x[x == 0]).any()
    many = sample_grid(10, 10, 100, seed=0)
    assert abs(many.mean()) < 0.03
    assert abs(many.std() - 1) < 0.03


def test_pad_masks_and_the_example_lengths() -> None:
    np.testing.assert_array_equal(pad_mask(2, 3, (3, 1)), [[True, True, True], [True, False, False]])
    assert pad_lengths(1, 5) == (5,)
    assert pad_lengths(3, 4) == (4, 3, 2)
    assert pad_lengths(4, 2) == (2, 2, 1, 1)
    assert pad_lengths(3, 1) == (1, 1, 1)


def test_a_grid_cannot_be_changed() -> None:
    trace = normalize_grid(grid(), "layer_norm", weight=np.ones(D), bias=np.ones(D), mask=np.ones((B, T), dtype=bool))
    fields = ("x", "weight", "bias", "mask", "group", "count", "mean", "var", "rms", "normalized", "output")
    arrays = [getattr(trace, field) for field in fields]
    for array in [*arrays, cell(trace, 0, 0, 0).members, sample_grid(1, 1, 1, seed=0), pad_mask(1, 1, [1])]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: normalize_grid(np.ones((2, 3)), "layer_norm"), "x is a grid of shape [B, T, d]"),
        (lambda: normalize_grid(np.ones((2, 0, 3)), "layer_norm"), "got shape [2, 0, 3]"),
        (lambda: normalize_grid(grid(), "token_norm"), "axis is one of layer_norm, rms_norm"),
        (
            lambda: normalize_grid(grid(), "group_norm", groups=4),
            "groups divides the 6 channels into equal parts; got 4",
        ),
        (lambda: normalize_grid(grid(), "group_norm", groups=0), "groups is a whole number from 1 to 6; got 0"),
        (lambda: normalize_grid(grid(), "group_norm", groups=2.0), "groups is a whole number from 1 to 6; got 2.0"),
        (lambda: normalize_grid(grid(), "rms_norm", bias=np.ones(D)), "RMSNorm has no bias"),
        (
            lambda: normalize_grid(grid(), "layer_norm", weight=np.ones(3)),
            "weight has one number per channel, shape [6]",
        ),
        (lambda: normalize_grid(grid(), "layer_norm", eps=-1), "eps is 0 or a positive number"),
        (
            lambda: normalize_grid(grid(), "layer_norm", mask=np.zeros((B, T), dtype=bool)),
            "got 12 pads and nothing else",
        ),
        (lambda: normalize_grid(grid(), "layer_norm", mask=np.ones(T)), "mask holds True for real tokens"),
        (lambda: normalize_grid(np.ones((1, 1, 3)), "batch_norm"), "over at least 2 real tokens"),
        (
            lambda: normalize_grid(np.ones((2, 2, 3)), "layer_norm", eps=0),
            "all 3 cells that share a statistic are equal",
        ),
        (lambda: normalize_grid(np.zeros((2, 2, 3)), "rms_norm", eps=0), "all 3 cells that share a statistic are 0"),
        (lambda: normalize_grid(1e-160 * grid(), "rms_norm", eps=0), "below which float64 loses digits"),
        (lambda: cell(normalize_grid(grid(), "layer_norm"), 3, 0, 0), "b is a whole number from 0 to 2; got 3"),
        (lambda: cell(normalize_grid(grid(), "layer_norm"), 0, 0, -1), "c is a whole number from 0 to 5; got -1"),
        (lambda: sample_grid(0, 1, 1, seed=0), "batch is a whole number, 1 or more; got 0"),
        (lambda: sample_grid(1, 1, 1, seed=2**31), "seed is a whole number from 0 to 2147483647; got 2147483648"),
        (lambda: pad_mask(2, 3, [3]), "lengths has one number per sequence, 2 in all; got 1"),
        (lambda: pad_mask(2, 3, [3, 4]), "lengths is a whole number from 1 to 3; got 4"),
        (lambda: pad_mask(2, 3, 3), "lengths is a list of whole numbers, one per sequence; got 3"),  # type: ignore[arg-type]
        (lambda: pad_mask(2**40, 2**40, [1]), "batch x tokens multiply to at most 10000000 cells"),
        (lambda: pad_lengths(10**12, 1), "batch x tokens multiply to at most 10000000 cells; got 1000000000000 x 1"),
        (lambda: sample_grid(10**9, 10**9, 10**9, seed=0), "batch x tokens x d multiply to at most 10000000 cells"),
        (
            lambda: normalize_grid(grid(), "layer_norm", mask=[[True], [True, False]]),
            "mask is an array of numbers whose rows are equally long",
        ),
        (lambda: normalize_grid(1e-170 * grid(), "rms_norm", eps=0), "below which float64 loses digits"),
        (lambda: normalize_grid(1e-170 * grid(), "layer_norm", eps=0), "below which float64 loses digits"),
        (lambda: pad_mask(2, True, [1, 1]), "tokens is a whole number, 1 or more; got True"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)


def test_a_mask_may_be_a_tensor_with_a_gradient() -> None:
    with pytest.raises(InputError, match="got entries of type float64"):
        normalize_grid(grid(), "layer_norm", mask=torch.ones(B, T, requires_grad=True))
    mask = torch.ones(B, T, dtype=torch.bool)
    np.testing.assert_array_equal(normalize_grid(grid(), "layer_norm", mask=mask).mask, mask)
