"""At which layer of a model is a quantity looked at, and what is that place called?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from normviz.text import N_, Text

Array = npt.NDArray[np.float64]

PLACES: tuple[str, ...] = ("last", "middle", "first")
"""The layer next to the loss, layer ceil(L/2), and the layer next to the embedding."""

WHOLE: frozenset[str] = frozenset({"grad_all", "loss"})
"""Quantities with one value for a whole model."""

FROM_INPUT: frozenset[str] = frozenset({"residual_mean_square", "grad_residual", "second_mean_square"})
"""Quantities whose first value belongs to x_0, which enters the first layer."""

# What a line, and an entry of the legend, is called. They are drawn in this order, open markers on top of filled ones.
WHERE: Mapping[str, str] = MappingProxyType(
    {
        "last": N_("last layer"),
        "feed_forward": N_("feed-forward"),
        "middle": N_("middle layer"),
        "attention": N_("attention"),
        "first": N_("first layer"),
        "input": N_("input x_0"),
    }
)
_OF = MappingProxyType(
    {
        "last": N_("the last layer"),
        "middle": N_("the middle layer"),
        "first": N_("the first layer"),
        "input": N_("the input x_0"),
    }
)


def shown_places(quantity: str, where: Sequence[str]) -> tuple[str, ...]:
    """The asked places in their order, as keys of `WHERE`; one empty key for a quantity of the whole model."""
    if quantity in WHOLE:
        return ("",)
    return tuple(
        "input" if place == "first" and quantity in FROM_INPUT else place for place in PLACES if place in where
    )


def entry(place: str, layers: Array, depth: int) -> int:
    """Index of a place in the layer positions of a model with `depth` layers."""
    if place == "middle":
        return min(int(np.searchsorted(layers, -(-depth // 2))), layers.size - 1)
    return layers.size - 1 if place == "last" else 0


def of_places(places: Sequence[str], t: Text) -> str:
    """The places as words: "the last layer", "the last layer and the input x_0", …"""
    names = [t(_OF[place]) for place in places]
    if len(names) == 1:
        return names[0]
    if len(names) == 2:
        return t("{a} and {b}", a=names[0], b=names[1])
    return t("{a}, {b} and {c}", a=names[0], b=names[1], c=names[2])
