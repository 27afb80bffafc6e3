"""What has the person given: a vector, where it comes from, weight, bias and eps?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import SMALLEST_SQUARE, centre, rms_divisor, std_divisor
from normviz.geometry import moved_in_plane
from normviz.norms import NormTrace, layer_norm, rms_norm
from normviz.text import Text
from normviz.ui.controls import attempt
from normviz.ui.table import LONGEST
from normviz.ui.vector.source import take

Array = NDArray[np.float64]

T = TypeVar("T")

NORMS_HERE = ("layer_norm", "rms_norm")
"""The norms of this lab."""

_DIGITS = 5
"""Digits of the largest entry to which a dragged vector is rounded, so that its link stays short."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """The input of every view.

    Attributes
    ----------
    x
        The vector, shape [d].
    origin
        ("random" or "hidden", d, seed) where x is drawn from a seed, else None.
    stored, offset
        The weight as a model stores it, shape [d] or None, and what is added to it: 0, or 1 in the 1 + w form.
    bias
        Shape [d] or None.
    eps
        Inside both roots.
    complaints
        What this run of the page has said, so that it is said once.
    """

    x: Array
    origin: tuple[str, int, int] | None
    stored: Array | None
    offset: float
    bias: Array | None
    eps: float
    complaints: set[str] = field(default_factory=set)

    @property
    def weight(self) -> Array | None:
        """What the normalized vector is multiplied by."""
        return None if self.stored is None else self.offset + self.stored

    def attempt(self, t: Text, compute: Callable[..., T], /, *args: Any, **options: Any) -> T | None:
        """The result of a computation, or None and the reason on the page, once, where the input has none."""
        return attempt(t, compute, *args, said=self.complaints, **options)

    def traces(self, t: Text) -> tuple[NormTrace | None, NormTrace | None]:
        """LayerNorm and RMSNorm of x; None, and the reason on the page, where one is undefined."""
        layer = self.attempt(t, layer_norm, self.x, weight=self.weight, bias=self.bias, eps=self.eps)
        rms = self.attempt(t, rms_norm, self.x, weight=self.weight, eps=self.eps)
        return layer, rms

    def defined(self, t: Text) -> tuple[str, ...]:
        """The norms that have a value for x, and the reason on the page for each that has none."""
        if self.eps >= SMALLEST_SQUARE:  # then both have, and a million entries need not be looked at
            return NORMS_HERE
        layer = self.attempt(t, lambda: std_divisor(*centre(self.x), self.eps))
        rms = self.attempt(t, lambda: rms_divisor(self.x, self.eps))
        return tuple(norm for norm, divisor in zip(NORMS_HERE, (layer, rms), strict=True) if divisor is not None)

    def dragged(self, told: Mapping[str, Any]) -> None:
        """Take over what the pad tells on release: all entries, or mean and standard deviation in the plane of x."""
        if "x" in told:
            take(np.array(told["x"], dtype=np.float64))
            return
        moved = moved_in_plane(self.x, mean=told["mean"], std=told["std"])
        take(_rounded(moved) if moved.size <= LONGEST else moved)


def _rounded(x: Array) -> Array:
    """The entries, cut to `_DIGITS` digits of the largest one."""
    largest = float(np.abs(x).max())
    return x if largest == 0 else np.round(x, _DIGITS - 1 - int(np.floor(np.log10(largest))))
