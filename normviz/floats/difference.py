"""How many elements of a norm's output depend on where it is rounded, and how far is each from the exact value?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats, finite_number, frozen, whole_number
from normviz.errors import InputError
from normviz.floats.arithmetic import ARITHMETICS, known_arithmetic, rms_norm_as, wide_format
from normviz.floats.formats import FORMATS, Format, round_to

EPS = 1e-6
"""Added to the mean squares of the comparison."""

# Numbers that two arithmetics are compared on at most.
_MOST = 2**21
_LARGEST_SPREAD = 10.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    r"""Two arithmetics on the same numbers, N(0, 1), with the scale 1 + `spread` N(0, 1) of each channel.

    Attributes
    ----------
    arithmetics
        Their ids.
    format
        Of x, weight and output.
    d, rows, spread, seed
        Channels, vectors, how far the scales lie from 1 (0 where `without_weight`), and where the numbers come from.
    share
        Share of the output's elements that differ.
    errors
        Relative error of each element of both outputs against float64 with the weight as it is stored, shape [n] each;
        elements below the format's smallest normal number are left out.
    unit
        Largest relative error of a single rounding, half the format's epsilon.
    without_weight
        Whether one of both has no weight, so that the other's scale was 1 in every channel, whatever was asked for.
    """

    arithmetics: tuple[str, str]
    format: str
    d: int
    rows: int
    spread: float
    seed: int
    share: float
    errors: tuple[Floats, Floats]
    unit: float
    without_weight: bool

    @property
    def rms(self) -> tuple[float, float]:
        """Root mean square of both relative errors."""
        first, second = (float(np.sqrt((error**2).mean())) for error in self.errors)
        return first, second

    @property
    def largest(self) -> tuple[float, float]:
        """Largest of both relative errors in size."""
        first, second = (float(np.abs(error).max()) for error in self.errors)
        return first, second


def difference(
    first: str,
    second: str,
    *,
    format: str = "bfloat16",
    d: int = 1024,
    rows: int = 64,
    spread: float = 0.3,
    seed: int = 0,
) -> Difference:
    r"""Compare two of `normviz.floats.ARITHMETICS` on random numbers.

    Each stores the same scale in its own form, rounded to the format: the scale itself, or the scale less one. Beside
    an arithmetic without a weight, the scale is 1; `Difference.without_weight` and `spread` then say so.

    Parameters
    ----------
    first, second
        Keys of `ARITHMETICS`.
    format
        "float32", "bfloat16" or "float16".
    d, rows
        Channels and vectors; at most 2,097,152 numbers.
    spread
        Standard deviation of the scales, 0 to 10.
    seed
        0 or more.

    Raises
    ------
    InputError
        If an id is unknown or a number is out of its range.
    """
    kind = wide_format(format, "format")
    d = whole_number(d, "d", 1, _MOST)
    rows = whole_number(rows, "rows", 1, _MOST // d)
    seed = whole_number(seed, "seed", 0)
    spread = finite_number(spread, "spread")
    if not 0 <= spread <= _LARGEST_SPREAD:
        raise InputError(
            "{field} is a number from {low:g} to {high:g}; got {value:g}.",
            field="spread", low=0.0, high=_LARGEST_SPREAD, value=spread,
        )  # fmt: skip
    without_weight = "none" in (known_arithmetic(first).form, known_arithmetic(second).form)
    if without_weight:
        spread = 0.0
    rng = np.random.default_rng(seed)
    # float32 first, as a model is initialized, so that every cast to fewer digits rounds once.
    x = round_to(_single(rng.standard_normal((rows, d))), kind)
    scale = _single(1 + spread * rng.standard_normal(d))
    outputs, errors = [], []
    for name in (first, second):
        weight = round_to(scale - 1 if ARITHMETICS[name].form == "1+w" else scale, kind)
        output = rms_norm_as(name, x, weight, eps=EPS, dtype=format)
        outputs.append(output)
        errors.append(_errors(name, x, weight, output.astype(np.float64), kind))
    return Difference(
        arithmetics=(first, second),
        format=format,
        d=d,
        rows=rows,
        spread=spread,
        seed=seed,
        share=_share(outputs[0], outputs[1]),
        errors=(errors[0], errors[1]),
        unit=kind.epsilon / 2,
        without_weight=without_weight,
    )


def differing_share(
    first: str,
    second: str,
    *,
    format: str = "bfloat16",
    d: int = 1024,
    rows: int = 64,
    spread: float = 0.3,
    seed: int = 0,
) -> float:
    """Share of the elements that differ between two arithmetics; see `difference`."""
    return difference(first, second, format=format, d=d, rows=rows, spread=spread, seed=seed).share


def _single(values: Floats) -> Floats:
    return round_to(values, FORMATS["float32"])


def _share(first: NDArray[np.generic], second: NDArray[np.generic]) -> float:
    return float((first.astype(np.float64) != second.astype(np.float64)).mean())


def _errors(name: str, x: Floats, weight: Floats, output: Floats, kind: Format) -> Floats:
    scale = {"w": weight, "1+w": 1 + weight, "none": np.ones_like(weight)}[ARITHMETICS[name].form]
    exact = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS) * scale
    normal = np.abs(exact) >= kind.smallest_normal
    return frozen(output[normal] / exact[normal] - 1)
