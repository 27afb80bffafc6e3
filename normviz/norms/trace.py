"""What happened to x inside a norm, step by step, and what is known about each norm?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from normviz.arrays import LARGEST_ENTRY, Floats, finite_array, frozen, per_channel, whole_number
from normviz.errors import InputError

if TYPE_CHECKING:
    from torch import nn


# No two entries are further apart than twice the largest, and no variance, biased or not, is above the square of that.
LARGEST_MEAN = 2 * LARGEST_ENTRY
LARGEST_VARIANCE = LARGEST_MEAN**2


@dataclass(frozen=True, kw_only=True, eq=False)
class RunningStats:
    r"""The statistics that BatchNorm carries from batch to batch and uses at inference.

    Attributes
    ----------
    mean, var
        Per channel, shape [d]; lists become read-only float64 arrays. The variance is the unbiased one, as in PyTorch.
    steps
        How many batches have been taken in.

    Raises
    ------
    InputError
        If there is not one finite mean and one variance, 0 or above, per channel, or `steps` is no whole number.
    """

    mean: Floats
    var: Floats
    steps: int

    def __post_init__(self) -> None:
        shape = finite_array(self.mean, "running.mean").shape
        if len(shape) != 1 or shape == (0,):
            raise InputError(
                "running.mean has one number per channel, shape [d] with d >= 1; got shape {shape}.", shape=list(shape)
            )
        mean = per_channel(self.mean, "running.mean", shape[0], LARGEST_MEAN)
        var = per_channel(self.var, "running.var", shape[0], LARGEST_VARIANCE)
        if (var < 0).any():
            raise InputError(
                "running.var holds variances, which are 0 or positive; got {value:g}.", value=float(var.min())
            )
        object.__setattr__(self, "mean", frozen(mean))
        object.__setattr__(self, "var", frozen(var))
        object.__setattr__(self, "steps", whole_number(self.steps, "running.steps", 0))

    @classmethod
    def start(cls, d: int) -> RunningStats:
        """The state before any batch: mean 0, variance 1, no steps (PyTorch's start)."""
        d = whole_number(d, "d", 1)
        return cls(mean=np.zeros(d), var=np.ones(d), steps=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class NormTrace:
    r"""Every intermediate of one normalization, as read-only float64 arrays; None where the norm has no such step.

    Attributes
    ----------
    x
        The input, shape [..., d].
    eps
        Added to the variance or mean square before the root, in units of x squared.
    weight, bias
        The gain that multiplied the normalized vector (an offset such as the 1 of 1 + w included) and the bias that was
        added, shape [d].
    mean, var, rms
        The statistics: shape [..., 1] for LayerNorm and RMSNorm, [d] for BatchNorm. The variance is biased (divided by
        the count) wherever it was measured on x; `rms` is without eps.
    centered, normalized, output
        x minus the mean, that divided by `denominator` (DyT: tanh(alpha x)), and the result after gain and bias, shape
        [..., d].
    running
        BatchNorm's running statistics after this batch.
    """

    x: Floats
    eps: float
    weight: Floats | None = None
    bias: Floats | None = None
    mean: Floats | None = None
    var: Floats | None = None
    rms: Floats | None = None
    centered: Floats | None = None
    normalized: Floats
    output: Floats
    running: RunningStats | None = None

    @property
    def std(self) -> Floats | None:
        """Standard deviation, the root of `var` without eps."""
        return None if self.var is None else frozen(np.sqrt(self.var))

    @property
    def denominator(self) -> Floats | None:
        """What x (or `centered`, where the norm subtracts a mean) was divided by: the root with eps inside."""
        square = self.var if self.var is not None else self.rms**2 if self.rms is not None else None
        return None if square is None else frozen(np.sqrt(square + self.eps))


@dataclass(frozen=True, kw_only=True)
class NormRecord:
    r"""One norm of the registry `NORMS`.

    Attributes
    ----------
    id
        The lower-case name used in links, configs and the command line.
    label
        The name a person reads, marked for translation.
    formula
        LaTeX, with $\gamma$ the gain and $\beta$ the bias.
    has_mean, has_bias
        Whether it subtracts a mean, and whether its usual form has a bias.
    source
        The paper, as authors, year and arXiv id.
    reference
        The NumPy function that returns a `NormTrace`, or None where nothing is computed.
    module
        `module(d_model, eps)`: a new torch module on [batch, tokens, d_model]; torch is imported when it is called.
    """

    id: str
    label: str
    formula: str
    has_mean: bool
    has_bias: bool
    source: str
    reference: Callable[..., NormTrace] | None
    module: Callable[[int, float], nn.Module]
