"""Which arrays can be normalized, and by what are they divided?"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.errors import InputError

Floats = NDArray[np.float64]
A = TypeVar("A", bound=NDArray[Any])

# Squares of entries, and sums of as many squares as fit in memory, stay inside float64 (1.8e308).
LARGEST_ENTRY = 1e150
# Squares below this lose digits to float64's subnormal range (below 2.2e-308), and the quotient with them.
SMALLEST_SQUARE = 1e-290


def finite_array(value: ArrayLike, field: str) -> Floats:
    """A float64 copy of `value`, refused unless every entry is a finite real number."""
    try:
        given = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            "{field} is an array of numbers whose rows are equally long; NumPy says: {reason}",
            field=field,
            reason=str(error),
        ) from None
    if given.dtype.kind not in "biuf":
        raise InputError("{field} holds real numbers; got entries of type {kind}.", field=field, kind=str(given.dtype))
    with np.errstate(over="ignore"):
        array = np.array(given, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        place = entry(field, bad[0], array.shape)
        if np.isnan(array.flat[bad[0]]):
            raise InputError(
                "{field} holds finite numbers; {entry} is NaN (not a number), and every mean over it would be NaN.",
                field=field,
                entry=place,
            )
        raise InputError(
            "{field} holds finite numbers; {entry} is infinite, and no mean over it exists.", field=field, entry=place
        )
    return array


def entry(field: str, flat: int | np.integer, shape: tuple[int, ...]) -> str:
    """The entry with this flat index as NumPy writes it: x[0, 2], or x where the array is a single number."""
    index = ", ".join(str(int(i)) for i in np.unravel_index(flat, shape))
    return f"{field}[{index}]" if index else field


def vectors(x: ArrayLike) -> Floats:
    """`x` as float64 vectors along the last axis, small enough that their squares are finite."""
    array = finite_array(x, "x")
    if array.ndim == 0:
        raise InputError(
            "x is a vector or an array of vectors, shape [..., d]; got the single number {value}.", value=float(array)
        )
    if array.shape[-1] == 0:
        raise InputError("x needs at least one number along its last axis; got shape {shape}.", shape=list(array.shape))
    return within_range(array, "x")


def within_range(array: Floats, field: str) -> Floats:
    """`array` itself, refused if the square of an entry would leave float64."""
    large = np.flatnonzero(np.abs(array) > LARGEST_ENTRY)
    if large.size:
        raise InputError(
            "{field} holds numbers up to {limit:g} in size, whose squares fit in float64; {entry} is {value:g}.",
            field=field,
            limit=LARGEST_ENTRY,
            entry=entry(field, large[0], array.shape),
            value=float(array.flat[large[0]]),
        )
    return array


def one_vector(x: ArrayLike) -> Floats:
    """`x` as a single float64 vector of at least one number."""
    array = vectors(x)
    if array.ndim != 1:
        raise InputError("x is one vector, shape [d] with d >= 1; got shape {shape}.", shape=list(array.shape))
    return array


def parameter(value: ArrayLike | None, field: str, d: int) -> Floats | None:
    """A gain or bias with one entry per channel, or None when the norm has none."""
    if value is None:
        return None
    array = finite_array(value, field)
    if array.shape != (d,):
        raise InputError(
            "{field} has one number per channel, shape [{d}]; got shape {shape}.",
            field=field,
            d=d,
            shape=list(array.shape),
        )
    return within_range(array, field)


def finite_number(value: float, field: str) -> float:
    """`value` as a Python float, refused unless it is one finite real number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError("{field} is one finite number; got {value!r}.", field=field, value=value) from None
    if not np.isfinite(number):
        raise InputError("{field} is one finite number; got {value!r}.", field=field, value=number)
    return number


def epsilon(eps: float) -> float:
    """`eps` as a float: what is added to a variance or mean square before the root is never negative."""
    number = finite_number(eps, "eps")
    if number < 0:
        raise InputError(
            "eps is 0 or a positive number, because it keeps the root's argument above zero; got {value:g}.",
            value=number,
        )
    return number


def whole_number(value: int, field: str, low: int, high: int | None = None) -> int:
    """`value` as an int from `low` to `high`, both included."""
    number = int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None
    if number is None or number < low or (high is not None and number > high):
        if high is None:
            raise InputError(
                "{field} is a whole number, {low} or more; got {value!r}.", field=field, low=low, value=value
            )
        raise InputError(
            "{field} is a whole number from {low} to {high}; got {value!r}.",
            field=field,
            low=low,
            high=high,
            value=value,
        )
    return number


def token_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """A mask with True for each real token and False for each pad; 1 and 0 are taken as well."""
    given = np.asarray(mask)
    if given.dtype.kind not in "biu":
        raise InputError(
            "mask holds True for real tokens and False for pads; got entries of type {kind}.", kind=str(given.dtype)
        )
    strange = given[~np.isin(given, (0, 1))]
    if strange.size:
        raise InputError(
            "mask holds True (or 1) for real tokens and False (or 0) for pads; got {value}.", value=int(strange[0])
        )
    if given.shape != shape:
        raise InputError(
            "mask has one entry per token, shape {expected}; got shape {shape}.",
            expected=list(shape),
            shape=list(given.shape),
        )
    return frozen(given.astype(np.bool_))


def centre(x: Floats, axis: int = -1) -> tuple[Floats, Floats]:
    """Mean along an axis (kept with length 1), and x minus that mean.

    Both are measured from the first entry, so that a constant vector has mean exactly itself and deviations exactly
    zero (the sum of seven times 0.1, divided by 7, is not 0.1), and a large common offset costs no digits.
    """
    first = np.take(x, [0], axis=axis)
    from_first = x - first
    offset = from_first.mean(axis=axis, keepdims=True)
    return first + offset, from_first - offset


def root_mean_square(x: Floats) -> Floats:
    """Root mean square along the last axis (kept with length 1), also where the squares would leave float64."""
    # A power of two, so that scaling changes no digit.
    exponent = np.frexp(np.abs(x).max(axis=-1, keepdims=True))[1]
    scaled: Floats = np.ldexp(x, -exponent)
    root: Floats = np.ldexp(np.sqrt((scaled**2).mean(axis=-1, keepdims=True)), exponent)
    return root


def std_divisor(mean: Floats, var: Floats, eps: float, d: int) -> Floats:
    """What LayerNorm divides by, sqrt(var + eps), refused where it is zero or has lost its digits."""
    if eps == 0 and (constant := np.flatnonzero(var == 0)).size:
        value = float(mean.flat[constant[0]])
        if d == 1:
            raise InputError(
                "LayerNorm of the single number {value:g} is undefined at eps = 0: one number is its own mean, "
                "its variance is 0, and 0/0 has no value. Any eps > 0 gives 0, plus the bias.",
                value=value,
            )
        raise InputError(
            "LayerNorm of a constant vector (every entry is {value:g}) is undefined at eps = 0: its variance is "
            "0, and 0/0 has no value. Any eps > 0 gives 0, plus the bias.",
            value=value,
        )
    return _root(var + eps)


def rms_divisor(mean_square: Floats, eps: float) -> Floats:
    """What RMSNorm divides by, sqrt(mean square + eps), refused where it is zero or has lost its digits."""
    if eps == 0 and (mean_square == 0).any():
        raise InputError(
            "RMSNorm of a vector of zeros is undefined at eps = 0: its root mean square is 0, and 0/0 has no "
            "value. Any eps > 0 gives 0."
        )
    return _root(mean_square + eps)


def _root(square: Floats) -> Floats:
    check_square(square)
    root: Floats = np.sqrt(square)
    return root


def check_square(square: Floats) -> None:
    """Refuse a variance or mean square, eps added, that is too small to divide by accurately."""
    if square.size and (least := float(square.min())) < SMALLEST_SQUARE:
        raise InputError(
            "the variance or mean square of x plus eps is at least {limit:g}, below which float64 loses digits; "
            "got {value:g}. Multiply x by a power of ten, or raise eps.",
            limit=SMALLEST_SQUARE,
            value=least,
        )


def frozen(array: A) -> A:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array
