"""What does BatchNorm compute over the tokens of a batch, and what does it carry to the next one?"""

from __future__ import annotations

from reprlib import repr as shown
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    Floats,
    centre,
    check_square,
    epsilon,
    finite_number,
    frozen,
    parameter,
    per_channel,
    token_mask,
    vectors,
)
from normviz.errors import InputError
from normviz.norms.trace import LARGEST_MEAN, NormRecord, NormTrace, RunningStats
from normviz.text import N_

if TYPE_CHECKING:
    import torch
    from torch import nn


def batch_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    mask: ArrayLike | None = None,
    running: RunningStats | None = None,
    momentum: float | None = 0.1,
    training: bool = True,
) -> NormTrace:
    r"""BatchNorm of each channel over all real tokens of a batch, with every intermediate.

    $\mathrm{BN}(x)_c=\gamma_c\frac{x_c-\mu_c}{\sqrt{\nu_c+\varepsilon}}+\beta_c$. In training $\mu$ and $\nu$ are the
    mean and the biased variance of channel c over the N real tokens, and the running statistics move by
    $m\leftarrow(1-\alpha)m+\alpha\mu$ and $v\leftarrow(1-\alpha)v+\alpha\frac{N}{N-1}\nu$; at inference $\mu$ and
    $\nu$ are the running ones. All as in PyTorch, in float64.

    Parameters
    ----------
    x
        Shape [B, T, d], or any [..., d] with at least two axes.
    weight, bias
        Gain $\gamma$ and bias $\beta$, shape [d]; None leaves the step out.
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.
    mask
        Shape [B, T], True for real tokens. Pads are left out of every statistic, and `centered`, `normalized` and
        `output` are 0 there.
    running
        The statistics carried so far; needed when `training` is False.
    momentum
        $\alpha$ in [0, 1], the share of the new batch; None averages all batches equally, $\alpha=1/\text{steps}$.
    training
        Whether the batch's own statistics are used.

    Returns
    -------
    NormTrace
        `mean` and `var` have shape [d] and are those that were used; `running` is the updated state in training, the
        given one at inference, and None if none was given.

    Raises
    ------
    InputError
        If an argument is out of its range; if training sees fewer than two real tokens; if a channel is constant and
        `eps` is 0, where 0/0 has no value.

    References
    ----------
    Ioffe & Szegedy 2015, arXiv:1502.03167.
    """
    x = vectors(x)
    if x.ndim < 2:
        raise InputError(
            "x for BatchNorm has tokens and channels, shape [B, T, d]; got shape {shape}.", shape=list(x.shape)
        )
    d = x.shape[-1]
    gain, shift, eps = parameter(weight, "weight", d), parameter(bias, "bias", d), epsilon(eps)
    real = np.ones(x.shape[:-1], dtype=np.bool_) if mask is None else token_mask(mask, x.shape[:-1])
    share = None if momentum is None else _momentum(momentum)
    if running is not None:
        _check_running(running, d)

    tokens = x[real]
    if training:
        mean, from_mean, var = _batch_statistics(tokens)
        updated = None if running is None else _update(running, mean, var, len(tokens), share)
    elif running is not None:
        mean, var, updated = running.mean, running.var, running
        from_mean = tokens - mean
    else:
        raise InputError("running holds the statistics to use when training is False; got None.")
    # The variance of a batch is 0 also where its squares are below float64's range.
    still = ~from_mean.any(axis=0) if training else var == 0
    if eps == 0 and (constant := np.flatnonzero(still)).size:
        raise InputError(
            "BatchNorm of channel {channel} is undefined at eps = 0: its variance is 0, and 0/0 has no value. Any "
            "eps > 0 gives 0 for a constant channel, plus the bias.",
            channel=int(constant[0]),
        )
    check_square(var + eps)

    scaled = from_mean / np.sqrt(var + eps)
    with np.errstate(over="ignore"):
        result = scaled if gain is None else scaled * gain
        result = result if shift is None else result + shift
    if not np.isfinite(result).all():  # only running statistics can be as far from x as that
        raise InputError("The output is above 1.8e308, the most float64 can hold: lower weight or raise running.var.")
    return NormTrace(
        x=frozen(x),
        eps=eps,
        weight=None if gain is None else frozen(gain),
        bias=None if shift is None else frozen(shift),
        mean=frozen(mean),
        var=frozen(var),
        centered=_at(real, from_mean),
        normalized=_at(real, scaled),
        output=_at(real, result),
        running=updated,
    )


def _batch_statistics(tokens: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean [d], deviations [N, d] and biased variance [d] of the tokens [N, d]."""
    if len(tokens) < 2:
        raise InputError(
            "BatchNorm in training needs at least 2 real tokens, because the variance of a channel over one token says "
            "nothing; got {count}. Use a larger batch, or the running statistics (training = False).",
            count=len(tokens),
        )
    mean, from_mean = centre(tokens, axis=0)
    return mean[0], from_mean, (from_mean**2).mean(axis=0)


def _update(running: RunningStats, mean: Floats, var: Floats, count: int, momentum: float | None) -> RunningStats:
    steps = running.steps + 1
    share = 1 / steps if momentum is None else momentum
    unbiased = var * (count / (count - 1))
    return RunningStats(
        mean=(1 - share) * running.mean + share * mean,
        var=(1 - share) * running.var + share * unbiased,
        steps=steps,
    )


def _momentum(momentum: float) -> float:
    share = finite_number(momentum, "momentum")
    if not 0 <= share <= 1:
        raise InputError("momentum is a share from 0 to 1 of the new batch; got {value:g}.", value=share)
    return share


def _check_running(running: RunningStats, d: int) -> None:
    if not isinstance(running, RunningStats):
        raise InputError("running is a RunningStats or None; got {value}.", value=shown(running))
    per_channel(running.mean, "running.mean", d, LARGEST_MEAN)


def _at(real: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], tokens: Floats) -> Floats:
    """The tokens [N, d] put back in their places, pads 0."""
    array = np.zeros((*real.shape, tokens.shape[-1]))
    array[real] = tokens
    return frozen(array)


def batch_norm_module(d_model: int, eps: float) -> nn.Module:
    """`torch.nn.BatchNorm1d` whose forward takes [batch, tokens, d_model] and pools batch and tokens."""
    from torch import nn

    class TokenBatchNorm(nn.BatchNorm1d):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input.flatten(end_dim=-2)).view_as(input)

    return TokenBatchNorm(d_model, eps=eps)


RECORD = NormRecord(
    id="batch_norm",
    label=N_("BatchNorm"),
    formula=r"\gamma_c\frac{x_c-\mu_c}{\sqrt{\frac1N\sum_n(x_{n,c}-\mu_c)^2+\varepsilon}}+\beta_c",
    has_mean=True,
    has_bias=True,
    source="Ioffe & Szegedy 2015, arXiv:1502.03167",
    reference=batch_norm,
    module=batch_norm_module,
)
