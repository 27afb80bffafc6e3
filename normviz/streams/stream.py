"""Which batches come one after another, and what is the true mean behind each of them?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from normviz.arrays import Floats, frozen, whole_number
from normviz.streams.limits import LARGEST_SEED, check_kind, number_within

STREAMS: tuple[str, ...] = ("steady", "drift", "mixture", "generation")
"""Ids of the streams, in the order in which a page shows them."""

MEANS = (1.5, -1.0, 3.0, 0.5)
STDS = (2.0, 0.5, 1.5, 3.0)
"""Of the channels, over and over; none is at the running statistics' start of mean 0 and variance 1."""
DOMAIN = 2.0
"""The two domains of "mixture" lie this far below and above `MEANS`."""
WARM = 50
"""Batches of training that "generation" has behind it."""

MOST_STEPS = 200
MOST_TOKENS = 4096
MOST_CHANNELS = 64
LARGEST_DRIFT = 10.0

# Second words of a seed, so that no two draws of a stream share their numbers.
_BATCH, _WARM, _SHARE, _GRADIENT = 1, 2, 3, 4


@dataclass(frozen=True, kw_only=True)
class Stream:
    r"""Batches of N normal tokens with d channels; channel c has mean `MEANS[c]` and standard deviation `STDS[c]`.

    - "steady": the population stays as it is;
    - "drift": all means move by v per batch;
    - "mixture": a token comes from one of two domains whose means are 2 lower and 2 higher, and the share of the second
      is drawn anew for each batch, evenly from 0 to 1;
    - "generation": training on `WARM` steady batches lies behind, and single tokens follow at inference.

    Attributes
    ----------
    kind
        One of `STREAMS`.
    tokens
        N, the tokens of a training batch, 2 to 4096.
    momentum
        $\alpha$ from 0 to 1, the share of the new batch in the running statistics, as in PyTorch.
    drift
        v per batch, from -10 to 10; used by "drift" alone.
    d
        Channels, 1 to 64.
    seed
        From 0 to 2**31 - 1.

    Raises
    ------
    InputError
        If a field is out of its range.
    """

    kind: str
    tokens: int
    momentum: float
    drift: float = 0.0
    d: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        check_kind(self.kind, STREAMS)
        checked = {
            "tokens": whole_number(self.tokens, "tokens", 2, MOST_TOKENS),
            "momentum": number_within(self.momentum, "momentum", 0, 1),
            "drift": number_within(self.drift, "drift", -LARGEST_DRIFT, LARGEST_DRIFT),
            "d": whole_number(self.d, "d", 1, MOST_CHANNELS),
            "seed": whole_number(self.seed, "seed", 0, LARGEST_SEED),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def means(self) -> Floats:
        """Mean of each channel before any drift, shape [d]."""
        return frozen(np.resize(MEANS, self.d))

    @property
    def stds(self) -> Floats:
        """Standard deviation of each channel (of each domain, for "mixture"), shape [d]."""
        return frozen(np.resize(STDS, self.d))


def batch_at(stream: Stream, step: int) -> Floats:
    """The batch of a step, shape [N, d]; one token, [1, d], for "generation".

    Raises
    ------
    InputError
        If `step` is not a whole number from 0.
    """
    step = whole_number(step, "step", 0)
    count = 1 if stream.kind == "generation" else stream.tokens
    rng = _rng(stream, _BATCH, step)
    tokens = stream.means + _drift(stream, step) + stream.stds * rng.standard_normal((count, stream.d))
    if stream.kind == "mixture":
        is_second = rng.random((count, 1)) < second_share(stream, step)
        tokens += np.where(is_second, DOMAIN, -DOMAIN)
    return frozen(tokens)


def warm_batch(stream: Stream, step: int) -> Floats:
    """The steady batch [N, d] of a step of the training that lies behind "generation", `step` from 0 to `WARM` - 1."""
    step = whole_number(step, "step", 0, WARM - 1)
    noise = _rng(stream, _WARM, step).standard_normal((stream.tokens, stream.d))
    return frozen(stream.means + stream.stds * noise)


def upstream_gradient(stream: Stream, step: int) -> Floats:
    """Standard normal numbers [N, d] that stand for the gradient that comes from above to the batch of a step."""
    return frozen(_rng(stream, _GRADIENT, whole_number(step, "step", 0)).standard_normal((stream.tokens, stream.d)))


def true_mean(stream: Stream, step: int) -> Floats:
    """Mean of the population from which the batch of a step is drawn, shape [d].

    Raises
    ------
    InputError
        If `step` is not a whole number from 0.
    """
    step = whole_number(step, "step", 0)
    mean = stream.means + _drift(stream, step)
    if stream.kind == "mixture":
        mean = mean + DOMAIN * (2 * second_share(stream, step) - 1)
    return frozen(mean)


def second_share(stream: Stream, step: int) -> float:
    """Probability with which a token of the batch of a step comes from the second domain of "mixture"."""
    return float(_rng(stream, _SHARE, step).random())


def _drift(stream: Stream, step: int) -> float:
    return stream.drift * step if stream.kind == "drift" else 0.0


def _rng(stream: Stream, purpose: int, step: int) -> np.random.Generator:
    return np.random.default_rng([stream.seed, purpose, step])
