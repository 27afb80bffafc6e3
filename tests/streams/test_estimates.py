"""Do measured spreads follow the laws, and is a token's output that of torch's BatchNorm on the drawn batch?"""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz.errors import InputError
from normviz.streams import POPULATIONS, TOO_FEW, Population, estimates, sequences, token_outputs

CASES = [
    ("independent", 1, 0.0),
    ("independent", 64, 0.0),
    ("equal", 8, 0.1),
    ("equal", 64, 0.5),
    ("chain", 16, 0.5),
    ("chain", 128, 0.9),
    ("heavy", 8, 0.0),
]
ENOUGH = 10_000
"""Repeats with which a spread is known to about 1 %."""


@pytest.mark.parametrize(("kind", "tokens", "correlation"), CASES)
def test_mean_and_variance_spread_within_5_percent_of_the_laws(kind: str, tokens: int, correlation: float) -> None:
    population = Population(kind=kind, tokens=tokens, correlation=correlation)
    got = estimates(population, repeats=ENOUGH)
    np.testing.assert_allclose(got.mean_sd, got.mean_law, rtol=0.05)
    # The variance of a few Laplace tokens spreads so wildly that 10,000 repeats do not tell how much.
    known = got.counts >= (64 if kind == "heavy" else 2)
    np.testing.assert_allclose(got.var_sd[known], got.var_law[known], rtol=0.05)


@pytest.mark.parametrize("z", [-1.0, 0.0, 1.5])
@pytest.mark.parametrize(
    ("kind", "tokens", "correlation"),
    [("independent", 8, 0.0), ("heavy", 8, 0.0), ("equal", 8, 0.2), ("chain", 8, 0.5)],
)
def test_output_spreads_within_5_percent_of_the_law(kind: str, tokens: int, correlation: float, z: float) -> None:
    got = estimates(Population(kind=kind, tokens=tokens, correlation=correlation), z=z, repeats=ENOUGH)
    large = got.effective >= 64
    assert large.any()
    np.testing.assert_allclose(got.output_sd[large], got.output_law[large], rtol=0.05)


def test_the_measured_output_noise_is_that_of_facts() -> None:
    got = estimates(Population(kind="independent", tokens=64), z=1.5, repeats=ENOUGH)
    measured = {int(n): sd for n, sd in zip(got.counts, got.output_sd, strict=True)}
    for count, facts in {64: 0.179, 256: 0.0908, 1024: 0.0453}.items():
        assert measured[count] == pytest.approx(facts, rel=0.03)


@given(st.integers(1, 2048))
@settings(max_examples=30, deadline=None)
def test_batches_are_powers_of_two_with_2_to_2048_tokens(tokens: int) -> None:
    got = estimates(Population(kind="independent", tokens=tokens), repeats=2)
    assert got.counts.tolist() == [2**k * tokens for k in range(12) if 2 <= 2**k * tokens <= 2048]
    assert (got.counts == got.batches * tokens).all()
    np.testing.assert_allclose(got.independent_law, got.counts**-0.5)
    np.testing.assert_allclose(got.effective * got.mean_law**2, 1)


@given(st.sampled_from(POPULATIONS), st.integers(1, 40), st.data())
@settings(max_examples=20, deadline=None)
def test_the_output_is_torchs_on_the_drawn_batch_with_the_token_in_it(kind: str, tokens: int, data: Any) -> None:
    population, repeats, z = Population(kind=kind, tokens=tokens, correlation=0.4), 3, 1.25
    batch = data.draw(st.integers(2 if tokens == 1 else 1, 2048 // tokens))
    got = token_outputs(population, batch, z=z, repeats=repeats, seed=9)
    largest = 2048 // tokens
    drawn = sequences(population, repeats * largest, seed=9).reshape(repeats, largest, tokens)[:, :batch].copy()
    drawn[:, 0, 0] = z
    norm = nn.BatchNorm1d(1, eps=1e-30, affine=False, dtype=torch.float64)  # torch refuses 0
    expected = [float(norm(torch.tensor(x.reshape(-1, 1)))[0, 0]) for x in drawn]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", POPULATIONS)
def test_the_spreads_are_those_of_the_batches_that_token_outputs_shows(kind: str) -> None:
    # 300 repeats are drawn in more than one block.
    population = Population(kind=kind, tokens=12, correlation=0.4)
    got = estimates(population, z=0.5, repeats=300, seed=3)
    for batch, sd in zip(got.batches, got.output_sd, strict=True):
        outputs = token_outputs(population, int(batch), z=0.5, repeats=300, seed=3)
        np.testing.assert_allclose(outputs.std(ddof=1), sd, rtol=1e-12)


def test_the_spreads_are_those_of_the_drawn_statistics() -> None:
    population = Population(kind="chain", tokens=8, correlation=0.4)
    got = estimates(population, repeats=50, seed=4)
    drawn = sequences(population, 50 * 256, seed=4).reshape(50, 256, 8)
    for i, batch in enumerate(got.batches):
        flat = drawn[:, :batch].reshape(50, -1)
        np.testing.assert_allclose(got.mean_sd[i], flat.mean(axis=1).std(ddof=1), rtol=1e-12)
        np.testing.assert_allclose(got.var_sd[i], flat.var(axis=1).std(ddof=1), rtol=1e-12)


@given(st.sampled_from(POPULATIONS), st.integers(1, 8), st.integers(2, 64), st.floats(-10, 10), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_no_output_is_beyond_the_root_of_n_minus_1(kind: str, tokens: int, batch: int, z: float, seed: int) -> None:
    population = Population(kind=kind, tokens=tokens, correlation=0.9)
    outputs = token_outputs(population, batch, z=z, repeats=20, seed=seed)
    assert np.abs(outputs).max() <= np.sqrt(batch * tokens - 1) * (1 + 1e-9)


@pytest.mark.parametrize("kind", POPULATIONS)
def test_a_thousand_repeats_fit_in_64_megabytes(kind: str) -> None:
    tracemalloc.start()
    try:
        estimates(Population(kind=kind, tokens=64, correlation=0.5))
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("d", [1, 4, 768])
def test_the_quoted_error_is_torchs(d: int) -> None:
    with pytest.raises(ValueError, match="more than 1 value") as caught:
        nn.BatchNorm1d(d)(torch.ones(1, d))
    assert str(caught.value) == TOO_FEW.format(d=d)


ONE = Population(kind="independent", tokens=1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Population(kind="cauchy", tokens=4),
            "kind is one of independent, heavy, equal, chain; got 'cauchy'.",
        ),
        (lambda: Population(kind="equal", tokens=0), "tokens is a whole number from 1 to 2048; got 0"),
        (lambda: Population(kind="equal", tokens=2.5), "tokens is a whole number from 1 to 2048; got 2.5"),  # type: ignore[arg-type]
        (
            lambda: Population(kind="equal", tokens=4, correlation=1),
            "correlation is a number from 0 to 0.99; got 1.",
        ),
        (
            lambda: Population(kind="equal", tokens=4, correlation=float("nan")),
            "correlation is one finite number; got nan",
        ),
        (lambda: sequences(ONE, 0, seed=0), "count is a whole number from 1 to 10000000; got 0"),
        (lambda: sequences(ONE, 10**7 + 1, seed=0), "count is a whole number from 1 to 10000000"),
        (lambda: sequences(ONE, 1, seed=-1), "seed is a whole number from 0 to 2147483647; got -1"),
        (lambda: estimates(ONE, z=11), "z is a number from -10 to 10; got 11."),
        (lambda: estimates(ONE, z="far"), "z is one finite number; got 'far'"),  # type: ignore[arg-type]
        (lambda: estimates(ONE, repeats=1), "repeats is a whole number from 2 to 10000; got 1"),
        (lambda: estimates(ONE, seed=2**31), "seed is a whole number from 0 to 2147483647"),
        (lambda: token_outputs(ONE, 1), "batch is a whole number from 2 to 2048; got 1"),
        (
            lambda: token_outputs(Population(kind="heavy", tokens=64), 33),
            "batch is a whole number from 1 to 32; got 33",
        ),
    ],
)
def test_every_refusal_names_the_field(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
