"""Is PowerNorm that of its definition, and are its gradients those of autograd where they should be?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.streams import PowerState, power_norm, power_norm_backward, power_norm_v

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
SEEDS = st.integers(0, 2**31 - 1)
D = 3


def drawn(shape: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x and the gradient from above [..., d], weight and bias [d]."""
    rng = np.random.default_rng(seed)
    d = shape[-1]
    return (rng.normal(1, 2, shape), rng.normal(0.3, 1, shape), rng.normal(size=d), rng.normal(size=d))


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, x.shape[-1])


@given(SHAPES, SEEDS, st.floats(0, 1))
def test_a_batch_is_divided_by_the_state_before_it(shape: tuple[int, ...], seed: int, alpha: float) -> None:
    x, _, w, b = drawn(shape, seed)
    state, square = PowerState.start(shape[-1]), np.ones(shape[-1])
    for step in range(3):
        trace = power_norm(x + step, w, b, state=state, alpha=alpha, eps=0.1)
        close(trace.used, np.sqrt(square + 0.1))
        close(trace.normalized, (x + step) / np.sqrt(square + 0.1))
        close(trace.output, w * trace.normalized + b)
        of_batch = (flat(x + step) ** 2).mean(axis=0)
        square = square + (1 - alpha) * (of_batch - square)
        state = trace.state
        close(trace.batch_square, of_batch)
        close(state.square, square)
        assert state.steps == step + 1
        assert not state.nu.any()


@given(SHAPES, SEEDS, st.booleans())
def test_the_exact_gradient_is_autograds(shape: tuple[int, ...], seed: int, has_weight: bool) -> None:
    x, g, w, _ = drawn(shape, seed)
    v = torch.tensor(x, requires_grad=True)
    gain = torch.tensor(w) if has_weight else torch.ones(shape[-1], dtype=torch.float64)
    y = v / torch.sqrt((v.reshape(-1, shape[-1]) ** 2).mean(dim=0) + 0.1) * gain
    y.backward(torch.tensor(g))
    output, gradient = power_norm_v(x, g, w if has_weight else None, eps=0.1)
    close(output, y.detach())
    close(gradient, v.grad)


@given(SHAPES, SEEDS)
def test_without_nu_the_gradient_is_autograds_at_a_fixed_state(shape: tuple[int, ...], seed: int) -> None:
    x, g, w, b = drawn(shape, seed)
    state = PowerState(square=np.abs(w) + 0.5, nu=np.zeros(shape[-1]), steps=3)
    trace = power_norm(x, w, b, state=state, eps=0.1)
    v, gain, shift = (torch.tensor(value, requires_grad=True) for value in (x, w, b))
    (v / torch.sqrt(torch.tensor(state.square.copy()) + 0.1) * gain + shift).backward(torch.tensor(g))
    got = power_norm_backward(trace, g, np.zeros(shape[-1]))
    close(got.x, v.grad)
    close(got.weight, gain.grad)
    close(got.bias, shift.grad)


@given(SHAPES, SEEDS, st.floats(0, 1))
def test_backward_is_the_papers(shape: tuple[int, ...], seed: int, alpha: float) -> None:
    x, g, w, nu = drawn(shape, seed)
    trace = power_norm(x, w, state=PowerState(square=np.abs(nu) + 0.5, nu=nu, steps=1), alpha=alpha)
    got = power_norm_backward(trace, g, nu, alpha=alpha)
    psi = np.sqrt(np.abs(nu) + 0.5 + 1e-5)
    close(got.x, (w * g - nu * x / psi) / psi)
    gamma, lambda_ = flat((x / psi) ** 2).mean(axis=0), flat(w * g * x / psi).mean(axis=0)
    close(got.nu, nu * (1 - (1 - alpha) * gamma) + (1 - alpha) * lambda_)


@given(SHAPES, SEEDS)
def test_the_fixed_point_gives_exactly_the_gradient_of_the_batch(shape: tuple[int, ...], seed: int) -> None:
    x, g, w, _ = drawn(shape, seed)
    square = (flat(x) ** 2).mean(axis=0)
    trace = power_norm(x, w, state=PowerState(square=square, nu=np.zeros(shape[-1]), steps=1), eps=0)
    fixed = flat(w * g * trace.normalized).mean(axis=0) / flat(trace.normalized**2).mean(axis=0)
    got, exact = power_norm_backward(trace, g, fixed), power_norm_v(x, g, w, eps=0)[1]
    np.testing.assert_allclose(got.x, exact, rtol=1e-12, atol=1e-12 * np.abs(exact).max())
    close(got.nu, fixed)
    close(trace.state.square, square)


def test_the_same_batch_again_and_again_leads_to_the_fixed_point() -> None:
    x, g, w, _ = drawn((4, 5, D))
    state = PowerState.start(D)
    for _ in range(400):
        trace = power_norm(x, w, state=state, eps=0)
        back = power_norm_backward(trace, g, state.nu)
        state = PowerState(square=trace.state.square, nu=back.nu, steps=trace.state.steps)
    output, exact = power_norm_v(x, g, w, eps=0)
    close(trace.output, output)
    close(back.x, exact)


@given(SEEDS)
def test_a_masked_batch_is_the_batch_of_its_real_tokens(seed: int) -> None:
    x, g, w, b = drawn((3, 4, D), seed)
    mask = np.arange(4) < np.array([4, 2, 1])[:, None]
    nu, state = np.array([0.5, -1.0, 2.0]), PowerState(square=np.array([2.0, 3.0, 0.5]), nu=np.zeros(D), steps=1)
    trace = power_norm(x, w, b, state=state, mask=mask)
    alone = power_norm(x[mask], w, b, state=state)
    got, expected = power_norm_backward(trace, g, nu), power_norm_backward(alone, g[mask], nu)
    for padded, real in ((trace.normalized, alone.normalized), (trace.output, alone.output), (got.x, expected.x)):
        np.testing.assert_array_equal(padded[mask], real)
        assert not padded[~mask].any()
    for padded, real in (
        (trace.batch_square, alone.batch_square),
        (trace.state.square, alone.state.square),
        (got.weight, expected.weight),
        (got.bias, expected.bias),
        (got.nu, expected.nu),
    ):
        close(padded, real)


def test_gradients_of_what_the_forward_pass_left_out_are_none() -> None:
    x, g, _, _ = drawn((5, D))
    back = power_norm_backward(power_norm(x), g, np.zeros(D))
    assert back.weight is None
    assert back.bias is None


def test_a_state_is_a_read_only_copy() -> None:
    square = np.ones(2)
    state = PowerState(square=square, nu=[0, 1], steps=1)  # type: ignore[arg-type]
    square[0] = 7
    assert state.square.tolist() == [1, 1]
    for array in (state.square, state.nu):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_largest_entries_are_taken() -> None:
    state = PowerState.start(1)
    for _ in range(4):
        state = power_norm([[1e150], [-1e150]], state=state).state
    assert np.isfinite(state.square).all()


X, G, _, _ = drawn((2, D))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: power_norm(X, [1, 2]), "weight has one number per channel, shape [3]; got shape [2]"),
        (lambda: power_norm(X, alpha=1.1), "alpha is a number from 0 to 1; got 1.1."),
        (lambda: power_norm(X, eps=-1), "eps is 0 or a positive number"),
        (lambda: power_norm(X, state=0.9), "state is a PowerState or None; got 0.9."),  # type: ignore[arg-type]
        (
            lambda: power_norm(X, state=PowerState.start(2)),
            "state.square has one number per channel, shape [3]; got shape [2]",
        ),
        (lambda: power_norm(X, mask=[False, False]), "over at least 1 real token; got none."),
        (lambda: power_norm(X, mask=[True]), "mask has one entry per token, shape [2]; got shape [1]"),
        (lambda: power_norm(np.ones((0, 3))), "over at least 1 real token; got none."),
        (
            lambda: power_norm(X, state=PowerState(square=np.zeros(3), nu=np.zeros(3), steps=0), eps=0),
            "the variance or mean square of x plus eps is at least",
        ),
        (
            lambda: power_norm(
                [[1e150]], [1e150], state=PowerState(square=np.zeros(1), nu=np.zeros(1), steps=0), eps=1e-200
            ),
            "The output is above 1.8e308",
        ),
        (
            lambda: power_norm_backward(power_norm(X), G[:1], np.zeros(3)),
            "gradient has the shape of x, [2, 3]; got shape [1, 3].",
        ),
        (lambda: power_norm_backward(power_norm(X), G, [0, 0]), "nu has one number per channel, shape [3]"),
        (
            lambda: power_norm_backward(power_norm(X), G, np.zeros(3), alpha=-1),
            "alpha is a number from 0 to 1; got -1.",
        ),
        (
            lambda: power_norm_backward(power_norm(X * 1e150 / 9), G, np.full(3, 1e150)),
            "The gradient is above 1.8e308",
        ),
        (lambda: power_norm_v(X, G * np.inf, eps=1e-5), "gradient holds finite numbers; gradient[0, 0] is infinite"),
        (lambda: power_norm_v(X * 0, G, eps=0), "the variance or mean square of x plus eps is at least"),
        (lambda: PowerState(square=[[1]], nu=[0], steps=0), "state.square has one number per channel, shape [d]"),  # type: ignore[arg-type]
        (lambda: PowerState(square=[-1], nu=[0], steps=0), "state.square holds mean squares, which are 0 or positive"),  # type: ignore[arg-type]
        (lambda: PowerState(square=[1], nu=[0, 1], steps=0), "state.nu has one number per channel, shape [1]"),  # type: ignore[arg-type]
        (lambda: PowerState(square=[1], nu=[0], steps=-1), "state.steps is a whole number, 0 or more; got -1"),  # type: ignore[arg-type]
    ],
)
def test_every_refusal_names_the_field(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
