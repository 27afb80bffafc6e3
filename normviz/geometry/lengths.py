"""How does the length of a vector before a norm map to the length after it, eps included?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    LARGEST_ENTRY,
    Floats,
    centre,
    check_square,
    epsilon,
    finite_array,
    frozen,
    one_vector,
    root_mean_square,
    within_range,
)
from normviz.errors import InputError

FACTORS = 81
# The RMS of c x, in units of the larger of 1 and sqrt(eps).
SMALLEST_RMS, LARGEST_RMS = 1e-4, 1e4


@dataclass(frozen=True, kw_only=True, eq=False)
class Lengths:
    r"""L2 norms of c x and of both normalized forms of c x, for factors c that rise.

    Attributes
    ----------
    factors
        What x was multiplied by, shape [k].
    before
        $\|cx\|$, shape [k].
    layer_norm, rms_norm
        $\|\mathrm{LN}(cx)\|$ and $\|\mathrm{RMSNorm}(cx)\|$ before weight and bias, shape [k]; None where 0/0 has no
        value.
    current
        The three lengths at c = 1.
    radius
        $\sqrt d$, the length that a norm gives at eps 0, and approaches at eps > 0.
    d, eps
        The length of x, and what was added inside the roots.
    """

    factors: Floats
    before: Floats
    layer_norm: Floats | None
    rms_norm: Floats | None
    current: tuple[float, float | None, float | None]
    radius: float
    d: int
    eps: float


def lengths(x: ArrayLike, *, eps: float = 0.0, factors: ArrayLike | None = None) -> Lengths:
    r"""L2 norms of c x, LN(c x) and RMSNorm(c x) for many factors c.

    $\|\mathrm{LN}(cx)\|=\sqrt d\,\frac{c\sigma}{\sqrt{c^2\sigma^2+\varepsilon}}$ with the biased standard deviation
    $\sigma$ of x; for RMSNorm with the RMS of x instead. One pass over x serves all factors.

    Parameters
    ----------
    x
        One vector, shape [d] with d >= 1.
    eps
        $\varepsilon\ge0$, inside both roots, in units of x squared.
    factors
        Positive numbers c, shape [k]; None is 81 factors, evenly spaced on a log scale but for c = 1 among them, that
        take the RMS of c x from $10^{-4}$ to $10^4$ times the larger of 1 and $\sqrt\varepsilon$, and further where x
        itself lies outside.

    Raises
    ------
    InputError
        If an argument is out of its range, or c x is so large or so small that the norms refuse it.
    """
    vector, eps = one_vector(x), epsilon(eps)
    largest = float(np.abs(vector).max())
    rms, std = (float(root_mean_square(part)[0]) for part in (vector, centre(vector)[1]))
    scale = _factors(rms, largest, eps) if factors is None else finite_array(factors, "factors")
    if scale.ndim != 1 or not scale.size or scale.min() <= 0:
        raise InputError(
            "factors is a list of numbers above 0, shape [k] with k >= 1; got {value}.", value=_shown(scale)
        )
    with np.errstate(over="ignore"):
        within_range(scale * largest, "factors * x")

    radius = float(np.sqrt(vector.size))
    now = np.ones(1)
    current = tuple(
        None if (after := _after(now, size, radius, eps)) is None else float(after[0]) for size in (std, rms)
    )
    layer_norm, rms_norm = (_after(scale, size, radius, eps) for size in (std, rms))
    return Lengths(
        factors=frozen(scale),
        before=frozen(radius * rms * scale),
        layer_norm=layer_norm,
        rms_norm=rms_norm,
        current=(radius * rms, current[0], current[1]),
        radius=radius,
        d=vector.size,
        eps=eps,
    )


def _factors(rms: float, largest: float, eps: float) -> Floats:
    """81 factors around 1 that show where eps matters and where it does not."""
    if rms == 0:
        return np.geomspace(SMALLEST_RMS, LARGEST_RMS, FACTORS)
    unit = max(1.0, float(np.sqrt(eps)))
    # Logarithms: the quotient of an extreme eps and an extreme x would leave float64.
    log_rms = np.log10(rms)
    lowest = min(np.log10(SMALLEST_RMS * unit) - log_rms, 0.0)
    highest = max(np.log10(LARGEST_RMS * unit) - log_rms, 0.0)
    # What the norms take, less the rounding of a logarithm, and what float64 holds, should x be subnormal.
    highest = min(highest, np.log10(LARGEST_ENTRY) - np.log10(largest) - 1e-9, 300.0)
    exponents = np.linspace(lowest, highest, FACTORS)
    exponents[np.abs(exponents).argmin()] = 0.0
    factors: Floats = 10.0**exponents
    return factors


def _after(scale: Floats, size: float, radius: float, eps: float) -> Floats | None:
    """The normalized lengths, when c x (or c x minus mean) has the RMS c * size; None where they are 0/0."""
    if size == 0 and eps == 0:
        return None
    scaled = scale * size
    square = scaled**2 + eps
    check_square(square)
    return frozen(radius * scaled / np.sqrt(square))


def _shown(array: Floats) -> str:
    return f"shape {list(array.shape)}" if array.ndim != 1 or not array.size else f"{array.min():g}"
