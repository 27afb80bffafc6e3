"""Which numbers does a floating-point format hold, and which one stands for a given number?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import Floats, finite_array, finite_number, frozen
from normviz.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Format:
    r"""One binary floating-point format: $\pm1.m\times2^e$, and $\pm0.m\times2^{e_{min}}$ near zero.

    Attributes
    ----------
    label
        Its name, the same in every language.
    bits, exponent, mantissa
        Bits in all, of the exponent, and stored bits of the mantissa m (the leading 1 is not stored).
    largest, smallest_normal, smallest
        Largest finite number, smallest one with all of its digits, and smallest above zero.
    epsilon
        Distance from 1 to the next number, $2^{-m}$ with m mantissa bits; rounding errs by half of it at most.
    dtype
        NumPy's type, from `ml_dtypes` where NumPy has none.
    overflow
        What a number too large becomes: infinity, or NaN in the one format without infinity.
    """

    label: str
    bits: int
    exponent: int
    mantissa: int
    largest: float
    smallest_normal: float
    smallest: float
    epsilon: float
    dtype: np.dtype[Any]
    overflow: float


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The number that a format holds instead of a given one, and those beside it.

    Attributes
    ----------
    below, at, above
        The nearest number of the format (ties go to the even mantissa) and the next ones on both sides. `at` is
        infinite or NaN where the given number is too large; then the side towards zero is the largest one.
    ulp
        Distance between neighbouring numbers of this size ("unit in the last place"); the last one where `at` is not
        finite.
    """

    below: float
    at: float
    above: float
    ulp: float


def _format(label: str, kind: Any, exponent: int, mantissa: int, largest: float, overflow: float = np.inf) -> Format:
    normal = 2.0 ** (2 - 2 ** (exponent - 1))
    return Format(
        label=label,
        bits=1 + exponent + mantissa,
        exponent=exponent,
        mantissa=mantissa,
        largest=largest,
        smallest_normal=normal,
        smallest=normal * 2.0**-mantissa,
        epsilon=2.0**-mantissa,
        dtype=np.dtype(kind),
        overflow=overflow,
    )


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "float32": _format("float32", np.float32, 8, 23, (2 - 2.0**-23) * 2.0**127),
        "bfloat16": _format("bfloat16", ml_dtypes.bfloat16, 8, 7, (2 - 2.0**-7) * 2.0**127),
        "float16": _format("float16", np.float16, 5, 10, 65_504.0),
        "float8_e4m3": _format("float8 e4m3", ml_dtypes.float8_e4m3fn, 4, 3, 448.0, np.nan),
        "float8_e5m2": _format("float8 e5m2", ml_dtypes.float8_e5m2, 5, 2, 57_344.0),
    }
)
"""Id -> format, from the finest to the coarsest.

"float8_e4m3" is the variant without infinity that PyTorch has. Numbers too large for it become NaN here, as in
`ml_dtypes`; PyTorch's own cast makes 448 of them.
"""


def known_format(format: str, field: str = "format") -> Format:
    """The format of this id, refused where there is none."""
    found = FORMATS.get(format) if isinstance(format, str) else None
    if found is None:
        raise InputError(
            "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(FORMATS), got=shown(format)
        )
    return found


def rounded(x: ArrayLike, format: str) -> Floats:
    """Every number as the format holds it, rounded once, to the nearest and to the even mantissa on a tie.

    Casting a float64 to bfloat16 by `ml_dtypes` rounds twice (first to float32); this does not.

    Parameters
    ----------
    x
        Finite numbers of any shape and type.
    format
        A key of `FORMATS`.

    Returns
    -------
    Floats
        float64 with the values that the format holds; what is too large became infinite (NaN in float8 e4m3).

    Raises
    ------
    InputError
        If the format is unknown or x is no array of finite numbers.
    """
    kind = known_format(format)
    return frozen(round_to(as_float64(x, "x"), kind))


def as_float64(x: ArrayLike, field: str) -> Floats:
    """`x` as a float64 array of finite numbers, also where it is of a type from `ml_dtypes`."""
    if isinstance(x, (np.ndarray, np.generic)) and any(x.dtype == known.dtype for known in FORMATS.values()):
        x = x.astype(np.float64)
    return finite_array(x, field)


def round_to(x: Floats, kind: Format) -> Floats:
    """`rounded` without checks; infinities and NaN stay what they are, as far as the format has them."""
    with np.errstate(invalid="ignore", over="ignore"):
        exponent = np.frexp(x)[1] - 1
        unit = np.ldexp(1.0, np.maximum(exponent, _least_exponent(kind)) - kind.mantissa)
        # An exact division by a power of two; rint goes to the even number on a tie.
        near = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        too_large = np.abs(near) > kind.largest
    # NaN has no sign here.
    beyond = np.copysign(kind.overflow, near) if np.isinf(kind.overflow) else np.full_like(near, np.nan)
    out: Floats = np.where(too_large, beyond, near)
    return out


def stored(x: Floats, kind: Format) -> NDArray[Any]:
    """The numbers rounded once, in the format's own NumPy type."""
    with np.errstate(over="ignore", invalid="ignore"):
        return round_to(x, kind).astype(kind.dtype)


def neighbours(value: float, format: str) -> Neighbours:
    """The number of the format that is nearest to `value`, and the numbers beside it.

    Parameters
    ----------
    value
        One finite number.
    format
        A key of `FORMATS`.

    Raises
    ------
    InputError
        If the format is unknown or the value is no finite number.
    """
    kind = known_format(format)
    at = float(round_to(np.array(finite_number(value, "value")), kind))
    last = spacing(kind.largest, kind)
    if not np.isfinite(at):
        if value > 0:
            return Neighbours(below=kind.largest, at=at, above=at, ulp=last)
        return Neighbours(below=at, at=at, above=-kind.largest, ulp=last)
    return Neighbours(below=-_above(-at, kind), at=at, above=_above(at, kind), ulp=spacing(at, kind))


def spacing(at: float, kind: Format) -> float:
    """Distance from a number of the format to the next one further from zero."""
    exponent = max(int(np.frexp(at)[1]) - 1, _least_exponent(kind)) if at else _least_exponent(kind)
    return float(np.ldexp(1.0, exponent - kind.mantissa))


def _above(at: float, kind: Format) -> float:
    """The next number of the format, or what overflow gives."""
    if at >= kind.largest:
        return kind.overflow
    # Below a power of two the numbers stand half as far apart.
    step = spacing(at, kind)
    if at < 0 and np.frexp(at)[0] == -0.5 and at < -kind.smallest_normal:
        step /= 2
    return at + step


def _least_exponent(kind: Format) -> int:
    return int(np.frexp(kind.smallest_normal)[1]) - 1
