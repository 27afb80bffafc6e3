"""Which arrays can be normalized, and by what are they divided?"""

from __future__ import annotations

from numbers import Real
from reprlib import repr as shown
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
    given = _as_array(value, field)
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


def _as_array(value: Any, field: str) -> NDArray[Any]:
    """`value` as NumPy reads it; a torch tensor of any device and float type, with or without a gradient, as well."""
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            # NumPy has no bfloat16.
            value = value.double() if value.is_floating_point() else value
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            "{field} is an array of numbers whose rows are equally long; NumPy says: {reason}",
            field=field,
            reason=str(error),
        ) from None


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


def within_range(array: Floats, field: str, limit: float = LARGEST_ENTRY) -> Floats:
    """`array` itself, refused if an entry is so large that what is computed from it would leave float64."""
    large = np.flatnonzero(np.abs(array) > limit)
    if large.size:
        raise InputError(
            "{field} holds numbers up to {limit:g} in size, so that what is computed from them fits in float64; "
            "{entry} is {value:g}.",
            field=field,
            limit=limit,
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
    return None if value is None else per_channel(value, field, d)


def per_channel(value: ArrayLike, field: str, d: int, limit: float = LARGEST_ENTRY) -> Floats:
    """A float64 copy of `value` with one entry per channel, none above the limit in size."""
    array = finite_array(value, field)
    if array.shape != (d,):
        raise InputError(
            "{field} has one number per channel, shape [{d}]; got shape {shape}.",
            field=field,
            d=d,
            shape=list(array.shape),
        )
    return within_range(array, field, limit)


def finite_number(value: Any, field: str) -> float:
    """`value` as a Python float, refused unless it is one finite real number; a bool or a text is none."""
    try:
        number = float(value) if not isinstance(value, bool) and isinstance(value, Real) else np.nan
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise InputError("{field} is one finite number; got {value}.", field=field, value=shown(value))
    return number + 0.0  # -0.0 becomes 0.0


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
    given = _as_array(mask, "mask")
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


def std_divisor(mean: Floats, centered: Floats, eps: float) -> Floats:
    """What LayerNorm divides by, sqrt(variance + eps), refused where it is zero or has lost its digits."""
    # A variance of 0 says less: it is also what squares below float64's range add up to.
    if eps == 0 and (constant := np.flatnonzero(~centered.any(axis=-1))).size:
        value = float(mean.flat[constant[0]])
        if centered.shape[-1] == 1:
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
    return _root(mean_square(centered) + eps)


def rms_divisor(x: Floats, eps: float) -> Floats:
    """What RMSNorm divides by, sqrt(mean square + eps), refused where it is zero or has lost its digits."""
    if eps == 0 and not x.any(axis=-1).all():
        raise InputError(
            "RMSNorm of a vector of zeros is undefined at eps = 0: its root mean square is 0, and 0/0 has no "
            "value. Any eps > 0 gives 0."
        )
    return _root(mean_square(x) + eps)


def mean_square(x: Floats) -> Floats:
    """Mean of the squares along the last axis (kept with length 1)."""
    square: Floats = (x**2).mean(axis=-1, keepdims=True)
    return square


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
