"""How much do BatchNorm's statistics, and the output of one token, vary from batch to batch, and does theory agree?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats, frozen, whole_number
from normviz.streams.laws import mean_factor, mean_spread, output_spread, var_spread
from normviz.streams.limits import LARGEST_SEED, number_within
from normviz.streams.population import LARGEST_COUNT, Population, draw

TOO_FEW = "Expected more than 1 value per channel when training, got input size torch.Size([1, {d}])"
"""What PyTorch's BatchNorm1d says to a batch of one token with d channels in training."""

MOST_REPEATS = 10_000
LARGEST_Z = 10.0
# 2 MB of float64, so that a block and what is computed from it stay in the processor's cache.
BLOCK = 2**18


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    r"""Spread of a channel's statistics and of one token's output over many batches, measured and by theory.

    Attributes
    ----------
    population, z, repeats
        What was drawn, the token's value, and how many batches each spread was measured on.
    batches, counts
        Sequences B and tokens $N=BT$ of a batch, int64 [n], rising by factors of 2; N is from 2 to 2048.
    mean_sd, var_sd, output_sd
        Standard deviation over the repeats of the batch's mean, of its biased variance, and of the token's output,
        shape [n].
    mean_law, var_law, output_law
        The same by `mean_spread`, `var_spread` (both exact) and `output_spread` (for large batches), shape [n].
    independent_law
        $1/\sqrt N$, what the mean of N independent tokens would have, shape [n].
    effective
        $N/f$, how many independent tokens the batch is worth for the mean, shape [n].
    """

    population: Population
    z: float
    repeats: int
    batches: NDArray[np.int64]
    counts: NDArray[np.int64]
    mean_sd: Floats
    var_sd: Floats
    output_sd: Floats
    mean_law: Floats
    var_law: Floats
    output_law: Floats
    independent_law: Floats
    effective: Floats


def estimates(population: Population, *, z: float = 1.5, repeats: int = 1000, seed: int = 0) -> Estimates:
    r"""Spread of the mean, the variance and one token's output against the number of tokens $N=BT$.

    Each repeat draws one batch of 2048 tokens (less, if T does not divide it) and looks at its first 1, 2, 4, ...
    sequences. Every such part is itself a batch of whole sequences drawn from the population, independent of the other
    repeats, so that each N has its own unbiased estimate from all repeats; those of different N share tokens and
    are therefore not independent of each other. The token with value z takes the place of a batch's first token, as
    BatchNorm in training counts a token among those that it is compared with; its output is
    $(z-\hat\mu)/\hat\sigma_b$ at eps 0, never beyond $\pm\sqrt{N-1}$.

    Parameters
    ----------
    population
        What to draw from.
    z
        The token's value, -10 to 10, in standard deviations of the population.
    repeats
        Batches for each N, 2 to 10,000.
    seed
        From 0 to 2**31 - 1.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    z = number_within(z, "z", -LARGEST_Z, LARGEST_Z)
    powers = 2 ** np.arange(LARGEST_COUNT.bit_length())
    batches = powers[(powers * population.tokens >= 2) & (powers * population.tokens <= LARGEST_COUNT)]
    counts = batches * population.tokens
    parts = []
    for x in _blocks(population, repeats, seed):
        mean, mean_square = _moments(x, batches)
        parts.append(np.stack([mean, mean_square - mean**2, _outputs(x, batches, z)]))
    mean_sd, var_sd, output_sd = np.concatenate(parts, axis=1).std(axis=1, ddof=1)
    return Estimates(
        population=population,
        z=z,
        repeats=repeats,
        batches=frozen(batches),
        counts=frozen(counts),
        mean_sd=frozen(mean_sd),
        var_sd=frozen(var_sd),
        output_sd=frozen(output_sd),
        mean_law=mean_spread(population, counts),
        var_law=var_spread(population, counts),
        output_law=output_spread(population, z, counts),
        independent_law=frozen(1 / np.sqrt(counts)),
        effective=frozen(counts / mean_factor(population)),
    )


def token_outputs(population: Population, batch: int, *, z: float = 1.5, repeats: int = 1000, seed: int = 0) -> Floats:
    """What BatchNorm makes of one token with value z in many batches of `batch` sequences, shape [repeats].

    The batches are those of `estimates` with the same seed, so that the standard deviation of these numbers is its
    `output_sd`.

    Parameters
    ----------
    population, z, repeats, seed
        As in `estimates`.
    batch
        Sequences B, at least 1, with 2 to 2048 tokens in all.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    z = number_within(z, "z", -LARGEST_Z, LARGEST_Z)
    fewest = 2 if population.tokens == 1 else 1
    batches = np.array([whole_number(batch, "batch", fewest, LARGEST_COUNT // population.tokens)])
    return frozen(np.concatenate([_outputs(x, batches, z)[:, 0] for x in _blocks(population, repeats, seed)]))


def _blocks(population: Population, repeats: int, seed: int) -> Iterator[Floats]:
    """The largest batch of each repeat, some repeats at a time, shape [block, B, T]."""
    repeats = whole_number(repeats, "repeats", 2, MOST_REPEATS)
    rng = np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED))
    largest = LARGEST_COUNT // population.tokens
    block = BLOCK // LARGEST_COUNT
    for start in range(0, repeats, block):
        size = min(block, repeats - start)
        yield draw(population, size * largest, rng).reshape(size, largest, population.tokens)


def _moments(x: Floats, batches: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Mean and mean square over the first sequences of each batch [r, B, T], both [r, n]."""
    counts = batches * x.shape[-1]
    total = x.sum(axis=-1).cumsum(axis=1)[:, batches - 1]
    square = np.einsum("rbt,rbt->rb", x, x).cumsum(axis=1)[:, batches - 1]
    return total / counts, square / counts


def _outputs(x: Floats, batches: NDArray[np.int64], z: float) -> Floats:
    """Output of the token z among the first sequences of each batch, [r, n]."""
    # Measured from z, so that no digit is lost where a batch of two lies close together.
    from_token = x - z
    from_token[:, 0, 0] = 0
    mean, mean_square = _moments(from_token, batches)
    return -mean / np.sqrt(mean_square - mean**2)
