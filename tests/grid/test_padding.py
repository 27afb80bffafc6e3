"""Which tokens are pads, how far do they move the others, and is the bias that of the closed form?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.grid import (
    AXES,
    PADS,
    Batch,
    batch,
    moved,
    normalize_grid,
    pad_lengths,
    pad_mask,
    padding_bias,
    padding_shift,
    sample_grid,
    sentences_batch,
    synthetic_batch,
)

B, T, D = 3, 4, 6
SEEDS = st.integers(0, 2**31 - 1)


def grid() -> np.ndarray:
    return np.random.default_rng(0).normal(1, 2, (B, T, D))


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
    w = np.tile(w, (B, T, 1)) if axis == "everything" else w
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


@st.composite
def batches(draw: Any, *, kinds: tuple[str, ...] = PADS, rows: int = 1) -> Batch:
    """A batch of at least two real tokens in at least so many rows."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=rows, max_size=4).filter(lambda lengths: sum(lengths) > 1))
    d, seed = draw(st.integers(1, 5)), draw(SEEDS)
    rng = np.random.default_rng(seed)
    return batch(
        [rng.normal(0.8, 1.3, (length, d)) for length in lengths], pads=draw(st.sampled_from(kinds)), seed=seed
    )


def batch_norm_in_torch(x: np.ndarray) -> np.ndarray:
    """BatchNorm in training over all tokens of [..., d]."""
    rows = torch.tensor(x.reshape(-1, x.shape[-1]))
    return np.asarray(F.batch_norm(rows, None, None, training=True, eps=1e-5)).reshape(x.shape)


@given(batches(rows=2), st.data())
def test_another_sentences_length_moves_batch_norm_and_leaves_layer_norm(state: Batch, data: Any) -> None:
    row = data.draw(st.integers(0, len(state.lengths) - 1))
    change = data.draw(st.integers(1 - state.lengths[row], 5))
    result = moved(state, row, change)
    others = state.mask.copy()
    others[row] = False
    assert (result.before, result.row) == (state, row)
    for shift in result.shift.values():
        np.testing.assert_array_equal(np.isnan(shift), ~others)
        assert shift.shape == state.mask.shape
    assert (result.shift["layer_norm"][others] == 0).all()

    shared = min(state.x.shape[1], result.after.x.shape[1])
    counted = [batch_norm_in_torch(each.x)[:, :shared] for each in (state, result.after)]
    masked = []
    for each in (state, result.after):
        output = np.zeros(each.x.shape)
        output[each.mask] = batch_norm_in_torch(each.x[each.mask])
        masked.append(output[:, :shared])
    for name, (before, after) in (("batch_norm", counted), ("masked", masked)):
        amount = np.abs(after - before).max(axis=2)[others[:, :shared]]
        np.testing.assert_allclose(result.shift[name][others], amount, rtol=1e-9, atol=1e-10)


def test_more_zero_pads_move_batch_norm_and_not_masked_batch_norm() -> None:
    # Saying +1, -1 once more changes neither the mean nor the variance of the real tokens, only the number of pads.
    state = batch([np.ones((2, 1)) * [[1.0], [-1.0]], np.array([[1.0], [-1.0]])])
    shift = moved(state, 0, 4).shift
    assert (shift["masked"][1] < 1e-15).all()
    assert (shift["batch_norm"][1] > 0.2).all()


@given(batches(kinds=("zero", "embedding")), st.data())
def test_the_bias_of_constant_pads_is_the_closed_form(state: Batch, data: Any) -> None:
    check_bias(state, data.draw(st.integers(0, state.x.shape[2] - 1)), 1e-12)


@given(batches(kinds=("garbage",)), st.data())
def test_the_bias_of_garbage_is_the_closed_form(state: Batch, data: Any) -> None:
    check_bias(state, data.draw(st.integers(0, state.x.shape[2] - 1)), 1e-9)


def check_bias(state: Batch, channel: int, tolerance: float) -> None:
    bias = padding_bias(state, channel)
    for name in ("mean", "var", "shift", "stretch"):
        law, measured = getattr(bias, f"{name}_law"), getattr(bias, name)
        np.testing.assert_allclose(measured, law, rtol=tolerance, atol=tolerance)
    assert (bias.channel, bias.share[0]) == (channel, 0)
    assert (np.diff(bias.share) > 0).all()
    assert bias.share[-1] >= 0.85
    # At the batch's own share it is what BatchNorm does to this batch.
    np.testing.assert_allclose(bias.share[bias.current], state.pad_share, rtol=1e-12)
    own = normalize_grid(state.x, "batch_norm")
    assert own.mean is not None
    assert own.var is not None
    real = own.output[state.mask][:, channel]
    for measured, expected in (
        (bias.mean, own.mean[channel]),
        (bias.var, own.var[channel]),
        (bias.shift, real.mean()),
        (bias.stretch, real.std()),
    ):
        np.testing.assert_allclose(measured[bias.current], expected, rtol=1e-9, atol=1e-9)


def at_share(bias: Any, name: str, share: float) -> float:
    at = int(np.argmin(np.abs(bias.share - share)))
    np.testing.assert_allclose(bias.share[at], share, atol=1e-4)
    return float(getattr(bias, name)[at])


def test_the_bias_of_a_population_is_that_of_the_facts() -> None:
    # Mean 0.8, variance 1.3, three pads in ten tokens, all of them 0.
    tokens = np.random.default_rng(0).normal(0.8, np.sqrt(1.3), (70_000, 1))
    bias = padding_bias(batch([tokens]), 0)
    np.testing.assert_allclose(at_share(bias, "mean", 0.3), 0.56, rtol=0.02)
    np.testing.assert_allclose(at_share(bias, "var", 0.3), 1.0444, rtol=0.02)
    # Mean 0: the real tokens are inflated.
    bias = padding_bias(batch([np.random.default_rng(1).normal(0, 3, (70_000, 1))]), 0)
    for share, inflation in ((0.1, 1.054), (0.3, 1.195), (0.5, 1.414), (0.75, 2.0)):
        np.testing.assert_allclose(1 / np.sqrt(1 - share), inflation, rtol=1e-3)
        np.testing.assert_allclose(at_share(bias, "stretch", share), inflation, rtol=0.05)


def test_a_batch_of_one_token_has_no_bias_to_show() -> None:
    with pytest.raises(InputError, match="BatchNorm takes its statistics over at least 2 real tokens"):
        padding_bias(sentences_batch("one", 4), 0)


def test_what_is_computed_of_a_batch_cannot_be_changed() -> None:
    state = synthetic_batch("independent", 3, 4, 2, padded=True)
    bias = padding_bias(state, 1)
    for array in [bias.share, bias.mean, bias.stretch_law, *moved(state, 0, 1).shift.values()]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sample_grid(0, 1, 1, seed=0), "batch is a whole number, 1 or more; got 0"),
        (lambda: sample_grid(1, 1, 1, seed=2**31), "seed is a whole number from 0 to 2147483647; got 2147483648"),
        (lambda: pad_mask(2, 3, [3]), "lengths has one number per sequence, 2 in all; got 1"),
        (lambda: pad_mask(2, 3, [3, 4]), "lengths is a whole number from 1 to 3; got 4"),
        (lambda: pad_mask(2, 3, 3), "lengths is a list of whole numbers, one per sequence; got 3"),  # type: ignore[arg-type]
        (lambda: pad_mask(2**40, 2**40, [1]), "batch x tokens multiply to at most 10000000 cells"),
        (lambda: pad_lengths(10**12, 1), "batch x tokens multiply to at most 10000000 cells; got 1000000000000 x 1"),
        (lambda: sample_grid(10**9, 10**9, 10**9, seed=0), "batch x tokens x d multiply to at most 10000000 cells"),
        (lambda: pad_mask(2, True, [1, 1]), "tokens is a whole number, 1 or more; got True"),
        (
            lambda: padding_bias(synthetic_batch("independent", 2, 2, 3), 3),
            "channel is a whole number from 0 to 2; got 3",
        ),
        (lambda: moved(synthetic_batch("independent", 2, 2, 3), 2, 1), "row is a whole number from 0 to 1; got 2"),
        (lambda: moved(synthetic_batch("independent", 2, 2, 3), 0, -2), "change is a whole number from -1 to"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
