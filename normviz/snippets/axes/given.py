"""What was given to the axes lab, for its scripts to start from?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as shown
from types import MappingProxyType

from normviz.arrays import Floats
from normviz.errors import InputError
from normviz.grid import (
    Batch,
    batch,
    moved,
    normalize_grid,
    padding_bias,
    pairs,
    sample_grid,
    sentences_batch,
    synthetic_batch,
)
from normviz.norms import layer_norm, rms_norm
from normviz.snippets.given import refusal
from normviz.streams import Population, token_outputs
from normviz.vectors import random_weight

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "grid": "Which cells of a [B, T, d] grid share a statistic, and what are those statistics?",
        "padding": "What does one sentence's length do to the outputs of the others?",
        "batches": "How far do BatchNorm's statistics scatter from batch to batch?",
        "running": "What does BatchNorm carry from batch to batch, and what does it use at inference?",
        "power": "PowerNorm beside BatchNorm and LayerNorm on one stream of batches.",
        "tokens": "Which two tokens does a norm make equal?",
    }
)
"""View -> the first line of its script."""

SOURCES = ("words", "synthetic", "file")
"""Where the grid comes from."""

SHOWN = (8, 32, 64)
"""Sequences, tokens and channels of a file that are shown at most."""


@dataclass(frozen=True, kw_only=True)
class AxesGiven:
    """The knobs of the axes lab, as far as its scripts need them.

    Attributes
    ----------
    view
        The part of the lab: a key of `TITLES`.
    source
        Where the grid of the views "grid", "padding" and "tokens" comes from, one of `SOURCES`.
    text
        The sentences, one a line, for "words".
    batch, tokens, d
        Sizes of the grid: of the part that is shown, for "file"; `d` alone counts for "words". In the view "batches",
        `batch` is how many sequences there are in the batches that one token is put into.
    seed
        Of the embeddings, the numbers, the pads' garbage, or the stream.
    pads
        What stands on pads, one of `normviz.grid.PADS`.
    kind, rho, padded
        One of `normviz.grid.SYNTHETIC`, its correlation, and whether its later sequences are shorter.
    file, window
        Name of the .npy file, and where the shown part starts: (sequence, token, channel), from 0.
    norm, groups, masked, cell
        One of `normviz.grid.AXES`, groups of channels (a divisor of d), whether pads are left out of the statistics,
        and the selected cell (sequence, token, channel), from 0.
    row, change, channel
        The sentence that gets `change` tokens more, and the channel whose bias is measured; from 0.
    population, seq, correlation, z
        One of `normviz.streams.POPULATIONS`, tokens per sequence, its correlation, and the value of the fixed token.
    stream, n, momentum, drift, fed, training
        One of `normviz.streams.STREAMS`, tokens per batch, PyTorch's momentum, drift per batch, how many batches are
        fed, and whether the outputs are those of training.
    alpha
        PowerNorm's share of the old.
    word, scale, shift
        The token of sentence `row` that the view "tokens" looks at, what it is multiplied by, and what is added.
    p_seed
        Seed of the weight in that view; None is a weight of ones.
    eps
        Added inside the roots.
    """

    view: str
    source: str = "synthetic"
    text: str = ""
    batch: int = 2
    tokens: int = 3
    d: int = 4
    seed: int = 0
    pads: str = "zero"
    kind: str = "independent"
    rho: float = 0.5
    padded: bool = False
    file: str = "x.npy"
    window: tuple[int, int, int] = (0, 0, 0)
    norm: str = "layer_norm"
    groups: int = 1
    masked: bool = False
    cell: tuple[int, int, int] = (0, 0, 0)
    row: int = 0
    change: int = 1
    channel: int = 0
    population: str = "independent"
    seq: int = 16
    correlation: float = 0.0
    z: float = 1.5
    stream: str = "steady"
    n: int = 64
    momentum: float = 0.1
    drift: float = 0.0
    fed: int = 10
    training: bool = True
    alpha: float = 0.9
    word: int = 0
    scale: float = 2.0
    shift: float = 0.0
    p_seed: int | None = None
    eps: float = 1e-5

    def __post_init__(self) -> None:
        for field, value, allowed in (("view", self.view, TITLES), ("source", self.source, SOURCES)):
            if value not in allowed:
                raise InputError(
                    "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(allowed), got=shown(value)
                )

    @cached_property
    def made(self) -> Batch:
        """The grid; of a file, which is not here, other numbers of the same shape."""
        if self.source == "words":
            return sentences_batch(self.text, self.d, seed=self.seed, pads=self.pads)
        sizes = self.batch, self.tokens, self.d
        if self.source == "file":
            return batch(list(sample_grid(*sizes, seed=0)), pads=self.pads, seed=self.seed)
        return synthetic_batch(self.kind, *sizes, seed=self.seed, rho=self.rho, padded=self.padded, pads=self.pads)

    @property
    def ragged(self) -> bool:
        """Whether the grid has pads."""
        return not self.made.mask.all()

    @property
    def hides(self) -> bool:
        """Whether there are pads that are left out of the statistics."""
        return self.masked and self.ragged

    @property
    def on_a_pad(self) -> bool:
        """Whether the selected cell is on a pad."""
        return not self.made.mask[self.cell[:2]]

    @property
    def no_norm(self) -> str | None:
        """Why the grid has no output of the norm, or None."""
        mask = self.made.mask if self.hides else None
        return refusal(lambda: normalize_grid(self.made.x, self.norm, groups=self.groups, eps=self.eps, mask=mask))

    @property
    def no_change(self) -> str | None:
        """Why the sentence cannot get so much longer or shorter, or None."""
        return refusal(lambda: moved(self.made, self.row, self.change, eps=self.eps))

    @property
    def no_bias(self) -> str | None:
        """Why there is no bias of pads to measure, or None."""
        return refusal(lambda: padding_bias(self.made, self.channel, eps=self.eps))

    @property
    def no_outputs(self) -> str | None:
        """Why one token has no outputs in batches of that size, or None."""
        population = Population(kind=self.population, tokens=self.seq, correlation=self.correlation)
        return refusal(lambda: token_outputs(population, self.batch, z=self.z, repeats=2))

    @property
    def weight(self) -> Floats | None:
        """The gain of the view "tokens"."""
        return None if self.p_seed is None else random_weight(self.d, self.p_seed)

    @cached_property
    def undefined(self) -> Mapping[str, str]:
        """Norm -> why it has no value for the token of the view "tokens", or for that at the other scale and offset."""
        token = self.made.x[self.row, self.word]
        both = token, self.scale * token + self.shift
        reasons = {
            "layer_norm": refusal(lambda: [layer_norm(x, eps=self.eps) for x in both]),
            "rms_norm": refusal(lambda: [rms_norm(x, eps=self.eps) for x in both]),
        }
        return {name: reason for name, reason in reasons.items() if reason is not None}

    @property
    def no_pairs(self) -> str | None:
        """Why there are no distances of pairs, or None."""
        return refusal(lambda: pairs(self.made, weight=self.weight, eps=self.eps))
