"""How do LN(x) and RMSNorm(x) answer a scale and a shift of x?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    Floats,
    centre,
    epsilon,
    finite_number,
    frozen,
    one_vector,
    parameter,
    rms_divisor,
    std_divisor,
    within_range,
)

SAME = 1e-9
"""Up to this share of the output a difference is rounding."""

VERDICTS = ("same", "flipped", "moved", "undefined")


@dataclass(frozen=True, kw_only=True, eq=False)
class Affine:
    r"""Both norms before and after x becomes $ax+b$.

    Attributes
    ----------
    x, moved
        The vector and $ax+b$, shape [d].
    layer_before, layer_after, rms_before, rms_after
        Outputs, weight and bias included, shape [d]; None where 0/0 has no value (eps 0 and a constant or a zero
        vector).
    layer_moved, rms_moved
        The largest absolute difference of the output; None where one side has no value.
    layer_verdict, rms_verdict
        "same" (the difference is rounding), "flipped" (the normalized vectors, before weight and bias, are each other's
        negatives), "moved", or "undefined".
    scale, shift, eps
        $a$, $b$, and what was added inside the roots.
    """

    x: Floats
    moved: Floats
    layer_before: Floats | None
    layer_after: Floats | None
    rms_before: Floats | None
    rms_after: Floats | None
    layer_moved: float | None
    rms_moved: float | None
    layer_verdict: str
    rms_verdict: str
    scale: float
    shift: float
    eps: float


def affine(
    x: ArrayLike,
    scale: float,
    shift: float,
    *,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 0.0,
) -> Affine:
    r"""How LN and RMSNorm answer $x\to ax+b$.

    At eps 0, before weight and bias, $\mathrm{LN}(ax+b)=\mathrm{sign}(a)\mathrm{LN}(x)$ and
    $\mathrm{RMSNorm}(ax)=\mathrm{sign}(a)\mathrm{RMSNorm}(x)$. A shift moves RMSNorm, and with eps above 0 a scale
    moves both a little.

    Parameters
    ----------
    x
        One vector, shape [d] with d >= 1.
    scale, shift
        $a$ and $b$, any finite numbers.
    weight, bias
        Gain $\gamma$ of both and bias $\beta$ of LN, shape [d]; None leaves the step out.
    eps
        $\varepsilon\ge0$, inside both roots, in units of x squared.

    Raises
    ------
    InputError
        If an argument is out of its range, or if x or $ax+b$ is so large or so small that the norms refuse it. An
        output without a value is None, not an error.
    """
    vector, eps = one_vector(x), epsilon(eps)
    a, b = finite_number(scale, "scale"), finite_number(shift, "shift")
    gain, offset = parameter(weight, "weight", vector.size), parameter(bias, "bias", vector.size)
    with np.errstate(over="ignore"):
        moved = within_range(a * vector + b, "scale * x + shift")
    # How far an entry of `moved` may be from a x + b: x may vary by less than float64 resolves beside b.
    rounding = 2**-52 * (_largest(moved) + abs(b))

    layer = _answer(_layer_unit(vector, eps), _layer_unit(moved, eps), gain, offset, rounding)
    rms = _answer(_rms_unit(vector, eps), _rms_unit(moved, eps), gain, None, rounding)
    return Affine(
        x=frozen(vector),
        moved=frozen(moved),
        layer_before=layer.before,
        layer_after=layer.after,
        rms_before=rms.before,
        rms_after=rms.after,
        layer_moved=layer.moved,
        rms_moved=rms.moved,
        layer_verdict=layer.verdict,
        rms_verdict=rms.verdict,
        scale=a,
        shift=b,
        eps=eps,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answer:
    before: Floats | None
    after: Floats | None
    moved: float | None
    verdict: str


_Unit = tuple[Floats, float]  # a normalized vector before weight and bias, and what it was divided by


def _layer_unit(x: Floats, eps: float) -> _Unit | None:
    mean, centered = centre(x)
    if eps == 0 and not centered.any():
        return None
    divisor = std_divisor(mean, centered, eps)
    return centered / divisor, float(divisor[0])


def _rms_unit(x: Floats, eps: float) -> _Unit | None:
    if eps == 0 and not x.any():
        return None
    divisor = rms_divisor(x, eps)
    return x / divisor, float(divisor[0])


def _answer(
    first: _Unit | None, second: _Unit | None, gain: Floats | None, offset: Floats | None, rounding: float
) -> _Answer:
    before, after = (None if unit is None else _output(unit[0], gain, offset) for unit in (first, second))
    if first is None or second is None or before is None or after is None:
        return _Answer(before=before, after=after, moved=None, verdict="undefined")
    largest = _largest(first[0])
    # Rounding reaches the unit vector through its entries (twice, with the mean) and through the divisor.
    unseen = (2 + largest) * rounding / second[1]
    moved = _largest(after - before)
    if moved <= SAME * _largest(before) + unseen * (1 if gain is None else _largest(gain)):
        verdict = "same"
    elif _largest(second[0] + first[0]) <= SAME * largest + unseen:
        verdict = "flipped"
    else:
        verdict = "moved"
    return _Answer(before=before, after=after, moved=moved, verdict=verdict)


def _output(unit: Floats, gain: Floats | None, offset: Floats | None) -> Floats:
    result = unit if gain is None else unit * gain
    return frozen(result if offset is None else result + offset)


def _largest(array: Floats) -> float:
    # For a million numbers twice as fast as the largest of their absolute values, which would be an array more.
    return max(float(array.max()), -float(array.min()))
