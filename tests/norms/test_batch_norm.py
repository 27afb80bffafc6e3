"""Does BatchNorm agree with torch over several batches, with and without pads?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from normviz.errors import InputError
from normviz.norms import RunningStats, batch_norm

B, T, D = 3, 4, 5


def batches(count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(2, 3, (count, B, T, D))


@pytest.mark.parametrize("momentum", [0.1, 0.0, 1.0, 0.37, None])
@pytest.mark.parametrize("affine", [False, True])
def test_output_and_running_statistics_are_torchs_batch_after_batch(momentum: float | None, affine: bool) -> None:
    module = nn.BatchNorm1d(D, momentum=momentum, affine=affine, dtype=torch.float64)
    w = b = None
    if affine:
        w, b = np.random.default_rng(1).normal(size=(2, D))
        module.load_state_dict(module.state_dict() | {"weight": torch.tensor(w), "bias": torch.tensor(b)})
    running = RunningStats.start(D)
    for x in batches(5):
        trace = batch_norm(x, w, b, running=running, momentum=momentum)
        assert trace.running is not None
        running = trace.running
        expected = module(torch.tensor(x.reshape(-1, D))).detach().reshape(x.shape)
        np.testing.assert_allclose(trace.output, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(running.mean, module.running_mean, rtol=1e-12)
        np.testing.assert_allclose(running.var, module.running_var, rtol=1e-12)
        assert running.steps == int(module.num_batches_tracked)

    module.eval()
    x = batches(6)[-1]
    trace = batch_norm(x, w, b, running=running, training=False)
    expected = module(torch.tensor(x.reshape(-1, D))).detach().reshape(x.shape)
    np.testing.assert_allclose(trace.output, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(trace.mean, running.mean)
    assert trace.running is running


def test_output_uses_the_biased_variance_and_the_running_one_the_unbiased() -> None:
    x = batches(1)[0]
    trace = batch_norm(x, eps=0, running=RunningStats.start(D), momentum=1.0)
    assert trace.running is not None
    np.testing.assert_allclose(trace.var, x.var(axis=(0, 1)), rtol=1e-13)
    np.testing.assert_allclose(trace.running.var, x.var(axis=(0, 1), ddof=1), rtol=1e-13)
    np.testing.assert_allclose(trace.output.std(axis=(0, 1)), 1, rtol=1e-13)
    np.testing.assert_allclose(trace.denominator, trace.std)


@pytest.mark.parametrize("mask_type", [np.bool_, np.int64])
def test_a_masked_batch_is_the_batch_of_its_real_tokens(mask_type: type) -> None:
    x = batches(1)[0]
    mask = np.arange(T) < np.array([4, 2, 1])[:, None]
    module = nn.BatchNorm1d(D, dtype=torch.float64)
    expected = module(torch.tensor(x[mask])).detach()
    trace = batch_norm(x, mask=mask.astype(mask_type), running=RunningStats.start(D))
    assert trace.running is not None
    np.testing.assert_allclose(trace.output[mask], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(trace.running.var, module.running_var, rtol=1e-12)
    for value in (trace.centered, trace.normalized, trace.output):
        assert value is not None
        assert not value[~mask].any()
    other = np.where(mask[..., None], x, 77.0)
    np.testing.assert_array_equal(batch_norm(other, mask=mask).output, trace.output)


def test_any_leading_shape_is_pooled() -> None:
    x = batches(2)
    np.testing.assert_array_equal(batch_norm(x).output.reshape(-1, D), batch_norm(x.reshape(-1, D)).output)


def test_without_running_statistics_none_are_returned() -> None:
    trace = batch_norm(batches(1)[0])
    assert trace.running is None
    assert trace.rms is None
    assert trace.mean is not None
    assert trace.mean.shape == (D,)


def test_inference_takes_a_single_token_and_an_empty_mask() -> None:
    running = RunningStats.start(D)
    x = batches(1)[0, :1, :1]
    np.testing.assert_allclose(batch_norm(x, eps=0, running=running, training=False).output, x)
    nothing = batch_norm(x, running=running, training=False, mask=[[False]])
    assert not nothing.output.any()


def test_running_statistics_start_as_torchs_and_cannot_be_changed() -> None:
    start, module = RunningStats.start(D), nn.BatchNorm1d(D)
    np.testing.assert_array_equal(start.mean, module.running_mean)
    np.testing.assert_array_equal(start.var, module.running_var)
    assert start.steps == int(module.num_batches_tracked)
    with pytest.raises(ValueError, match="read-only"):
        start.mean[0] = 1


def test_a_constant_channel_is_zero_with_eps_and_refused_without() -> None:
    x = batches(1)[0]
    x[..., 2] = 0.1
    assert not batch_norm(x).output[..., 2].any()
    with pytest.raises(InputError, match="BatchNorm of channel 2 is undefined at eps = 0"):
        batch_norm(x, eps=0)


GRID = np.arange(6.0).reshape(1, 2, 3) ** 2


@pytest.mark.parametrize(
    ("x", "more", "sentence"),
    [
        (
            GRID[:, :1],
            {},
            "needs at least 2 real tokens, because the variance of a channel over one token says nothing; got 1",
        ),
        (GRID, {"mask": [[True, False]]}, "got 1. Use a larger batch"),
        (GRID, {"mask": [[False, False]]}, "got 0. Use a larger batch"),
        (GRID[0, 0], {}, "x for BatchNorm has tokens and channels, shape [B, T, d]; got shape [3]"),
        (GRID, {"mask": [True, True]}, "mask has one entry per token, shape [1, 2]; got shape [2]"),
        (
            GRID,
            {"mask": [[0.5, 1.0]]},
            "mask holds True for real tokens and False for pads; got entries of type float64",
        ),
        (GRID, {"mask": [[2, 1]]}, "False (or 0) for pads; got 2"),
        (GRID, {"momentum": 1.5}, "momentum is a share from 0 to 1 of the new batch; got 1.5"),
        (GRID, {"mask": [[True, False], [True]]}, "mask is an array of numbers whose rows are equally long"),
        (GRID, {"momentum": True}, "momentum is one finite number; got True"),
        (GRID, {"running": (np.zeros(3), np.ones(3))}, "running is a RunningStats or None; got (array"),
        (GRID, {"momentum": "fast"}, "momentum is one finite number; got 'fast'"),
        (GRID, {"training": False}, "running holds the statistics to use when training is False; got None"),
        (GRID, {"running": RunningStats.start(2)}, "running.mean has one number per channel, shape [3]; got shape [2]"),
        (GRID, {"weight": [1, 2]}, "weight has one number per channel, shape [3]; got shape [2]"),
        (GRID, {"eps": -1}, "eps is 0 or a positive number"),
        (GRID * float("nan"), {}, "x[0, 0, 0] is NaN"),
    ],
)
def test_every_refusal_has_its_sentence(x: np.ndarray, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        batch_norm(x, **more)
    assert sentence in str(caught.value)


def test_torch_refuses_a_single_token_in_training_too() -> None:
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        nn.BatchNorm1d(3)(torch.ones(1, 3))


def test_running_statistics_are_read_only_copies_of_lists_and_arrays() -> None:
    mean = np.zeros(2)
    for given in (mean, [0, 0], (0.0, 0.0)):
        running = RunningStats(mean=given, var=[1, 2], steps=np.int64(3))  # type: ignore[arg-type]
        assert (running.mean.dtype, running.var.dtype, type(running.steps)) == (np.float64, np.float64, int)
        for array in (running.mean, running.var):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    mean[0] = 7
    assert RunningStats(mean=mean, var=[1, 2], steps=0).mean is not mean  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"var": [1, -1, 1]}, "running.var holds variances, which are 0 or positive; got -1"),
        ({"var": [1, 1]}, "running.var has one number per channel, shape [3]; got shape [2]"),
        ({"var": [1, 1, 1e301]}, "running.var holds numbers up to 4e+300 in size"),
        ({"var": None}, "running.var holds real numbers"),
        ({"mean": 0.0}, "running.mean has one number per channel, shape [d] with d >= 1; got shape []"),
        ({"mean": [0, 0, float("nan")]}, "running.mean[2] is NaN"),
        ({"steps": -1}, "running.steps is a whole number, 0 or more; got -1"),
        ({"steps": None}, "running.steps is a whole number, 0 or more; got None"),
    ],
)
def test_running_statistics_are_checked_when_they_are_made(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        RunningStats(**{"mean": [0, 0, 0], "var": [1, 1, 1], "steps": 1, **fields})
    assert sentence in str(caught.value)


@pytest.mark.parametrize("momentum", [1.0, 0.1, None])
def test_its_own_running_statistics_are_taken_at_the_largest_entries(momentum: float | None) -> None:
    x = np.array([[1e150, 1e150], [-1e150, 1e150]])
    running = RunningStats.start(2)
    for _ in range(4):
        updated = batch_norm(x, running=running, momentum=momentum).running
        assert updated is not None
        running = updated
    assert np.isfinite(batch_norm(x, running=running, training=False).output).all()


def test_an_output_beyond_float64_is_refused() -> None:
    running = RunningStats(mean=np.zeros(1), var=np.zeros(1), steps=1)
    with pytest.raises(InputError, match=r"The output is above 1.8e308"):
        batch_norm([[1e150]], [1e150], running=running, training=False, eps=1e-200)


def test_squares_below_float64_are_not_called_a_constant_channel() -> None:
    with pytest.raises(InputError, match="below which float64 loses digits"):
        batch_norm([[1e-170], [2e-170]], eps=0)
