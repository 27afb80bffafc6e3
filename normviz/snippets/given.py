"""What was given to the vector lab, and what of it can be computed at all?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from reprlib import repr as shown
from textwrap import indent, wrap
from types import MappingProxyType
from typing import Any

import numpy as np

from normviz.arrays import SMALLEST_SQUARE, Floats, centre, one_vector, rms_divisor, std_divisor
from normviz.errors import InputError
from normviz.geometry import cloud, pullback
from normviz.snippets.arrays_text import Writing
from normviz.vectors import format_vector

VIEWS = ("steps", "geometry", "invariances", "backward")
"""The parts of the vector lab, each with its own scripts."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "steps": "LayerNorm and RMSNorm of one vector, step by step",
        "geometry": "Where LayerNorm and RMSNorm take one vector",
        "invariances": "What LayerNorm and RMSNorm do not see: another scale, another mean",
        "backward": "How LayerNorm and RMSNorm answer a small change of x, and what they do to a gradient",
    }
)
"""View -> the first line of its script."""

NAMES: Mapping[str, str] = MappingProxyType({"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"})
"""Norm -> what a reader calls it."""

FLAT = 1e140
"""Gain times gradient below this passes back through any norm, whose divisor is at least 1e-145."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Given:
    """What a script of the vector lab starts from; see `vector_script`."""

    x: Floats
    weight: Floats | None
    bias: Floats | None
    eps: float
    offset: float
    origin: tuple[str, int, int] | None
    scale: float
    shift: float
    factor: float
    gradient: Floats | None
    cloud: Mapping[str, Any] | None

    @property
    def d(self) -> int:
        """How many numbers x has."""
        return self.x.size

    @cached_property
    def refused(self) -> str | None:
        """Why nothing can be computed from x, or None."""
        return refusal(lambda: one_vector(self.x))

    @cached_property
    def constant(self) -> bool:
        """Whether all entries of x are equal."""
        return bool((self.x == self.x[0]).all())

    @cached_property
    def undefined(self) -> Mapping[str, str]:
        """Norm -> why it has no value for x; both have one where this is empty."""
        if self.refused is not None:
            return dict.fromkeys(NAMES, self.refused)
        if self.eps >= SMALLEST_SQUARE:
            return {}  # nothing to divide by is too small: no pass over a long x
        reasons = {norm: refusal(partial(self.divisor, norm)) for norm in NAMES}
        return {norm: reason for norm, reason in reasons.items() if reason is not None}

    def divisor(self, norm: str) -> float:
        """What a norm divides x by."""
        root = std_divisor(*centre(self.x), self.eps) if norm == "layer_norm" else rms_divisor(self.x, self.eps)
        return float(root[0])

    @cached_property
    def too_small(self) -> str | None:
        """Why x has no picture: its squares left float64's range. (0/0 only leaves a point of it out.)"""
        if self.refused is not None:
            return self.refused
        quotient = {"layer_norm": self.eps == 0 and self.constant, "rms_norm": self.eps == 0 and not self.x.any()}
        return next((reason for norm, reason in self.undefined.items() if not quotient[norm]), None)

    @cached_property
    def moved(self) -> Given:
        """The same with scale * x + shift in the place of x."""
        with np.errstate(over="ignore", invalid="ignore"):
            return replace(self, x=self.scale * self.x + self.shift, origin=None)

    @property
    def gain(self) -> Floats | None:
        """What the normalized vector is multiplied by."""
        return None if self.weight is None else self.offset + self.weight

    @property
    def steepest(self) -> float:
        """The most that gain and gradient can multiply, each at least 1."""
        given = [values for values in (self.gain, self.gradient) if values is not None]
        return float(np.prod([max(1.0, values.max(), -values.min()) for values in given]))

    def no_pullback(self, norm: str) -> str | None:
        """Why no gradient passes back through a norm, or None."""
        if norm in self.undefined or self.steepest < FLAT:
            return self.undefined.get(norm)
        above = np.ones(self.d) if self.gradient is None else self.gradient
        return refusal(lambda: pullback(norm, self.x, above, weight=self.gain, eps=self.eps))

    @cached_property
    def no_cloud(self) -> str | None:
        """Why there is no cloud, or None."""
        asked = dict(self.cloud or {})
        return refusal(lambda: cloud(self.d, eps=self.eps, **asked))

    @property
    def defined(self) -> tuple[str, ...]:
        """The norms that have a value for x."""
        return tuple(norm for norm in NAMES if norm not in self.undefined)

    def inputs(self, writing: Writing, made: str) -> str:
        """The lines that give back x, the gain, the bias and eps; `made` makes x where it comes from a seed."""
        lines = [made if self.origin is not None else writing.array("x", self.x)]
        if self.weight is not None and self.offset:
            lines += [writing.array("w", self.weight), f"weight = {format_vector([self.offset])} + w  # the gain"]
        elif self.weight is not None:
            lines.append(writing.array("weight", self.weight))
        if self.bias is not None:
            lines.append(writing.array("bias", self.bias))
        return "\n".join([*lines, f"eps = {self.eps!r}"]) + "\n"


def known_view(view: str) -> str:
    """`view` itself, refused if the lab has no such part."""
    if view not in VIEWS:
        raise InputError("{field} can be {allowed}; got {got}", field="view", allowed=", ".join(VIEWS), got=shown(view))
    return view


def comment(text: str) -> str:
    """Text as lines of a comment."""
    return indent("\n".join(wrap(text, 110)), "# ") + "\n"


def short(norm: str) -> str:
    """The word that a script's names begin with."""
    return norm.removesuffix("_norm")


def left_out(name: str, reason: str | None, lines: str) -> str:
    """The lines, or in their place a comment that says why `name` is missing."""
    return lines if reason is None else comment(f"{name}: {reason}")


def refusal(attempt: Callable[[], object]) -> str | None:
    """The sentence with which an attempt is refused, or None."""
    try:
        attempt()
    except InputError as error:
        return str(error)
    return None
