"""What is known about a normalized [B, T, d] grid and about one cell of it?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class GridTrace:
    """A normalized [B, T, d] grid: who shares a statistic, its value, and the result; arrays are read-only.

    Attributes
    ----------
    x
        The input, shape [B, T, d].
    axis, groups, eps, weight, bias, mask
        What was asked for; `groups` is 1 unless the axis is "group_norm", `mask` is None if every token is real.
    group
        Which statistic each cell belongs to, int64 [B, T, d], numbered from 0 in reading order; -1 on pads.
    count
        Cells per statistic, int64 [n_statistics].
    mean, var, rms
        The statistics, shape [n_statistics]; the variance is biased, `rms` is without eps. "rms_norm" has no `mean` and
        `var`.
    normalized, output
        Before and after gain and bias, shape [B, T, d]; 0 on pads.
    """

    x: Floats
    axis: str
    groups: int
    eps: float
    weight: Floats | None
    bias: Floats | None
    mask: NDArray[np.bool_] | None
    group: NDArray[np.int64]
    count: NDArray[np.int64]
    mean: Floats | None
    var: Floats | None
    rms: Floats
    normalized: Floats
    output: Floats

    @property
    def n_statistics(self) -> int:
        """How many means and deviations (or RMS values) were computed."""
        return self.count.size

    @property
    def parameter_shape(self) -> tuple[int, ...]:
        """Shape of the gain: one number per channel; one per cell for "everything", as `nn.LayerNorm([B, T, d])`."""
        return self.x.shape if self.axis == "everything" else (self.x.shape[-1],)

    @property
    def bias_shape(self) -> tuple[int, ...] | None:
        """Shape of the bias, or None for "rms_norm", which has none."""
        return None if self.axis == "rms_norm" else self.parameter_shape


@dataclass(frozen=True, kw_only=True, eq=False)
class CellTrace:
    """One cell of a normalized grid with the arithmetic that leads to its output.

    Attributes
    ----------
    index
        (sequence, token, channel), from 0.
    members
        The cells that share its statistic, itself among them, bool [B, T, d]; all False for a pad.
    members_values
        Their numbers in reading order, shape [count].
    count, mean, var, rms
        The statistic, as in `GridTrace`; 0 and None for a pad.
    value, normalized, output
        The cell before, after the division, and after gain and bias.
    """

    index: tuple[int, int, int]
    members: NDArray[np.bool_]
    members_values: Floats
    count: int
    mean: float | None
    var: float | None
    rms: float | None
    value: float
    normalized: float
    output: float
