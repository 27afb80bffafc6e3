"""What comes out of a norm when one of four common slips is made in what it divides by?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, centre, epsilon, frozen, mean_square, one_vector, rms_divisor, std_divisor
from normviz.errors import InputError

SLIPS = ("unbiased", "eps_outside", "one_pass", "std_for_rms")


@dataclass(frozen=True, kw_only=True, eq=False)
class Slip:
    r"""One vector normalized as usual, and with one thing done otherwise.

    Attributes
    ----------
    name
        One of `SLIPS`.
    usual_divisor, other_divisor
        What is divided by, in units of x. The other one is None where it has no value (a variance over n - 1 of a
        single number; the standard deviation of a constant vector at eps 0), and for `one_pass` NaN, 0 or infinite
        where the float32 variance plus eps is negative, is 0, or is beyond float32.
    usual, other
        The normalized vectors before weight and bias, shape [d]; `other` is None where its divisor is, and not finite
        where that is NaN or 0.
    difference
        The largest absolute difference between the two; infinite where `other` is not finite.
    usual_latex, other_latex
        Both divisors in symbols, LaTeX.
    """

    name: str
    usual_divisor: float
    other_divisor: float | None
    usual: Floats
    other: Floats | None
    difference: float | None
    usual_latex: str
    other_latex: str


_STD = r"\sqrt{\frac1d\sum_i(x_i-\mu)^2+\varepsilon}"
_RMS = r"\sqrt{\frac1d\sum_i x_i^2+\varepsilon}"
_LATEX: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "unbiased": (_STD, r"\sqrt{\frac1{d-1}\sum_i(x_i-\mu)^2+\varepsilon}"),
        "eps_outside": (_STD, r"\sqrt{\frac1d\sum_i(x_i-\mu)^2}+\varepsilon"),
        "one_pass": (_STD, r"\sqrt{\frac1d\sum_i x_i^2-\Big(\frac1d\sum_i x_i\Big)^2+\varepsilon}"),
        "std_for_rms": (_RMS, _STD),
    }
)


def slip(name: str, x: ArrayLike, *, eps: float = 0.0) -> Slip:
    r"""A norm of x done as usual and with one slip, side by side, before weight and bias.

    LayerNorm divides $x-\mu$ by $\sqrt{\nu+\varepsilon}$, where $\mu=\frac1d\sum_i x_i$ and
    $\nu=\frac1d\sum_i(x_i-\mu)^2$. The slips: `unbiased` divides by $\sqrt{\frac d{d-1}\nu+\varepsilon}$;
    `eps_outside` by $\sqrt\nu+\varepsilon$; `one_pass` takes $\nu$ as $\frac1d\sum_i x_i^2-\mu^2$ with squares and sums
    in float32, where a small variance beside a large mean loses its digits; `std_for_rms` divides x, as RMSNorm does,
    but by $\sqrt{\nu+\varepsilon}$ in the place of $\sqrt{\frac1d\sum_i x_i^2+\varepsilon}$.

    Parameters
    ----------
    name
        One of `SLIPS`.
    x
        One vector, shape [d] with d >= 1.
    eps
        $\varepsilon\ge0$, in units of x squared (`eps_outside` adds it to x's own units).

    Raises
    ------
    InputError
        If an argument is out of its range, or where the usual norm is undefined (eps 0 and a constant vector for
        LayerNorm, a zero vector for RMSNorm). A slip without a value is None, not an error.
    """
    vector, eps = one_vector(x), epsilon(eps)
    if name not in SLIPS:
        raise InputError("{field} can be {allowed}; got {got}", field="slip", allowed=", ".join(SLIPS), got=shown(name))
    mean, centered = centre(vector)
    if name == "std_for_rms":
        numerator, usual_divisor = vector, float(rms_divisor(vector, eps)[0])
    else:
        numerator, usual_divisor = centered, float(std_divisor(mean, centered, eps)[0])
    other_divisor = _DIVISORS[name](vector, centered, eps)

    usual = frozen(numerator / usual_divisor)
    other = difference = None
    if other_divisor is not None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            other = frozen(numerator / other_divisor)
            change = other - usual
            largest = max(float(change.max()), -float(change.min()))
        difference = largest if np.isfinite(largest) else np.inf
    usual_latex, other_latex = _LATEX[name]
    return Slip(
        name=name,
        usual_divisor=usual_divisor,
        other_divisor=other_divisor,
        usual=usual,
        other=other,
        difference=difference,
        usual_latex=usual_latex,
        other_latex=other_latex,
    )


def _unbiased(vector: Floats, centered: Floats, eps: float) -> float | None:
    d = vector.size
    return None if d == 1 else float(np.sqrt(mean_square(centered)[0] * (d / (d - 1)) + eps))


def _eps_outside(vector: Floats, centered: Floats, eps: float) -> float | None:
    return float(np.sqrt(mean_square(centered)[0])) + eps


def _one_pass(vector: Floats, centered: Floats, eps: float) -> float | None:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        single = vector.astype(np.float32)
        mean = single.mean(dtype=np.float32)
        var = (single * single).mean(dtype=np.float32) - mean * mean
        return float(np.sqrt(var + np.float32(eps)))


def _std_for_rms(vector: Floats, centered: Floats, eps: float) -> float | None:
    square = float(mean_square(centered)[0]) + eps
    return float(np.sqrt(square)) if square > 0 else None


_DIVISORS: Mapping[str, Callable[[Floats, Floats, float], float | None]] = MappingProxyType(
    {"unbiased": _unbiased, "eps_outside": _eps_outside, "one_pass": _one_pass, "std_for_rms": _std_for_rms}
)
