"""What does a norm pass back of a gradient, and what does it throw away?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, centre, epsilon, frozen, one_vector, parameter, per_channel
from normviz.errors import InputError
from normviz.geometry.frames import rest, share, unit
from normviz.geometry.normalized import normalized


@dataclass(frozen=True, kw_only=True, eq=False)
class Pullback:
    r"""A gradient at the output of a norm, and its image at the input.

    Attributes
    ----------
    gradient
        $g=\partial\mathcal L/\partial\,\mathrm{out}$, shape [d].
    image
        $J^\top g=\partial\mathcal L/\partial x$, shape [d].
    lost
        The part of g that passes nothing back, its projection on the left null space of J, shape [d].
    lost_share
        The share (0 to 1) of g's squared length in that part; 0 for a g of zeros.
    norm, eps
        Which norm, and what was added inside its root.
    """

    gradient: Floats
    image: Floats
    lost: Floats
    lost_share: float
    norm: str
    eps: float


def pullback(norm: str, x: ArrayLike, gradient: ArrayLike, *, weight: ArrayLike | None = None, eps: float) -> Pullback:
    r"""The gradient at x for a gradient g at the output, without the Jacobian's d x d entries.

    With $h=\gamma\odot g$, the normalized vector $\hat x$ and the divisor $s$:
    $J^\top g=\frac1s\left(h-\bar h-\hat x\,\overline{h\hat x}\right)$ for LN; RMSNorm keeps $\bar h$. What is lost of g
    is its projection on span{$1/\gamma,\hat x/\gamma$} (LN at eps 0), span{$1/\gamma$} (LN at eps > 0),
    span{$\hat x/\gamma$} (RMSNorm at eps 0) or nothing (RMSNorm at eps > 0). Where a weight is 0, that entry of g is
    lost, and of those spans only what needs no quotient by 0.

    Parameters
    ----------
    norm
        "layer_norm" or "rms_norm".
    x
        One vector, shape [d] with d >= 1.
    gradient
        g, shape [d].
    weight
        Gain $\gamma$, shape [d]; None is a gain of 1. (A bias does not change a gradient.)
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.

    Raises
    ------
    InputError
        If an argument is out of its range, if the output is undefined at x (eps 0 and a constant or zero vector), or if
        the image leaves float64.
    """
    vector, eps = one_vector(x), epsilon(eps)
    given = per_channel(gradient, "gradient", vector.size)
    gain = parameter(weight, "weight", vector.size)
    hat, divisor = normalized(norm, vector, eps)
    scaled = given if gain is None else gain * given
    if norm == "layer_norm":
        scaled = centre(scaled)[1]
    # Divided first: the product of the largest weight and gradient leaves no room for sums.
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scaled / divisor
        image = scaled - hat * (scaled * hat).mean()
    if not np.isfinite(image).all():
        raise InputError(
            "the gradient at x is the gradient times the weight over {divisor:g}, which leaves float64; make x larger, "
            "or the gradient or the weight smaller.",
            divisor=float(divisor[0]),
        )
    lost = _lost(_unseen(norm, vector, gain, eps), gain, given)
    return Pullback(
        gradient=frozen(given),
        image=frozen(image),
        lost=frozen(lost),
        lost_share=share(lost, given),
        norm=norm,
        eps=eps,
    )


def _unseen(norm: str, vector: Floats, gain: Floats | None, eps: float) -> list[Floats]:
    """Changes of x that the norm cannot see; of LayerNorm's two, the second is 0 where the weight is smallest."""
    if norm == "rms_norm":
        return [vector] if eps == 0 else []
    smallest = 0 if gain is None else int(np.abs(gain).argmin())
    # The pivot keeps the two apart when they are divided by the weight, whose smallest entry would outgrow all others.
    return [np.ones(vector.size), vector - vector[smallest]] if eps == 0 else [np.ones(vector.size)]


def _lost(unseen: list[Floats], gain: Floats | None, given: Floats) -> Floats:
    """Projection of a gradient on the left null space: every v for which weight * v is a change the norm cannot see."""
    closed = slice(0) if gain is None else gain == 0
    through = given.copy()
    through[closed] = 0.0
    frame, rows = np.empty((len(unseen), given.size)), 0
    for change in unseen:
        if not change[closed].any():
            row = unit(change if gain is None else _quotient(change, gain))
            frame[rows] = unit(rest(row, frame[:rows]))
            rows += 1
    frame = frame[:rows]
    part: Floats = given - through + (frame @ through) @ frame
    return part


def _quotient(change: Floats, weight: Floats) -> Floats:
    """A multiple of change / weight, 0 where the change is; its largest entry is near 1 for weights of any range."""
    (top, top_exponent), (bottom, bottom_exponent) = np.frexp(change), np.frexp(np.where(change == 0, 1.0, weight))
    exponent = top_exponent - bottom_exponent
    scaled: Floats = np.ldexp(top / bottom, exponent - exponent[change != 0].max())
    return scaled
