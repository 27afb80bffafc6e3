"""What does RMSNorm compute, and what does it leave out?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    epsilon,
    finite_number,
    frozen,
    parameter,
    rms_divisor,
    root_mean_square,
    vectors,
    within_range,
)
from normviz.norms.trace import NormRecord, NormTrace
from normviz.text import N_

if TYPE_CHECKING:
    from torch import nn


def rms_norm(x: ArrayLike, weight: ArrayLike | None = None, eps: float = 1e-5, weight_offset: float = 0.0) -> NormTrace:
    r"""RMSNorm of each vector along the last axis, with every intermediate.

    $\mathrm{RMSNorm}(x)=(o+w)\odot\frac{x}{\sqrt{\frac1d\sum_i x_i^2+\varepsilon}}$, in float64; no mean is subtracted
    and no bias is added.

    Parameters
    ----------
    x
        Shape [..., d] with d >= 1, any real dtype; every vector is normalized by itself.
    weight
        The stored weight $w$, shape [d]; None means that the gain is 1, whatever the offset.
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.
    weight_offset
        $o$: 0 where the weight is the gain, 1 where the gain is stored as 1 + w (Gemma).

    Returns
    -------
    NormTrace
        `rms` (without eps) has shape [..., 1]; `weight` is the gain $o+w$; `mean`, `var` and `centered` are None.

    Raises
    ------
    InputError
        If an argument is out of its range, or if a vector is all zeros and `eps` is 0, where 0/0 has no value.

    References
    ----------
    Zhang & Sennrich 2019, arXiv:1910.07467.
    """
    x = vectors(x)
    stored, eps = parameter(weight, "weight", x.shape[-1]), epsilon(eps)
    offset = within_range(np.array(finite_number(weight_offset, "weight_offset")), "weight_offset")
    gain = None if stored is None else offset + stored

    normalized = x / rms_divisor(x, eps)
    output = normalized.copy() if gain is None else normalized * gain

    return NormTrace(
        x=frozen(x),
        eps=eps,
        weight=None if gain is None else frozen(gain),
        rms=frozen(root_mean_square(x)),
        normalized=frozen(normalized),
        output=frozen(output),
    )


def rms_norm_module(d_model: int, eps: float) -> nn.Module:
    """`torch.nn.RMSNorm` over the last axis, gain 1, with an explicit eps (torch's default depends on the dtype)."""
    from torch import nn

    return nn.RMSNorm(d_model, eps=eps)


RECORD = NormRecord(
    id="rms_norm",
    label=N_("RMSNorm"),
    formula=r"\gamma\odot\frac{x}{\sqrt{\frac1d\sum_i x_i^2+\varepsilon}}",
    has_mean=False,
    has_bias=False,
    source="Zhang & Sennrich 2019, arXiv:1910.07467",
    reference=rms_norm,
    module=rms_norm_module,
)
