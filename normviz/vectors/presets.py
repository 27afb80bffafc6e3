"""Which vectors are worth a first look, and what is there to see in each?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, frozen, whole_number
from normviz.text import N_

LARGEST_VECTOR = 1_000_000
"""How many numbers a drawn vector or one from a file has at most."""

_LARGEST_SEED = 2**31 - 1  # a larger one may lose digits on the way through a browser
_DRAWN = 4  # of a million numbers each, 32 MiB

MASSIVE: tuple[tuple[float, float], ...] = ((0.35, 600.0), (0.62, -250.0), (0.81, 120.0))
"""Where `hidden_state` has its massive channels, as a share of the width, and what they hold where the others have a
standard deviation of 1. The sizes are made up; that they are few, huge and always in the same places is not."""


@dataclass(frozen=True, kw_only=True)
class VectorPreset:
    """A vector to start from.

    Attributes
    ----------
    id
        The identifier in links.
    label, sentence
        The name on screen, and one sentence that says what to look at (English messages).
    x
        What the text field shows; None where the numbers are drawn.
    source
        "typed" (the numbers are in `x`), "random" (`random_vector` draws them) or "hidden" (`hidden_state` does).
    d, seed
        How many numbers it has, and the seed of those that are drawn (0 for typed ones).
    eps
        What the eps field shows, where the sentence needs it; None leaves that field as it is.
    """

    id: str
    label: str
    sentence: str
    x: str | None
    source: str
    d: int
    seed: int
    eps: str | None


def _typed(name: str, label: str, sentence: str, x: str, eps: str | None = None) -> VectorPreset:
    return VectorPreset(
        id=name, label=label, sentence=sentence, x=x, source="typed", d=x.count(",") + 1, seed=0, eps=eps
    )


def _drawn(name: str, label: str, sentence: str, source: str, d: int) -> VectorPreset:
    return VectorPreset(id=name, label=label, sentence=sentence, x=None, source=source, d=d, seed=0, eps=None)


VECTORS: Mapping[str, VectorPreset] = MappingProxyType(
    {
        entry.id: entry
        for entry in (
            _typed(
                "chapter",
                N_("The chapter's vector"),
                N_("Look at the mean, 2.5: LayerNorm takes it away before it divides, RMSNorm leaves it in."),
                "1, 2, 3, 4",
            ),
            _typed(
                "zero_mean",
                N_("Zero mean"),
                N_("The mean is already 0, so LayerNorm has nothing to take away and equals RMSNorm."),
                "-3, -1, 1, 3",
            ),
            _typed(
                "constant",
                N_("All entries alike"),
                N_("A constant vector is nothing but its mean: LayerNorm gives 0, RMSNorm gives 1 everywhere."),
                "3, 3, 3, 3",
                "1e-5",
            ),
            _typed(
                "negative",
                N_("The chapter's negative"),
                N_("Every sign is turned over, and every sign of both outputs turns over with it."),
                "-1, -2, -3, -4",
            ),
            _typed(
                "constant_negative",
                N_("All entries alike, negative"),
                N_("LayerNorm still gives 0, while RMSNorm keeps the sign: -1 everywhere."),
                "-3, -3, -3, -3",
                "1e-5",
            ),
            _typed(
                "outlier",
                N_("One outlier channel"),
                N_(
                    "The fourth entry alone sets what is divided by, so the other seven end close together: look how "
                    "little is left of their differences."
                ),
                "0.5, -1, 0.8, 60, -0.3, 1.2, -0.7, 0.2",
            ),
            _typed(
                "two",
                N_("Two entries"),
                N_("Of two different numbers LayerNorm keeps only which is larger: it always gives -1 and 1."),
                "2, 5",
            ),
            _typed(
                "one",
                N_("A single number"),
                N_("RMSNorm keeps only the sign; LayerNorm gives 0, because one number is its own mean."),
                "-5",
                "1e-5",
            ),
            _drawn(
                "hidden",
                N_("Hidden state (synthetic)"),
                N_(
                    "Three of 1024 channels are massive, as in large language models: look how near 0 all others end "
                    "after either norm."
                ),
                "hidden",
                1024,
            ),
            _drawn(
                "random",
                N_("64 random numbers"),
                N_("The mean of many random numbers is near 0, so LayerNorm and RMSNorm nearly agree."),
                "random",
                64,
            ),
            _drawn(
                "million",
                N_("A million random numbers"),
                N_("The wider the vector, the nearer its mean is to 0: here the two histograms cannot be told apart."),
                "random",
                LARGEST_VECTOR,
            ),
        )
    }
)


def random_vector(d: int, seed: int) -> Floats:
    """Random numbers from the standard normal distribution, the same for the same d and seed.

    Parameters
    ----------
    d
        How many, 1 to 1,000,000.
    seed
        A whole number from 0 to 2**31 - 1.

    Returns
    -------
    read-only array of float64, shape [d]

    Raises
    ------
    InputError
        If d or the seed is out of its range.
    """
    return _normal(whole_number(d, "d", 1, LARGEST_VECTOR), whole_number(seed, "seed", 0, _LARGEST_SEED))


def hidden_state(d: int, seed: int) -> Floats:
    """A made-up hidden state: `random_vector`, with a few massive channels whose places and sizes are always the same.

    It is synthetic. In trained language models a few activations are up to 100,000 times larger than the others, in a
    few fixed channels and with nearly the same value whatever the input; `MASSIVE` imitates that.

    Parameters
    ----------
    d
        The width, 1 to 1,000,000; below 5 the massive channels fall together, and the last of `MASSIVE` stays.
    seed
        A whole number from 0 to 2**31 - 1; it draws the other channels.

    Returns
    -------
    read-only array of float64, shape [d]

    Raises
    ------
    InputError
        If d or the seed is out of its range.

    References
    ----------
    Sun et al. 2024, Massive Activations in Large Language Models, arXiv:2402.17762.
    """
    state = random_vector(d, seed).copy()
    for place, size in MASSIVE:
        state[int(place * state.size)] = size
    return frozen(state)


@lru_cache(maxsize=_DRAWN)
def _normal(d: int, seed: int) -> Floats:
    return frozen(np.random.default_rng(seed).standard_normal(d))
