"""Which cells of a [B, T, d] grid share a statistic, and what does dividing by it give?"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import Floats, check_square, epsilon, frozen, parameter, token_mask, vectors, whole_number
from normviz.errors import InputError
from normviz.grid.trace import CellTrace, GridTrace

AXES: tuple[str, ...] = ("layer_norm", "rms_norm", "batch_norm", "instance_norm", "group_norm")
"""Ids of the ways to share a statistic, in the order in which a page shows them."""

NO_STATISTIC = -1
"""Stands in `GridTrace.group` for a cell of a pad, which belongs to no statistic."""


def normalize_grid(
    x: ArrayLike,
    axis: str,
    *,
    groups: int = 1,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    mask: ArrayLike | None = None,
) -> GridTrace:
    r"""Normalize a [B, T, d] grid with statistics shared along the chosen axis.

    $\hat x=\frac{x-\mu_k}{\sqrt{\nu_k+\varepsilon}}$ for every cell of statistic k ("rms_norm":
    $\hat x=x/\sqrt{\overline{x^2}_k+\varepsilon}$), then gain and bias per channel. A statistic k is shared by

    - "layer_norm", "rms_norm": the d channels of one token, B*T statistics;
    - "batch_norm": one channel over all tokens of all sequences, d statistics (those of training);
    - "instance_norm": one channel over the tokens of one sequence, B*d statistics;
    - "group_norm": d/groups neighbouring channels over the tokens of one sequence, B*groups statistics.

    Parameters
    ----------
    x
        Shape [B, T, d], no axis empty.
    axis
        One of `AXES`.
    groups
        How many groups the channels form, a divisor of d; used by "group_norm" alone.
    weight, bias
        Gain and bias per channel, shape [d]; None leaves the step out. "rms_norm" takes no bias.
    eps
        $\varepsilon\ge0$, inside the root, in units of x squared.
    mask
        Shape [B, T], True for real tokens. Pads are left out of every statistic and their output is 0.

    Raises
    ------
    InputError
        If an argument is out of its range; if "batch_norm" sees fewer than two real tokens; if the cells of a statistic
        are all equal (all 0 for "rms_norm") and `eps` is 0, where 0/0 has no value.

    References
    ----------
    Ba et al. 2016, arXiv:1607.06450; Zhang & Sennrich 2019, arXiv:1910.07467; Ioffe & Szegedy 2015, arXiv:1502.03167;
    Ulyanov et al. 2016, arXiv:1607.08022; Wu & He 2018, arXiv:1803.08494.
    """
    x = vectors(x)
    if x.ndim != 3 or x.size == 0:
        raise InputError(
            "x is a grid of shape [B, T, d] with every size at least 1; got shape {shape}.", shape=list(x.shape)
        )
    if axis not in AXES:
        raise InputError("axis is one of {allowed}; got {value!r}.", allowed=", ".join(AXES), value=axis)
    d = x.shape[-1]
    gain, shift, eps = parameter(weight, "weight", d), parameter(bias, "bias", d), epsilon(eps)
    if axis == "rms_norm" and shift is not None:
        raise InputError("RMSNorm has no bias, so bias is None for this axis; got {count} numbers.", count=shift.size)
    groups = _group_count(groups, d) if axis == "group_norm" else 1
    given = None if mask is None else token_mask(mask, x.shape[:2])
    real = np.broadcast_to(np.True_ if given is None else given[..., None], x.shape)
    if not real.any():
        raise InputError(
            "mask keeps at least one real token; got {count} pads and nothing else.", count=real[..., 0].size
        )

    # Statistics without a real cell are dropped here, so that the rest are numbered without gaps.
    _, first, member = np.unique(_statistic_of(x.shape, axis, groups)[real], return_index=True, return_inverse=True)
    cells, count = x[real], np.bincount(member)
    if axis == "batch_norm" and count[0] < 2:
        raise InputError(
            "BatchNorm takes its statistics over at least 2 real tokens, because one token has no variance; got 1."
        )

    mean_square = np.bincount(member, cells**2) / count
    mean = var = None
    if axis == "rms_norm":
        square, top = mean_square, cells
    else:
        # Measured from each statistic's first cell, so that equal cells deviate by exactly zero.
        from_first = cells - cells[first][member]
        offset = np.bincount(member, from_first) / count
        mean, top = cells[first] + offset, from_first - offset[member]
        square = var = np.bincount(member, top**2) / count
    # A square of 0 says less: it is also what squares below float64's range add up to.
    if eps == 0 and (flat := np.flatnonzero(np.bincount(member, top != 0) == 0)).size:
        _refuse_flat(axis, int(count[flat[0]]))
    check_square(square + eps)

    scaled = top / np.sqrt(square + eps)[member]
    normalized = np.zeros(x.shape)
    normalized[real] = scaled
    output = normalized if gain is None else normalized * gain
    output = np.where(real, output if shift is None else output + shift, 0.0)
    group = np.full(x.shape, NO_STATISTIC, dtype=np.int64)
    group[real] = member
    return GridTrace(
        x=frozen(x),
        axis=axis,
        groups=groups,
        eps=eps,
        weight=None if gain is None else frozen(gain),
        bias=None if shift is None else frozen(shift),
        mask=given,
        group=frozen(group),
        count=frozen(count.astype(np.int64)),
        mean=None if mean is None else frozen(mean),
        var=None if var is None else frozen(var),
        rms=frozen(np.sqrt(mean_square)),
        normalized=frozen(normalized),
        output=frozen(output),
    )


def cell(trace: GridTrace, b: int, t: int, c: int) -> CellTrace:
    """One cell of a normalized grid: who shares its statistic, and the arithmetic that leads to its output.

    Parameters
    ----------
    trace
        What `normalize_grid` returned.
    b, t, c
        Sequence, token and channel, from 0.

    Raises
    ------
    InputError
        If the grid has no such cell.
    """
    index = tuple(
        whole_number(value, field, 0, size - 1)
        for field, value, size in zip("btc", (b, t, c), trace.x.shape, strict=True)
    )
    statistic = int(trace.group[index])
    is_real = statistic != NO_STATISTIC
    members = (trace.group == statistic) & is_real

    def of_statistic(values: Floats | None) -> float | None:
        return float(values[statistic]) if is_real and values is not None else None

    return CellTrace(
        index=(index[0], index[1], index[2]),
        members=frozen(members),
        members_values=frozen(trace.x[members]),
        count=int(trace.count[statistic]) if is_real else 0,
        mean=of_statistic(trace.mean),
        var=of_statistic(trace.var),
        rms=of_statistic(trace.rms),
        value=float(trace.x[index]),
        normalized=float(trace.normalized[index]),
        output=float(trace.output[index]),
    )


def _statistic_of(shape: tuple[int, ...], axis: str, groups: int) -> NDArray[np.int64]:
    """The number of the statistic of each cell, as if there were no pads."""
    batch, tokens, d = shape
    b, t, c = np.ogrid[:batch, :tokens, :d]
    number = {
        "layer_norm": b * tokens + t,
        "rms_norm": b * tokens + t,
        "batch_norm": c,
        "instance_norm": b * d + c,
        "group_norm": b * groups + c // (d // groups),
    }[axis]
    return np.broadcast_to(number, shape)


def _group_count(groups: int, d: int) -> int:
    groups = whole_number(groups, "groups", 1, d)
    if d % groups:
        raise InputError("groups divides the {d} channels into equal parts; got {value}.", d=d, value=groups)
    return groups


def _refuse_flat(axis: str, count: int) -> NoReturn:
    if axis == "rms_norm":
        raise InputError(
            "At eps = 0 RMSNorm has no value where all {count} cells that share a statistic are 0: their root mean "
            "square is 0, and 0/0 has no value. Any eps > 0 gives 0.",
            count=count,
        )
    raise InputError(
        "At eps = 0 there is no value where all {count} cells that share a statistic are equal: their variance is 0, "
        "and 0/0 has no value. Any eps > 0 gives 0, plus the bias.",
        count=count,
    )
