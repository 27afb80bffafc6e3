"""How do LN(x) and RMSNorm(x) answer a small change of x, and what of a gradient passes back through them?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import Floats, centre, epsilon, frozen, one_vector, parameter, rms_divisor, std_divisor
from normviz.errors import InputError

# A [d, d] float64 matrix of this width takes 128 MiB.
LARGEST_JACOBIAN = 4096


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
