"""Where do x, LN(x) and RMSNorm(x) lie in the plane span{1, x}?"""

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
    rms_divisor,
    root_mean_square,
    std_divisor,
)


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


def moved_in_plane(x: ArrayLike, *, mean: float, std: float) -> Floats:
    r"""The vector of span{1, x} with another mean and standard deviation: $\mu'+\frac{\sigma'}{\sigma}(x-\mu)$.

    Parameters
    ----------
    x
        One vector, shape [d] with d >= 1. A constant one, whose plane is a line, leaves it along a rising ramp.
    mean, std
        $\mu'$ and $\sigma'$, in units of x; a negative $\sigma'$ turns x minus its mean around.

    Returns
    -------
    read-only array of float64, shape [d]

    Raises
    ------
    InputError
        If x is not one finite vector, an argument is not a finite number, or the result leaves the norms' range.
    """
    vector = one_vector(x)
    centered = centre(vector)[1]
    if not centered.any():
        centered = centre(np.arange(vector.size, dtype=np.float64))[1]
    spread = float(root_mean_square(centered)[0]) or 1.0
    moved: Floats = finite_number(mean, "mean") + finite_number(std, "std") / spread * centered
    return frozen(one_vector(moved))


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
