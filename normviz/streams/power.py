"""What does PowerNorm compute, and what does it carry to the next batch?"""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as shown

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import (
    LARGEST_ENTRY,
    Floats,
    check_square,
    epsilon,
    finite_array,
    frozen,
    parameter,
    per_channel,
    token_mask,
    vectors,
    whole_number,
)
from normviz.errors import InputError
from normviz.streams.limits import number_within

# No mean square is above this, with room for rounding.
LARGEST_RUNNING_SQUARE = 2 * LARGEST_ENTRY**2


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerState:
    r"""What PowerNorm carries from batch to batch.

    Attributes
    ----------
    square
        Running quadratic mean $\psi^2$ per channel, shape [d].
    nu
        Running $\nu$ of the approximate backward pass per channel, shape [d].
    steps
        How many batches have been taken in.

    Raises
    ------
    InputError
        If there is not one quadratic mean, 0 or above, and one finite $\nu$ per channel, or `steps` is no whole number.
    """

    square: Floats
    nu: Floats
    steps: int

    def __post_init__(self) -> None:
        shape = finite_array(self.square, "state.square").shape
        if len(shape) != 1 or shape == (0,):
            raise InputError(
                "state.square has one number per channel, shape [d] with d >= 1; got shape {shape}.", shape=list(shape)
            )
        square = per_channel(self.square, "state.square", shape[0], LARGEST_RUNNING_SQUARE)
        if (square < 0).any():
            raise InputError(
                "state.square holds mean squares, which are 0 or positive; got {value:g}.", value=float(square.min())
            )
        object.__setattr__(self, "square", frozen(square))
        object.__setattr__(self, "nu", frozen(per_channel(self.nu, "state.nu", shape[0])))
        object.__setattr__(self, "steps", whole_number(self.steps, "state.steps", 0))

    @classmethod
    def start(cls, d: int) -> PowerState:
        r"""The state before any batch: $\psi^2=1$, $\nu=0$, no steps."""
        d = whole_number(d, "d", 1)
        return cls(square=np.ones(d), nu=np.zeros(d), steps=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerTrace:
    r"""Every intermediate of one forward pass of PowerNorm, as read-only float64 arrays.

    Attributes
    ----------
    x
        The input, shape [..., d].
    eps
        Added to the running quadratic mean before the root, in units of x squared.
    weight, bias
        Gain and bias, shape [d], or None.
    mask
        Shape [...], True for real tokens, or None if all are real.
    batch_square
        Quadratic mean of each channel over the real tokens of this batch, $\psi_B^2$, shape [d].
    used
        What x was divided by: $\sqrt{\psi^2+\varepsilon}$ of the state before this batch, shape [d].
    normalized, output
        x over `used`, and that after gain and bias, shape [..., d]; 0 on pads.
    state
        After this batch: `square` has moved, `nu` waits for the backward pass.
    """

    x: Floats
    eps: float
    weight: Floats | None
    bias: Floats | None
    mask: NDArray[np.bool_] | None
    batch_square: Floats
    used: Floats
    normalized: Floats
    output: Floats
    state: PowerState


def power_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    state: PowerState | None = None,
    alpha: float = 0.9,
    eps: float = 1e-5,
    mask: ArrayLike | None = None,
) -> PowerTrace:
    r"""PowerNorm of a batch in training: divide by the running quadratic mean, then let it move.

    $\hat x=\frac x{\psi^{(t-1)}}$, $y=\gamma\odot\hat x+\beta$, then
    $(\psi^{(t)})^2=(\psi^{(t-1)})^2+(1-\alpha)\left(\psi_B^2-(\psi^{(t-1)})^2\right)$ with
    $\psi_B^2=\frac1N\sum_nx_n^2$ per channel over the N real tokens. There is no mean, and a batch meets the state
    before it, so that training and inference do the same.

    The authors' released code (sIncerass/powernorm, `mask_powernorm.py`) does some things differently: during the first
    10,000 iterations the forward pass uses the batch's own statistic, while the running one is a plain average; the
    backward pass divides by the batch's $\psi_B$ for good; $\nu$ is accumulated with $1-\alpha$ inside the
    subtraction; and a GroupScaling1D, an RMSNorm of each token without weight, runs before PowerNorm.

    Parameters
    ----------
    x
        Shape [..., d].
    weight, bias
        Gain $\gamma$ and bias $\beta$, shape [d]; None leaves the step out.
    state
        What was carried so far; None is the start, $\psi^2=1$ and $\nu=0$.
    alpha
        $\alpha$ in [0, 1], the share of the old; 0.9 as in the released code.
    eps
        $\varepsilon\ge0$, added to $\psi^2$ inside the root, in units of x squared.
    mask
        Shape [...], True for real tokens. Pads are left out of the quadratic mean, and are 0 in the output.

    Raises
    ------
    InputError
        If an argument is out of its range, or if no token is real.

    References
    ----------
    Shen et al. 2020, arXiv:2003.07845.
    """
    x = vectors(x)
    d = x.shape[-1]
    gain, shift, eps = parameter(weight, "weight", d), parameter(bias, "bias", d), epsilon(eps)
    given = None if mask is None else token_mask(mask, x.shape[:-1])
    alpha = number_within(alpha, "alpha", 0, 1)
    state = PowerState.start(d) if state is None else state
    if not isinstance(state, PowerState):
        raise InputError("state is a PowerState or None; got {value}.", value=shown(state))
    per_channel(state.square, "state.square", d, LARGEST_RUNNING_SQUARE)
    tokens = real_tokens(x, given)
    check_square(state.square + eps)

    used = np.sqrt(state.square + eps)
    batch_square = (tokens**2).mean(axis=0)
    normalized = x / used
    with np.errstate(over="ignore", invalid="ignore"):
        output = normalized if gain is None else normalized * gain
        output = output.copy() if shift is None else output + shift
    if given is not None:
        normalized[~given] = output[~given] = 0
    if not np.isfinite(output).all():  # only a running quadratic mean can be as far from x as that
        raise InputError("The output is above 1.8e308, the most float64 can hold: lower weight or raise state.square.")
    return PowerTrace(
        x=frozen(x),
        eps=eps,
        weight=None if gain is None else frozen(gain),
        bias=None if shift is None else frozen(shift),
        mask=given,
        batch_square=frozen(batch_square),
        used=frozen(used),
        normalized=frozen(normalized),
        output=frozen(output),
        state=PowerState(
            square=state.square + (1 - alpha) * (batch_square - state.square), nu=state.nu, steps=state.steps + 1
        ),
    )


def real_tokens(x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
    """The real tokens of x [..., d], at least one, shape [N, d]."""
    tokens = x.reshape(-1, x.shape[-1]) if mask is None else x[mask].reshape(-1, x.shape[-1])
    if not len(tokens):
        raise InputError("PowerNorm takes its quadratic mean over at least 1 real token; got none.")
    return tokens
