"""Where do x, LN(x) and RMSNorm(x) lie in the plane span{1, x}, and how do they answer a small change of x?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    Floats,
    centre,
    epsilon,
    frozen,
    one_vector,
    parameter,
    rms_divisor,
    root_mean_square,
    std_divisor,
)
from normviz.errors import InputError

# A [d, d] float64 matrix of this width takes 128 MiB.
LARGEST_JACOBIAN = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class Plane:
    r"""Exact coordinates of x and its normalized forms in the plane span{1, x}.

    The frame is orthonormal: first $\mathbf 1/\sqrt d$, the direction of equal entries, then $(x-\bar x)/\|x-\bar x\|$.
    Lengths and angles between these points are therefore those of the d-dimensional vectors.

    Attributes
    ----------
    x, mean_part, centered
        The vector, its projection on the direction of equal entries, and what is left; shape [2].
    layer_norm, rms_norm
        The normalized vectors without gain and bias, shape [2]; None where 0/0 has no value (eps 0 and a constant or a
        zero vector).
    radius
        $\sqrt d$: at eps 0 both normalized points lie on the circle of this radius.
    d, eps
        The length of x, and what was added inside the roots.
    frame
        The two unit vectors as rows, shape [2, d]; the second is zero for a constant x.
    """

    x: Floats
    mean_part: Floats
    centered: Floats
    layer_norm: Floats | None
    rms_norm: Floats | None
    radius: float
    d: int
    eps: float
    frame: Floats


@dataclass(frozen=True, kw_only=True)
class Triangle:
    r"""Mean and standard deviation as the legs, RMS as the hypotenuse: $\mathrm{RMS}^2=\bar x^2+\sigma^2$."""

    mean: float
    std: float
    rms: float


def plane(x: ArrayLike, *, eps: float = 0.0) -> Plane:
    r"""Exact coordinates of x, its mean part, x minus mean, LN(x) and RMSNorm(x) in span{1, x}.

    $x=(\sqrt d\,\bar x,\|x-\bar x\|)$; LayerNorm keeps the second coordinate only and divides it by
    $\sqrt{\nu+\varepsilon}$, RMSNorm divides both by $\sqrt{\bar{x^2}+\varepsilon}$.

    Parameters
    ----------
    x
        One vector, shape [d] with d >= 1.
    eps
        $\varepsilon\ge0$, inside both roots, in units of x squared.

    Raises
    ------
    InputError
        If x is not one finite vector or eps is negative; if x is so large or so small that the norms refuse it as well
        (entries above 1e150, or a variance or mean square plus eps below 1e-290 but not 0). A point without a value is
        None, not an error.
    """
    vector, eps = one_vector(x), epsilon(eps)
    d = vector.size
    radius = float(np.sqrt(d))
    mean, centered = centre(vector)
    height = radius * float(root_mean_square(centered)[0])  # the L2 norm of x - mean
    point = np.array([radius * mean[0], height])

    frame = np.zeros((2, d))
    frame[0] = 1 / radius
    if height > 0:
        frame[1] = centered / height
    layer = None if eps == 0 and not centered.any() else np.array([0.0, height]) / std_divisor(mean, centered, eps)
    rms = None if eps == 0 and not vector.any() else point / rms_divisor(vector, eps)
    return Plane(
        x=frozen(point),
        mean_part=frozen(np.array([point[0], 0.0])),
        centered=frozen(np.array([0.0, height])),
        layer_norm=None if layer is None else frozen(layer),
        rms_norm=None if rms is None else frozen(rms),
        radius=radius,
        d=d,
        eps=eps,
        frame=frozen(frame),
    )


def triangle(x: ArrayLike) -> Triangle:
    r"""Mean, standard deviation and RMS of one vector, each computed by itself.

    They are the sides of a right triangle, $\mathrm{RMS}^2=\bar x^2+\sigma^2$ with the biased variance $\sigma^2$.

    Parameters
    ----------
    x
        One vector, shape [d] with d >= 1.

    Raises
    ------
    InputError
        If x is not one finite vector, or has an entry above 1e150 in size. Nothing is divided, so that there is no
        smallest x.
    """
    vector = one_vector(x)
    mean, centered = centre(vector)
    return Triangle(
        mean=float(mean[0]), std=float(root_mean_square(centered)[0]), rms=float(root_mean_square(vector)[0])
    )


def jacobian(norm: str, x: ArrayLike, *, weight: ArrayLike | None = None, eps: float) -> Floats:
    r"""How the output of a norm moves when x moves: entry [i, j] is $\partial\,\mathrm{out}_i/\partial x_j$.

    With $C=I-\frac1d\mathbf 1\mathbf 1^\top$, $y=Cx$, $s=\sqrt{\frac1d\|y\|^2+\varepsilon}$ and
    $r=\sqrt{\frac1d\|x\|^2+\varepsilon}$:
    $J_{LN}=\frac1s\mathrm{diag}(\gamma)(C-\frac{yy^\top}{ds^2})$,
    $J_{RMS}=\frac1r\mathrm{diag}(\gamma)(I-\frac{xx^\top}{dr^2})$.

    Parameters
    ----------
    norm
        "layer_norm" or "rms_norm".
    x
        One vector, shape [d] with d up to 4096.
    weight
        Gain $\gamma$, shape [d]; None is a gain of 1. (A bias does not change a derivative.)
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.

    Returns
    -------
    read-only array of float64, shape [d, d]

    Raises
    ------
    InputError
        If an argument is out of its range, or if the output is undefined at x (eps 0 and a constant or zero vector).

    References
    ----------
    The LayerNorm form at eps 0 is in Xiong et al. 2020, arXiv:2002.04745, proof of lemma 3.
    """
    vector, eps = one_vector(x), epsilon(eps)
    d = vector.size
    if d > LARGEST_JACOBIAN:
        raise InputError(
            "a Jacobian has d x d entries, so x has up to {limit} numbers; got {d}.", limit=LARGEST_JACOBIAN, d=d
        )
    gain = parameter(weight, "weight", d)
    if norm == "layer_norm":
        mean, centered = centre(vector)
        divisor = std_divisor(mean, centered, eps)
        unit, projection = centered / divisor, np.eye(d) - 1 / d
    elif norm == "rms_norm":
        divisor = rms_divisor(vector, eps)
        unit, projection = vector / divisor, np.eye(d)
    else:
        raise InputError("norm is layer_norm or rms_norm; got {value!r}.", value=norm)
    matrix: Floats = (projection - np.outer(unit, unit) / d) / divisor
    return frozen(matrix if gain is None else gain[:, None] * matrix)
