"""How far do the mean, the variance and a token's output spread from batch to batch, by theory?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats, frozen
from normviz.streams.population import Population

NORMAL_KURTOSIS = 3.0
LAPLACE_KURTOSIS = 6.0

Counts = NDArray[np.int64]


def kurtosis(population: Population) -> float:
    r"""Kurtosis $\kappa=\mathbb E x^4$ of a token: 3 for the normal kinds, 6 for "heavy"."""
    return LAPLACE_KURTOSIS if population.kind == "heavy" else NORMAL_KURTOSIS


def mean_factor(population: Population) -> float:
    r"""How many times larger the variance of a batch's mean is than that of N independent tokens.

    $f=1+2\sum_{k=1}^{T-1}(1-\frac kT)\rho_k$ with the correlation $\rho_k$ of tokens k places apart, so that
    $\mathrm{Var}(\hat\mu)=f/N$: $1+(T-1)\rho$ for "equal", about $\frac{1+\phi}{1-\phi}$ for a long "chain". The batch
    is worth $N/f$ independent tokens.
    """
    return float(_row_sums(_correlations(population)).mean())


def var_factor(population: Population) -> float:
    r"""How many times larger the variance of a large batch's variance is than that of N independent tokens.

    $1+2\sum_{k=1}^{T-1}(1-\frac kT)\rho_k^2$: the squares of the correlations count, so that the variance suffers less
    than the mean.
    """
    return float(_row_sums(_correlations(population) ** 2).mean())


def mean_spread(population: Population, counts: Counts) -> Floats:
    r"""Standard deviation of the mean of a batch of N tokens, $\sqrt{f/N}$; exact at every N."""
    return _root(mean_factor(population) / counts)


def var_spread(population: Population, counts: Counts) -> Floats:
    r"""Standard deviation of the biased variance of a batch of N tokens; exact at every N.

    $\mathrm{Var}(\hat\sigma_b^2)=\frac2N\left(f_2-\frac2N\overline{r^2}+\frac{f^2}N\right)
    +(\kappa-3)\frac{(N-1)^2}{N^3}$ with $f$ = `mean_factor`, $f_2$ = `var_factor` and the row sums r of a sequence's
    correlation matrix. For independent normal tokens it is $2\frac{N-1}{N^2}$, and for a large batch
    $\frac{\kappa-1}Nf_2$.
    """
    rows = _row_sums(_correlations(population))
    share = 1 / counts
    normal = 2 * share * (var_factor(population) - 2 * share * (rows**2).mean() + share * rows.mean() ** 2)
    excess = share * (1 - share) ** 2 * (kurtosis(population) - NORMAL_KURTOSIS)
    return _root(normal + excess)


def output_spread(population: Population, z: float, counts: Counts) -> Floats:
    r"""Standard deviation of the output of a token that stands z standard deviations from the mean, in large batches.

    $\sqrt{\left(f+\frac{z^2}4(\kappa-1)f_2\right)/N}$, to first order in the noise of the two statistics:
    $\sqrt{(1+z^2/2)/N}$ for independent normal tokens.
    """
    noise = mean_factor(population) + z**2 / 4 * (kurtosis(population) - 1) * var_factor(population)
    return _root(noise / counts)


def _root(variance: NDArray[np.floating[Any]]) -> Floats:
    return frozen(np.sqrt(variance, dtype=np.float64))


def _correlations(population: Population) -> Floats:
    """Correlation of two tokens of a sequence that stand 0, 1, ... T - 1 places apart."""
    apart = np.arange(population.tokens)
    if population.kind == "chain":
        powers: Floats = np.power(population.correlation, apart, dtype=np.float64)
        return powers
    return np.where(apart == 0, 1.0, population.correlation if population.kind == "equal" else 0.0)


def _row_sums(correlations: Floats) -> Floats:
    """Sum of each row of a sequence's correlation matrix, whose entries depend on the distance alone."""
    before = np.cumsum(correlations)
    rows: Floats = before + before[::-1] - correlations[0]
    return rows
