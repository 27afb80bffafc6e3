"""What does Dynamic Tanh compute in the place of a norm, without any statistic?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import epsilon, finite_number, frozen, parameter, vectors, within_range
from normviz.norms.trace import NormRecord, NormTrace
from normviz.text import N_

if TYPE_CHECKING:
    import torch
    from torch import nn

START = 0.5
"""Where alpha starts (arXiv:2503.10622; its large language models start between 0.05 and 0.8)."""


def dyt(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    alpha: float = START,
) -> NormTrace:
    r"""Dynamic Tanh of each entry, with every intermediate.

    $\mathrm{DyT}(x)=\gamma\odot\tanh(\alpha x)+\beta$ with one number $\alpha$ for all channels, in float64. Nothing is
    measured on x, so that another scale of x gives another output: small entries pass as $\alpha x$, large ones stop at
    1 in size.

    Parameters
    ----------
    x
        Shape [..., d] with d >= 1, any real dtype.
    weight, bias
        Gain $\gamma$ and bias $\beta$, shape [d]; None leaves the step out.
    eps
        No effect, since there is no root: every norm of the registry is called with one.
    alpha
        $\alpha$, in units of 1 over x.

    Returns
    -------
    NormTrace
        `normalized` is $\tanh(\alpha x)$; `mean`, `var`, `rms` and `centered` are None.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Zhu et al. 2025, arXiv:2503.10622.
    """
    x = vectors(x)
    d = x.shape[-1]
    gain, shift, eps = parameter(weight, "weight", d), parameter(bias, "bias", d), epsilon(eps)
    slope = float(within_range(np.array(finite_number(alpha, "alpha")), "alpha"))

    normalized = np.tanh(slope * x)
    output = normalized if gain is None else normalized * gain
    output = output.copy() if shift is None else output + shift

    return NormTrace(
        x=frozen(x),
        eps=eps,
        weight=None if gain is None else frozen(gain),
        bias=None if shift is None else frozen(shift),
        normalized=frozen(normalized),
        output=frozen(output),
    )


def dyt_module(d_model: int, eps: float) -> nn.Module:
    """A new torch module with a number alpha of 0.5, gain 1 and bias 0; `eps` has no effect."""
    import torch
    from torch import nn

    class DynamicTanh(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.alpha = nn.Parameter(torch.tensor(START))
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return torch.tanh(self.alpha * input) * self.weight + self.bias

    return DynamicTanh()


RECORD = NormRecord(
    id="dyt",
    label=N_("DyT"),
    formula=r"\gamma\odot\tanh(\alpha x)+\beta",
    has_mean=False,
    has_bias=True,
    source="Zhu et al. 2025, arXiv:2503.10622",
    reference=dyt,
    module=dyt_module,
)
