"""Are the laws of a batch's spread those of the closed forms, of matrices and of FACTS section 4.1?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.streams import (
    POPULATIONS,
    Population,
    kurtosis,
    mean_factor,
    mean_spread,
    output_spread,
    sequences,
    var_factor,
    var_spread,
)

NORMAL = ("independent", "equal", "chain")
CORRELATIONS = st.floats(0, 0.99)


def correlation_matrix(population: Population, batch: int) -> np.ndarray:
    """Correlations of all tokens of a batch, [B*T, B*T]."""
    position = np.arange(population.tokens)
    apart = np.abs(position[:, None] - position)
    one = {
        "independent": np.eye(population.tokens),
        "heavy": np.eye(population.tokens),
        "equal": np.where(apart == 0, 1.0, population.correlation),
        "chain": population.correlation ** apart.astype(float),
    }[population.kind]
    return np.kron(np.eye(batch), one)


@given(st.sampled_from(POPULATIONS), st.integers(1, 12), st.integers(1, 4), CORRELATIONS)
def test_variance_of_the_mean_is_the_mean_of_the_correlation_matrix(
    kind: str, tokens: int, batch: int, rho: float
) -> None:
    population = Population(kind=kind, tokens=tokens, correlation=rho)
    matrix = correlation_matrix(population, batch)
    np.testing.assert_allclose(mean_spread(population, np.array([batch * tokens]))[0] ** 2, matrix.mean(), rtol=1e-12)
    np.testing.assert_allclose(mean_factor(population), matrix.sum() / (batch * tokens), rtol=1e-12)
    np.testing.assert_allclose(var_factor(population), (matrix**2).sum() / (batch * tokens), rtol=1e-12)


@given(st.sampled_from(NORMAL), st.integers(1, 12), st.integers(1, 4), CORRELATIONS)
def test_variance_of_a_normal_variance_is_that_of_a_quadratic_form(
    kind: str, tokens: int, batch: int, rho: float
) -> None:
    # Var(x'Ax) = 2 tr(A S A S) for normal x with covariance S; the biased variance is A = (1 - 11'/N) / N.
    population, count = Population(kind=kind, tokens=tokens, correlation=rho), batch * tokens
    form = (np.eye(count) - 1 / count) / count @ correlation_matrix(population, batch)
    np.testing.assert_allclose(
        var_spread(population, np.array([count]))[0] ** 2, 2 * np.trace(form @ form), rtol=1e-9, atol=1e-12
    )


@given(st.integers(2, 10_000))
def test_variance_of_a_heavy_variance_is_the_textbooks(count: int) -> None:
    # Var of the unbiased variance = (mu_4 - (N-3)/(N-1)) / N; the biased one is (N-1)/N times that variance.
    expected = (6 - (count - 3) / (count - 1)) / count * ((count - 1) / count) ** 2
    heavy = Population(kind="heavy", tokens=1)
    np.testing.assert_allclose(var_spread(heavy, np.array([count]))[0] ** 2, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["independent", "heavy", "equal", "chain"])
def test_the_spread_of_the_variance_tends_to_the_large_batch_law(kind: str) -> None:
    population, count = Population(kind=kind, tokens=16, correlation=0.4), 16 * 10_000
    law = (kurtosis(population) - 1) * var_factor(population) / count
    np.testing.assert_allclose(var_spread(population, np.array([count]))[0] ** 2, law, rtol=1e-3)


def test_the_factors_are_those_of_facts() -> None:
    equal = [Population(kind="equal", tokens=64, correlation=rho) for rho in (0.1, 0.5)]
    assert [round(mean_factor(population), 9) for population in equal] == [7.3, 32.5]
    assert [round(var_factor(population), 9) for population in equal] == [1 + 63 * 0.01, 1 + 63 * 0.25]
    chain = [Population(kind="chain", tokens=128, correlation=phi) for phi in (0.5, 0.9)]
    assert [float(f"{mean_factor(population):.3g}") for population in chain] == [2.97, 17.6]
    for phi in (0.5, 0.9):
        long = mean_factor(Population(kind="chain", tokens=2048, correlation=phi))
        assert long == pytest.approx((1 + phi) / (1 - phi), rel=0.01)
    assert kurtosis(Population(kind="heavy", tokens=1)) - 1 == 5


def test_the_output_noise_is_that_of_facts() -> None:
    independent = Population(kind="independent", tokens=64)
    law = output_spread(independent, 1.5, np.array([64, 256, 1024]))
    assert [float(f"{value:.3g}") for value in law] == [0.182, 0.0911, 0.0456]
    for z in (-2.0, 0.0, 3.0):
        np.testing.assert_allclose(output_spread(independent, z, np.array([50])), np.sqrt((1 + z**2 / 2) / 50))


@pytest.mark.parametrize("kind", POPULATIONS)
def test_a_population_has_mean_0_variance_1_and_its_kurtosis(kind: str) -> None:
    population = Population(kind=kind, tokens=4, correlation=0.6)
    x = sequences(population, 400_000, seed=1)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.01)
    np.testing.assert_allclose(x.var(axis=0), 1, atol=0.02)
    np.testing.assert_allclose((x**4).mean(axis=0), kurtosis(population), rtol=0.05)
    np.testing.assert_allclose(np.corrcoef(x, rowvar=False), correlation_matrix(population, 1), atol=0.01)


@pytest.mark.parametrize("kind", POPULATIONS)
def test_a_seed_gives_the_same_sequences_and_they_cannot_be_changed(kind: str) -> None:
    population = Population(kind=kind, tokens=5, correlation=0.3)
    x = sequences(population, 3, seed=7)
    assert x.shape == (3, 5)
    np.testing.assert_array_equal(x, sequences(population, 3, seed=7))
    assert (x != sequences(population, 3, seed=8)).all()
    with pytest.raises(ValueError, match="read-only"):
        x[0, 0] = 1
