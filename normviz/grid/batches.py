"""How do sequences of unequal length become one grid, and what stands on its pads?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import Floats, finite_array, frozen, whole_number, within_range
from normviz.errors import InputError
from normviz.grid.padding import LARGEST_GRID, LARGEST_SEED, grid_sizes, pad_mask

PADS: tuple[str, ...] = ("zero", "embedding", "garbage")
"""Ids of what stands on the pads, in the order in which a page shows them."""

PAD = "<pad>"
"""The word whose embedding stands on every pad when `pads` is "embedding"."""

GARBAGE_STD = 10
"""Standard deviation of the garbage on pads: ten times that of an embedding, so that it is seen."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Sequences of unequal length, padded on the right to one grid; arrays are read-only.

    Attributes
    ----------
    x
        The grid, shape [B, T, d] with T the longest length; pads hold what `pads` says.
    mask
        Shape [B, T], True for real tokens.
    words
        The word of each real token, a tuple per sequence; None where the tokens are only numbers.
    pads
        One of `PADS`.
    seed
        Of the pads' contents and, where the tokens have words, of their embeddings.
    """

    x: Floats
    mask: NDArray[np.bool_]
    words: tuple[tuple[str, ...], ...] | None
    pads: str
    seed: int

    @property
    def lengths(self) -> tuple[int, ...]:
        """Real tokens per sequence."""
        return tuple(self.mask.sum(axis=1).tolist())

    @property
    def pad_share(self) -> float:
        """Share of the tokens that are pads, from 0 to below 1."""
        return float(1 - self.mask.mean())

    @property
    def sequences(self) -> tuple[Floats, ...]:
        """The real tokens of each sequence, shape [length, d]."""
        return tuple(row[:length] for row, length in zip(self.x, self.lengths, strict=True))


def batch(
    sequences: Sequence[ArrayLike],
    *,
    words: Sequence[Sequence[str]] | None = None,
    pads: str = "zero",
    seed: int = 0,
) -> Batch:
    """Pad sequences on the right to one grid [B, T, d].

    Parameters
    ----------
    sequences
        B arrays of shape [length, d], each with at least one token and all with the same d; B*T*d up to 10 million.
    words
        The word of each token, as many per sequence as it has tokens.
    pads
        What stands on the pads: "zero"; "embedding", the embedding of "<pad>" on each; "garbage", numbers with mean 0
        and standard deviation 10, one decimal, that stay the same when another sequence gets longer.
    seed
        From 0 to 2**31 - 1.

    Raises
    ------
    InputError
        If an argument is out of its range; if a sequence has no token or another d; if the words do not fit the tokens.
    """
    if pads not in PADS:
        raise InputError("pads is one of {allowed}; got {value!r}.", allowed=", ".join(PADS), value=pads)
    whole_number(seed, "seed", 0, LARGEST_SEED)
    rows = [_sequence(sequence, f"sequences[{row}]") for row, sequence in enumerate(sequences)]
    if not rows:
        raise InputError("A batch has at least one sequence; got none.")
    lengths, d = [len(row) for row in rows], rows[0].shape[1]
    for number, row in enumerate(rows):
        if row.shape[1] != d:
            raise InputError(
                "All sequences have the same number of channels, {d} as sequences[0]; sequences[{number}] has {got}.",
                d=d,
                number=number,
                got=row.shape[1],
            )
    named = None if words is None else tuple(tuple(row) for row in words)
    if named is not None and (counts := [len(row) for row in named]) != lengths:
        raise InputError(
            "words has one word per token, {lengths} in all; got {counts}.", lengths=lengths, counts=counts
        )
    grid_sizes(batch=len(rows), tokens=max(lengths), d=d)
    x = np.stack([pad_values(pads, number, max(lengths), d, seed) for number in range(len(rows))])
    for filled, row in zip(x, rows, strict=True):
        filled[: len(row)] = row
    return Batch(x=frozen(x), mask=pad_mask(len(rows), max(lengths), lengths), words=named, pads=pads, seed=seed)


def embedding(word: str, d: int, seed: int) -> Floats:
    """The vector that stands for a word: d standard normal numbers with one decimal, the same wherever the word stands.

    Parameters
    ----------
    word
        Upper and lower case differ.
    d
        Channels, at least 1.
    seed
        From 0 to 2**31 - 1; another seed gives another vocabulary.

    Raises
    ------
    InputError
        If d or the seed is out of its range.
    """
    whole_number(d, "d", 1, LARGEST_GRID)
    whole_number(seed, "seed", 0, LARGEST_SEED)
    draw = np.random.default_rng([seed, *word.encode()]).standard_normal(d)
    # Adding 0 turns the -0.0 that rounding leaves into 0.0.
    return frozen(draw.round(1) + 0.0)


def pad_values(pads: str, row: int, count: int, d: int, seed: int) -> Floats:
    """What stands on `count` pads of one row of a grid, shape [count, d]; fewer pads are the first of more."""
    if pads == "zero":
        return np.zeros((count, d))
    if pads == "embedding":
        return np.tile(embedding(PAD, d, seed), (count, 1))
    # To NumPy [seed, 0] is seed, which is what example grids are drawn with.
    draw = np.random.default_rng([seed, row + 1]).standard_normal((count, d))
    return (GARBAGE_STD * draw).round(1) + 0.0


def _sequence(sequence: ArrayLike, field: str) -> Floats:
    array = within_range(finite_array(sequence, field), field)
    if array.shape[:1] == (0,):
        raise InputError(
            "{field} has at least one token; got none, and pads alone leave nothing to take a statistic over.",
            field=field,
        )
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            "{field} is one vector per token, shape [length, d] with d >= 1; got shape {shape}.",
            field=field,
            shape=list(array.shape),
        )
    return array
