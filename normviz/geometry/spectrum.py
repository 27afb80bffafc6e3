"""Which changes of x can a norm not see, and which part of a gradient does it throw away?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, epsilon, finite_array, frozen, one_vector, parameter
from normviz.errors import InputError
from normviz.geometry.jacobian import jacobian
from normviz.geometry.normalized import normalized

# A singular value decomposition takes d^3 steps.
LARGEST_SPECTRUM = 256
# In units of the largest weight over the divisor: what counts as 0, unless eps or a weight makes a smaller value real,
# and what float64's rounding leaves of a value that is 0.
ZERO, ROUNDING = 1e-10, 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    r"""Singular values and null spaces of the Jacobian of a norm at one x.

    Attributes
    ----------
    values
        Singular values, falling, shape [d]; in units of output over x.
    rank
        How many of them are above the tolerance.
    unseen
        An orthonormal basis, as rows, of the changes of x that leave the output where it is to first order: the right
        null space, shape [d - rank, d].
    lost
        An orthonormal basis, as rows, of the gradients that pass nothing back: the left null space, shape
        [d - rank, d].
    tolerance
        Below it a singular value counts as 0: $10^{-10}\max|\gamma|$ over the divisor, and less where eps or a small
        weight makes a singular value real that is smaller, down to rounding.
    norm, eps
        Which norm, and what was added inside its root.
    """

    values: Floats
    rank: int
    unseen: Floats
    lost: Floats
    tolerance: float
    norm: str
    eps: float


def spectrum(norm: str, x: ArrayLike, *, weight: ArrayLike | None = None, eps: float) -> Spectrum:
    r"""Singular values, rank and null spaces of $J=\partial\,\mathrm{out}/\partial x$.

    For nonzero weights: LN has rank $d-2$ at eps 0, where it cannot see span{1, x} and throws away
    span{$1/\gamma,(x-\bar x)/\gamma$}, and $d-1$ at eps > 0, where only $\mathbf 1$ and $1/\gamma$ remain; RMSNorm has
    rank $d-1$ at eps 0 (x, $x/\gamma$), and d at eps > 0. The value that appears with eps is
    $\frac{\varepsilon}{\nu+\varepsilon}$ times the others for $\gamma=1$.

    Parameters
    ----------
    norm
        "layer_norm" or "rms_norm".
    x
        One vector, shape [d] with d up to 256.
    weight
        Gain $\gamma$, shape [d]; None is a gain of 1.
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.

    Raises
    ------
    InputError
        If an argument is out of its range, or if the output is undefined at x (eps 0 and a constant or zero vector).
    """
    vector, eps = _narrow(x), epsilon(eps)
    gain = parameter(weight, "weight", vector.size)
    left, values, right = np.linalg.svd(jacobian(norm, vector, weight=gain, eps=eps))
    tolerance = _tolerance(norm, vector, gain, eps)
    rank = int((values > tolerance).sum())
    return Spectrum(
        values=frozen(values),
        rank=rank,
        unseen=frozen(right[rank:].copy()),
        lost=frozen(left[:, rank:].T.copy()),
        tolerance=tolerance,
        norm=norm,
        eps=eps,
    )


def spectra(norm: str, x: ArrayLike, eps_values: ArrayLike, *, weight: ArrayLike | None = None) -> Floats:
    r"""Singular values of the Jacobian for many eps.

    Parameters
    ----------
    norm
        "layer_norm" or "rms_norm".
    x
        One vector, shape [d] with d up to 256.
    eps_values
        Values of $\varepsilon\ge0$, shape [k], in units of x squared.
    weight
        Gain $\gamma$, shape [d]; None is a gain of 1.

    Returns
    -------
    read-only array of float64, shape [k, d]
        Singular values, falling along each row; those that are 0 come as rounding, about $10^{-16}$ of the largest.

    Raises
    ------
    InputError
        If an argument is out of its range, or if the output is undefined at x for one of the eps.
    """
    vector = _narrow(x)
    gain = parameter(weight, "weight", vector.size)
    steps = finite_array(eps_values, "eps_values")
    if steps.ndim != 1:
        raise InputError("eps_values is a list of numbers, shape [k]; got shape {shape}.", shape=list(steps.shape))
    rows = np.empty((steps.size, vector.size))
    for row, eps in zip(rows, steps, strict=True):
        row[:] = np.linalg.svd(jacobian(norm, vector, weight=gain, eps=float(eps)), compute_uv=False)
    return frozen(rows)


def _narrow(x: ArrayLike) -> Floats:
    vector = one_vector(x)
    if vector.size > LARGEST_SPECTRUM:
        raise InputError(
            "singular values take d x d x d steps, so x has up to {limit} numbers; got {d}.",
            limit=LARGEST_SPECTRUM,
            d=vector.size,
        )
    return vector


def _tolerance(norm: str, vector: Floats, gain: Floats | None, eps: float) -> float:
    """What separates the singular values that are 0 from the smallest that is not."""
    sizes = np.ones(1) if gain is None else np.abs(gain)
    largest = float(sizes.max())
    if largest == 0:
        return 0.0
    unit, divisor = normalized(norm, vector, eps)
    # Along the normalized vector, if there is one, only eps / (variance + eps) of the other directions' value is left.
    appearing = float(eps / divisor[0] ** 2) if eps > 0 and unit.any() else 1.0
    least = float(sizes[sizes > 0].min()) / largest * appearing
    return float(np.clip(least / 2, ROUNDING, ZERO) * (largest / divisor[0]))
