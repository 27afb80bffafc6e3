"""What do LayerNorm and RMSNorm make of a vector before weight and bias, and by what do they divide it?"""

from __future__ import annotations

from normviz.arrays import Floats, centre, rms_divisor, std_divisor
from normviz.errors import InputError


def normalized(norm: str, x: Floats, eps: float) -> tuple[Floats, Floats]:
    """The normalized vectors along the last axis, and their divisors (kept with length 1).

    The steps are those of `normviz.norms`, which geometry does not import; a norm that is unknown, or undefined at x,
    raises InputError.
    """
    if norm == "layer_norm":
        mean, centered = centre(x)
        divisor = std_divisor(mean, centered, eps)
        return centered / divisor, divisor
    if norm == "rms_norm":
        divisor = rms_divisor(x, eps)
        return x / divisor, divisor
    raise InputError("norm is layer_norm or rms_norm; got {value!r}.", value=norm)
