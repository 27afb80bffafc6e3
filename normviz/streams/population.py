"""From which population are the tokens of a channel drawn, and how far do tokens of a sequence depend on each other?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from normviz.arrays import Floats, frozen, whole_number
from normviz.streams.limits import LARGEST_SEED, check_kind, number_within

POPULATIONS: tuple[str, ...] = ("independent", "heavy", "equal", "chain")
"""Ids of the populations, in the order in which a page shows them."""

LARGEST_COUNT = 2048
"""Tokens of the largest batch whose statistics are estimated."""
LARGEST_CORRELATION = 0.99
"""At 1 a sequence would be one number, said T times."""
LARGEST_DRAW = 10_000_000
"""Numbers drawn at once, 80 MB as float64."""


@dataclass(frozen=True, kw_only=True)
class Population:
    r"""One channel of sequences of T tokens; every token has mean 0 and variance 1.

    - "independent": normal, no token knows of another;
    - "heavy": Laplace, whose kurtosis is 6 where the normal has 3, and independent;
    - "equal": normal, any two tokens of a sequence have correlation $\rho$;
    - "chain": normal, AR(1): tokens k places apart in a sequence have correlation $\phi^k$.

    Different sequences are independent in all four.

    Attributes
    ----------
    kind
        One of `POPULATIONS`.
    tokens
        T, the tokens of a sequence, 1 to 2048.
    correlation
        $\rho$ of "equal" or $\phi$ of "chain", from 0 to 0.99; the other kinds do not use it.

    Raises
    ------
    InputError
        If a field is out of its range.
    """

    kind: str
    tokens: int
    correlation: float = 0.0

    def __post_init__(self) -> None:
        check_kind(self.kind, POPULATIONS)
        tokens = whole_number(self.tokens, "tokens", 1, LARGEST_COUNT)
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "correlation", number_within(self.correlation, "correlation", 0, LARGEST_CORRELATION))


def sequences(population: Population, count: int, *, seed: int) -> Floats:
    """Draw sequences of a population, shape [count, T].

    Parameters
    ----------
    population
        What to draw from.
    count
        How many sequences, at least 1, with up to 10 million tokens in all.
    seed
        From 0 to 2**31 - 1; the same seed gives the same sequences everywhere.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    count = whole_number(count, "count", 1, LARGEST_DRAW // population.tokens)
    return frozen(draw(population, count, np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED))))


def draw(population: Population, count: int, rng: np.random.Generator) -> Floats:
    """The next `count` sequences of a generator, shape [count, T]."""
    shape, correlation = (count, population.tokens), population.correlation
    if population.kind == "heavy":
        # A Laplace variable of scale b has variance 2 b^2.
        return rng.laplace(scale=np.sqrt(0.5), size=shape)
    if population.kind == "chain":
        # Tokens lead, so that each step of the recursion runs over neighbours in memory.
        x = rng.standard_normal(shape[::-1])
        x[1:] *= np.sqrt(1 - correlation**2)
        for before, now in pairwise(x):
            now += correlation * before
        return x.T
    x = rng.standard_normal(shape)
    if population.kind == "equal":
        x *= np.sqrt(1 - correlation)
        x += np.sqrt(correlation) * rng.standard_normal((count, 1))
    return x
