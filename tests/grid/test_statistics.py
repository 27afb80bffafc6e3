"""Does every axis of [B, T, d] pool the cells that torch pools, and are pads left out?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import nn

from normviz.errors import InputError
from normviz.grid import AXES, cell, normalize_grid, pad_mask, sample_grid
from normviz.norms import batch_norm, layer_norm, rms_norm

B, T, D = 3, 4, 6
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
SEEDS = st.integers(0, 2**31 - 1)


def grid() -> np.ndarray:
    return np.random.default_rng(0).normal(1, 2, (B, T, D))


def parameters(axis: str, shape: tuple[int, ...], seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """A gain and, unless the norm has none, a bias, of the shape that the axis asks for."""
    weight, bias = np.random.default_rng(seed).normal(size=(2, *(shape if axis == "everything" else shape[-1:])))
    return weight, None if axis == "rms_norm" else bias


def in_torch(
    axis: str, x: np.ndarray, groups: int = 1, weight: np.ndarray | None = None, bias: np.ndarray | None = None
) -> np.ndarray:
    """The same norm by torch.nn, on the layout that torch wants."""
    d, has_weight = x.shape[-1], weight is not None
    module = {
        "layer_norm": lambda: nn.LayerNorm(d, elementwise_affine=has_weight),
        "rms_norm": lambda: nn.RMSNorm(d, eps=1e-5, elementwise_affine=has_weight),
        "batch_norm": lambda: nn.BatchNorm1d(d, affine=has_weight),
        "instance_norm": lambda: nn.InstanceNorm1d(d, affine=has_weight),
        "group_norm": lambda: nn.GroupNorm(groups, d, affine=has_weight),
        "everything": lambda: nn.LayerNorm(x.shape, elementwise_affine=has_weight),
    }[axis]().double()
    with torch.no_grad():
        for name, values in (("weight", weight), ("bias", bias)):
            if values is not None:
                getattr(module, name).copy_(torch.tensor(values))
        v = torch.tensor(x)
        if axis in ("layer_norm", "rms_norm", "everything"):
            return np.asarray(module(v))
        return np.asarray(module(v.transpose(1, 2)).transpose(1, 2))


def is_refused_by_torch(axis: str, shape: tuple[int, ...], groups: int) -> bool:
    """Whether torch finds one value per statistic too few (for one value LayerNorm gives 0)."""
    batch, tokens, d = shape
    count = {"batch_norm": batch * tokens, "instance_norm": tokens, "group_norm": batch * tokens * d // groups}
    return count.get(axis, 2) < 2


def pooled(axis: str, x: np.ndarray, groups: int) -> torch.Tensor:
    """The cells of each statistic as a row, in reading order of the statistics."""
    batch, tokens, d = x.shape
    v = torch.tensor(x)
    return {
        "layer_norm": lambda: v.reshape(-1, d),
        "rms_norm": lambda: v.reshape(-1, d),
        "batch_norm": lambda: v.reshape(-1, d).T,
        "instance_norm": lambda: v.transpose(1, 2).reshape(batch * d, tokens),
        "group_norm": lambda: v.reshape(batch, tokens, groups, -1).transpose(1, 2).reshape(batch * groups, -1),
        "everything": lambda: v.reshape(1, -1),
    }[axis]()


@given(SIZES, SEEDS, st.sampled_from(AXES), st.data())
def test_every_axis_is_torchs(sizes: tuple[int, int, int], seed: int, axis: str, data: Any) -> None:
    x = np.random.default_rng(seed).normal(1, 2, sizes)
    groups = data.draw(st.sampled_from([n for n in range(1, sizes[2] + 1) if sizes[2] % n == 0]))
    if axis == "batch_norm" and sizes[:2] == (1, 1):
        return
    weight, bias = parameters(axis, sizes, seed)
    trace = normalize_grid(x, axis, groups=groups, weight=weight, bias=bias)
    rows = pooled(axis, x, groups)
    assert trace.count.tolist() == [rows.shape[1]] * rows.shape[0]
    np.testing.assert_allclose(trace.rms, rows.square().mean(1).sqrt(), rtol=1e-12)
    if trace.mean is not None and trace.var is not None:
        var, mean = torch.var_mean(rows, 1, correction=0)
        np.testing.assert_allclose(trace.mean, mean, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(trace.var, var, rtol=1e-11, atol=1e-13)
    if not is_refused_by_torch(axis, sizes, groups):
        np.testing.assert_allclose(trace.normalized, in_torch(axis, x, groups), rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(trace.output, in_torch(axis, x, groups, weight, bias), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(
    ("axis", "groups", "n", "count"),
    [
        ("layer_norm", 1, B * T, D),
        ("rms_norm", 1, B * T, D),
        ("batch_norm", 1, D, B * T),
        ("instance_norm", 1, B * D, T),
        ("group_norm", 3, B * 3, T * D // 3),
        ("group_norm", 1, B, T * D),
        ("everything", 1, 1, B * T * D),
    ],
)
def test_how_many_statistics_there_are_and_over_how_many_cells(axis: str, groups: int, n: int, count: int) -> None:
    trace = normalize_grid(grid(), axis, groups=groups)
    assert trace.n_statistics == n
    assert trace.count.tolist() == [count] * n
    assert (np.unique(trace.group) == np.arange(n)).all()
    weight, bias = parameters(axis, (B, T, D), 0)
    assert trace.parameter_shape == weight.shape
    assert trace.bias_shape == (None if bias is None else bias.shape)
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
        ("everything", ...),
    ],
)
def test_a_cell_knows_who_shares_its_statistic(axis: str, shared: Any) -> None:
    x, w = grid(), np.arange(1.0, D + 1)
    trace = normalize_grid(x, axis, groups=2, weight=np.tile(w, (B, T, 1)) if axis == "everything" else w)
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
    weight, bias = parameters(axis, (B, T, D), 1)
    trace = normalize_grid(grid(), axis, mask=pad_mask(B, T, (4, 3, 2)), weight=weight, bias=bias)
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
        expected = in_torch(axis, x[b : b + 1, :length], 2)[0]
        np.testing.assert_allclose(output[b, :length], expected, rtol=1e-10, atol=1e-12)
        assert not output[b, length:].any()


def test_a_sequence_of_pads_alone_leaves_no_gap_in_the_numbering() -> None:
    trace = normalize_grid(grid(), "instance_norm", mask=[[1] * T, [0] * T, [1] * T])
    assert trace.n_statistics == 2 * D
    assert np.unique(trace.group).tolist() == [-1, *range(2 * D)]


@given(
    st.tuples(st.integers(1, 4), st.integers(2, 4), st.sampled_from([2, 4, 6])),
    SEEDS,
    st.sampled_from(AXES),
)
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


@st.composite
def masks(draw: Any, least: int = 1) -> np.ndarray:
    """A mask [B, T] with pads anywhere."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)).filter(lambda sizes: sizes[0] * sizes[1] >= least))
    mask = draw(arrays(np.bool_, shape))
    mask.flat[draw(st.permutations(range(mask.size)))[:least]] = True
    return mask


@given(masks(least=2), st.integers(1, 6), SEEDS)
def test_masked_batch_norm_is_batch_norm_of_the_unpadded_tokens(mask: np.ndarray, d: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(1, 2, (*mask.shape, d))
    weight, bias = parameters("batch_norm", x.shape, seed)
    trace = normalize_grid(x, "batch_norm", weight=weight, bias=bias, mask=mask)
    unpadded = normalize_grid(x[mask][None], "batch_norm", weight=weight, bias=bias)
    np.testing.assert_array_equal(trace.output[mask], unpadded.output[0])
    for name in ("count", "mean", "var", "rms"):
        np.testing.assert_array_equal(getattr(trace, name), getattr(unpadded, name))
    expected = in_torch("batch_norm", x[mask][None], 1, weight, bias)[0]
    np.testing.assert_allclose(trace.output[mask], expected, rtol=1e-12, atol=1e-12)


@given(masks(least=2), st.sampled_from([2, 4, 6]), st.sampled_from(AXES))
def test_statistics_are_numbered_in_reading_order_without_a_gap(mask: np.ndarray, d: int, axis: str) -> None:
    trace = normalize_grid(sample_grid(*mask.shape, d, seed=0), axis, groups=2, mask=mask)
    numbers, first = np.unique(trace.group[mask].ravel(), return_index=True)
    np.testing.assert_array_equal(numbers, np.arange(trace.n_statistics))
    assert (np.diff(first) > 0).all()
    assert (trace.group[~mask] == -1).all()


@given(masks(least=2), st.sampled_from(AXES), st.floats(-1e6, 1e6), st.sampled_from([2, 6]))
def test_equal_cells_deviate_by_exactly_zero(mask: np.ndarray, axis: str, value: float, d: int) -> None:
    if axis == "rms_norm":
        return
    trace = normalize_grid(np.full((*mask.shape, d), value), axis, groups=2, eps=1e-12, mask=mask)
    assert trace.mean is not None
    assert trace.var is not None
    assert not trace.normalized.any()
    assert not trace.var.any()
    assert (trace.mean == value).all()


def test_equal_cells_are_zero_with_eps_and_refused_without() -> None:
    x = np.full((2, 7, 2), 0.1)
    assert not normalize_grid(x, "instance_norm", eps=1e-12).normalized.any()
    with pytest.raises(InputError, match="all 7 cells that share a statistic are equal"):
        normalize_grid(x, "instance_norm", eps=0)


def test_a_grid_of_a_million_cells_is_normalized_as_by_torch() -> None:
    x = np.random.default_rng(3).normal(1, 2, (8, 1024, 128))
    for axis in AXES:
        np.testing.assert_allclose(
            normalize_grid(x, axis, groups=8).output, in_torch(axis, x, 8), rtol=1e-9, atol=1e-11
        )


def test_a_grid_cannot_be_changed() -> None:
    trace = normalize_grid(grid(), "layer_norm", weight=np.ones(D), bias=np.ones(D), mask=np.ones((B, T), dtype=bool))
    fields = ("x", "weight", "bias", "mask", "group", "count", "mean", "var", "rms", "normalized", "output")
    for array in [*(getattr(trace, field) for field in fields), cell(trace, 0, 0, 0).members]:
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
        (
            lambda: normalize_grid(grid(), "everything", weight=np.ones(D)),
            "weight has one number per cell when all cells share one statistic, shape [3, 4, 6]; got shape [6]",
        ),
        (
            lambda: normalize_grid(np.ones((1, 1, 1)), "everything", eps=0),
            "a statistic is taken over a single cell",
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
        (
            lambda: normalize_grid(grid(), "layer_norm", mask=[[True], [True, False]]),
            "mask is an array of numbers whose rows are equally long",
        ),
        (lambda: normalize_grid(1e-170 * grid(), "rms_norm", eps=0), "below which float64 loses digits"),
        (lambda: normalize_grid(1e-170 * grid(), "layer_norm", eps=0), "below which float64 loses digits"),
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
