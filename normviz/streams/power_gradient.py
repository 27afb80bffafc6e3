"""What does PowerNorm pass back, approximately, and what would be exact?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    Floats,
    check_square,
    epsilon,
    finite_array,
    frozen,
    parameter,
    per_channel,
    vectors,
    within_range,
)
from normviz.errors import InputError
from normviz.streams.limits import number_within
from normviz.streams.power import PowerTrace, real_tokens


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerGradient:
    r"""What PowerNorm passes back.

    Attributes
    ----------
    x
        Gradient of x, shape [..., d]; 0 on pads.
    weight, bias
        Gradients of gain and bias, shape [d]; None where the forward pass had none.
    nu
        $\nu$ for the next batch, shape [d].
    """

    x: Floats
    weight: Floats | None
    bias: Floats | None
    nu: Floats


def power_norm_backward(trace: PowerTrace, gradient: ArrayLike, nu: ArrayLike, *, alpha: float = 0.9) -> PowerGradient:
    r"""Approximate backward pass of PowerNorm: what goes back through one batch, and the $\nu$ for the next.

    With $g'=\gamma\odot g$: $\nabla_x=\frac{g'-\nu^{(t-1)}\hat x}{\psi^{(t-1)}}$, then
    $\nu^{(t)}=\nu^{(t-1)}(1-(1-\alpha)\Gamma)+(1-\alpha)\Lambda$ with $\Gamma=\overline{\hat x^2}$ and
    $\Lambda=\overline{g'\hat x}$ per channel over the real tokens. At the fixed point $\nu=\Lambda/\Gamma$ with
    $\psi=\psi_B$ (and eps 0) it is exactly the gradient of `power_norm_v`.

    Parameters
    ----------
    trace
        What the forward pass returned.
    gradient
        $g$, of the loss with respect to the output, shape [..., d]; what stands on pads is not used.
    nu
        $\nu^{(t-1)}$, shape [d].
    alpha
        $\alpha$ in [0, 1], the share of the old.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Shen et al. 2020, arXiv:2003.07845.
    """
    d = trace.x.shape[-1]
    g = _gradient(gradient, trace.x.shape)
    before = per_channel(nu, "nu", d)
    share = 1 - number_within(alpha, "alpha", 0, 1)
    normalized, g_tokens = real_tokens(trace.normalized, trace.mask), real_tokens(g, trace.mask)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = g_tokens if trace.weight is None else g_tokens * trace.weight
        back = (scaled - before * normalized) / trace.used
        pull, push = (normalized**2).mean(axis=0), (scaled * normalized).mean(axis=0)
        after = before * (1 - share * pull) + share * push
        weight = None if trace.weight is None else (g_tokens * normalized).sum(axis=0)
    if not all(np.isfinite(part).all() for part in (back, after, weight) if part is not None):
        raise InputError("The gradient is above 1.8e308, the most float64 can hold: lower gradient, weight or nu.")
    x = np.zeros(trace.x.shape)
    x[np.ones(x.shape[:-1], np.bool_) if trace.mask is None else trace.mask] = back
    return PowerGradient(
        x=frozen(x),
        weight=None if weight is None else frozen(weight),
        bias=None if trace.bias is None else frozen(g_tokens.sum(axis=0)),
        nu=frozen(after),
    )


def power_norm_v(
    x: ArrayLike, gradient: ArrayLike, weight: ArrayLike | None = None, *, eps: float
) -> tuple[Floats, Floats]:
    r"""Output and exact gradient of x of PN-V, the PowerNorm that divides by the batch's own quadratic mean.

    $\hat x=x/\psi_B$, $y=\gamma\odot\hat x$ and
    $\nabla_x=\frac1{\psi_B}\left(g'-\hat x\,\overline{g'\hat x}\right)$ with
    $\psi_B=\sqrt{\frac1N\sum_nx_n^2+\varepsilon}$ per channel and $g'=\gamma\odot g$.

    Parameters
    ----------
    x, gradient
        The input and $g$, of the loss with respect to the output, shape [..., d].
    weight
        Gain $\gamma$, shape [d]; None leaves it out.
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.

    Raises
    ------
    InputError
        If an argument is out of its range, or a channel is 0 everywhere and `eps` is 0.

    References
    ----------
    Shen et al. 2020, arXiv:2003.07845.
    """
    x = vectors(x)
    g, gain, eps = _gradient(gradient, x.shape), parameter(weight, "weight", x.shape[-1]), epsilon(eps)
    axes = tuple(range(x.ndim - 1))
    square = (real_tokens(x, None) ** 2).mean(axis=0) + eps
    check_square(square)
    psi = np.sqrt(square)
    normalized = x / psi
    scaled = g if gain is None else within_range(g * gain, "gradient * weight")
    back = (scaled - normalized * (scaled * normalized).mean(axis=axes)) / psi
    return frozen(normalized.copy() if gain is None else normalized * gain), frozen(back)


def _gradient(gradient: ArrayLike, shape: tuple[int, ...]) -> Floats:
    g = within_range(finite_array(gradient, "gradient"), "gradient")
    if g.shape != shape:
        raise InputError(
            "gradient has the shape of x, {expected}; got shape {shape}.", expected=list(shape), shape=list(g.shape)
        )
    return g
