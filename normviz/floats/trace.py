"""What is kept of a norm that was computed step by step in a format?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats
from normviz.floats.formats import Neighbours, neighbours
from normviz.text import N_

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "x": N_("x as the format holds it"),
        "sum_x": N_("sum of x"),
        "mean": N_("mean"),
        "centered": N_("x less the mean"),
        "square": N_("squares"),
        "sum": N_("sum of the squares"),
        "mean_square": N_("their mean"),
        "eps": N_("eps"),
        "plus_eps": N_("eps added"),
        "root": N_("root"),
        "reciprocal": N_("1 over the root"),
        "normalized": N_("times x"),
        "weight": N_("weight as the format holds it"),
        "scale": N_("1 + weight"),
        "cast": N_("cast to the format"),
        "product": N_("times the scale"),
        "output": N_("output, cast to the format"),
    }
)
"""Id of a step -> its label, in the order of the computation."""

MARKS: Mapping[str, str] = MappingProxyType(
    {
        "exact": N_("exact"),
        "off": N_("nothing lost here, but off before"),
        "rounded": N_("rounded"),
        "subnormal": N_("very small: digits lost"),
        "underflow": N_("too small: became 0"),
        "overflow": N_("too large for the format"),
        "carried": N_("∞, NaN or 0 from before"),
        "by_zero": N_("divided by 0"),
        "no_number": N_("no number, such as 0 × ∞"),
    }
)
"""What became of an entry in one step -> label, from harmless to worst."""

# Values this close are one: `exact` is computed in float64, and no format here has so many digits.
_SAME = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatStep:
    """One operation, with its result as the format holds it.

    Attributes
    ----------
    id, label, formula
        Key of `LABELS`, its English label, and LaTeX.
    format
        Id of the format that holds the result.
    exact
        What it would be without any rounding from the start on (computed in float64), shape [d], or [1] for a number
        that all channels share.
    value
        What the format holds, of the same shape; infinite or NaN where the computation left the format.
    rounded, overflow, underflow
        What this operation did to its own operands, for each entry: the result lay between two numbers of the format,
        above its largest, or so far below its smallest normal one that digits were lost.
    marks
        Key of `MARKS` for each entry, see `mark`.
    partial, partial_exact
        Of a sum: the running sum after each term, as the format holds it and without rounding, shape [d]; else None.
    first_lost
        Of a sum: index (from 0) of the first term, itself not 0, that left the running sum as it was, or None.
    """

    id: str
    label: str
    formula: str
    format: str
    exact: Floats
    value: Floats
    rounded: NDArray[np.bool_]
    overflow: NDArray[np.bool_]
    underflow: NDArray[np.bool_]
    marks: NDArray[np.str_]
    partial: Floats | None = None
    partial_exact: Floats | None = None
    first_lost: int | None = None

    @property
    def first_overflow(self) -> int | None:
        """Of a sum: index (from 0) of the first term that made the running sum leave the format, or None."""
        return None if self.partial is None else first_place(~np.isfinite(self.partial))

    def mark(self, entry: int = 0) -> str:
        """What this operation did to one entry, a key of `MARKS`.

        "overflow", "underflow" (became 0), "subnormal" (below the smallest normal number, with digits lost) and
        "rounded" are losses of this operation, "by_zero" and "no_number" come from operands that have no finite
        result; "carried" is an infinity, NaN or 0 that was one, or came of one, before; "off" is right for operands
        that were not.
        """
        return str(self.marks[entry])

    def near(self, entry: int = 0) -> Neighbours:
        """The numbers of the format around the exact value of one entry."""
        return neighbours(float(self.exact[entry]), self.format)


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatTrace:
    """A norm of one vector, step by step; see `norm_steps`."""

    norm: str
    format: str
    accumulate: str
    arithmetic: str
    eps: float
    d: int
    steps: tuple[FloatStep, ...]

    def __getitem__(self, step: str) -> FloatStep:
        return next(found for found in self.steps if found.id == step)

    def __contains__(self, step: object) -> bool:
        return any(found.id == step for found in self.steps)

    @property
    def output(self) -> Floats:
        """What comes out, in the format."""
        return self.steps[-1].value

    @property
    def exact(self) -> Floats:
        """What would come out without any rounding."""
        return self.steps[-1].exact

    @property
    def first_overflow(self) -> str | None:
        """Id of the first step with a result above the format's largest number, or None."""
        return next((step.id for step in self.steps if step.overflow.any()), None)


def first_place(flags: NDArray[np.bool_]) -> int | None:
    """Index of the first True, or None."""
    places = np.flatnonzero(flags)
    return int(places[0]) if places.size else None


def marks_of(
    exact: Floats,
    value: Floats,
    flags: tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]],
    operands: tuple[Floats, ...],
) -> NDArray[np.str_]:
    """Key of `MARKS` for each entry.

    Parameters
    ----------
    exact, value
        Without any rounding, and as the format holds it.
    flags
        Where this operation rounded, overflowed, and lost digits below the smallest normal number.
    operands
        What it was given, as held; each broadcasts with `value`.
    """
    rounded, overflow, small = flags

    def came(test: Callable[[Floats], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        found = np.zeros(value.shape, dtype=np.bool_)
        for operand in operands:
            found = found | test(operand)
        return found

    nan, infinite, zero = np.isnan(value), np.isinf(value), value == 0
    lost = zero & (exact != 0) & came(lambda operand: (operand == 0) | np.isinf(operand))
    right = np.abs(value - exact) <= _SAME * np.abs(exact)
    cases = (
        (overflow, "overflow"),
        (nan & came(np.isnan), "carried"),
        (nan, "no_number"),
        (infinite & came(np.isinf), "carried"),
        (infinite, "by_zero"),
        (zero & small, "underflow"),
        (lost, "carried"),
        (small, "subnormal"),
        (rounded, "rounded"),
        (right, "exact"),
    )
    marks: NDArray[np.str_] = np.select([where for where, _ in cases], [mark for _, mark in cases], "off")
    return marks
