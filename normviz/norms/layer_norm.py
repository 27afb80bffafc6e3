"""What does LayerNorm compute, step by step?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from normviz.arrays import centre, epsilon, frozen, mean_square, parameter, std_divisor, vectors
from normviz.norms.trace import NormRecord, NormTrace
from normviz.text import N_

if TYPE_CHECKING:
    from torch import nn


def layer_norm(
    x: ArrayLike, weight: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 1e-5
) -> NormTrace:
    r"""LayerNorm of each vector along the last axis, with every intermediate.

    $\mathrm{LN}(x)=\gamma\odot\frac{x-\bar x}{\sqrt{\nu+\varepsilon}}+\beta$ with mean $\bar x=\frac1d\sum_i x_i$ and
    biased variance $\nu=\frac1d\sum_i(x_i-\bar x)^2$, in float64.

    Parameters
    ----------
    x
        Shape [..., d] with d >= 1, any real dtype; every vector is normalized by itself.
    weight, bias
        Gain $\gamma$ and bias $\beta$, shape [d]; None leaves the step out.
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.

    Returns
    -------
    NormTrace
        `mean` and `var` have shape [..., 1]; `rms` is None.

    Raises
    ------
    InputError
        If an argument is out of its range, or if a vector is constant and `eps` is 0, where 0/0 has no value.

    References
    ----------
    Ba, Kiros & Hinton 2016, arXiv:1607.06450.
    """
    x = vectors(x)
    d = x.shape[-1]
    gain, shift, eps = parameter(weight, "weight", d), parameter(bias, "bias", d), epsilon(eps)

    mean, centered = centre(x)
    normalized = centered / std_divisor(mean, centered, eps)
    output = normalized if gain is None else normalized * gain
    output = output.copy() if shift is None else output + shift

    return NormTrace(
        x=frozen(x),
        eps=eps,
        weight=None if gain is None else frozen(gain),
        bias=None if shift is None else frozen(shift),
        mean=frozen(mean),
        var=frozen(mean_square(centered)),
        centered=frozen(centered),
        normalized=frozen(normalized),
        output=frozen(output),
    )


def layer_norm_module(d_model: int, eps: float) -> nn.Module:
    """`torch.nn.LayerNorm` over the last axis, gain 1 and bias 0."""
    from torch import nn

    return nn.LayerNorm(d_model, eps=eps)


RECORD = NormRecord(
    id="layer_norm",
    label=N_("LayerNorm"),
    formula=r"\gamma\odot\frac{x-\bar x}{\sqrt{\frac1d\sum_i(x_i-\bar x)^2+\varepsilon}}+\beta",
    has_mean=True,
    has_bias=True,
    source="Ba, Kiros & Hinton 2016, arXiv:1607.06450",
    reference=layer_norm,
    module=layer_norm_module,
)
