"""What does a [B, T, d] grid become when its cells are divided by the statistics that they share?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from normviz.arrays import (
    Floats,
    check_square,
    epsilon,
    finite_array,
    frozen,
    parameter,
    token_mask,
    vectors,
    whole_number,
    within_range,
)
from normviz.errors import InputError
from normviz.grid.sharing import AXES, Sharing, sharing
from normviz.grid.trace import CellTrace, GridTrace

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
    - "group_norm": d/groups neighbouring channels over the tokens of one sequence, B*groups statistics;
    - "everything": all cells, one statistic (LayerNorm over the shape of the whole grid).

    Parameters
    ----------
    x
        Shape [B, T, d], no axis empty.
    axis
        One of `AXES`.
    groups
        How many groups the channels form, a divisor of d; used by "group_norm" alone.
    weight, bias
        Gain and bias per channel, shape [d], or per cell for "everything", shape [B, T, d]; None leaves the step out.
        "rms_norm" takes no bias.
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
    x = grid_array(x)
    if axis not in AXES:
        raise InputError("axis is one of {allowed}; got {value!r}.", allowed=", ".join(AXES), value=axis)
    d = x.shape[-1]
    gain, shift = (_parameter(value, field, axis, x.shape) for value, field in ((weight, "weight"), (bias, "bias")))
    eps = epsilon(eps)
    if axis == "rms_norm" and shift is not None:
        raise InputError("RMSNorm has no bias, so bias is None for this axis; got {count} numbers.", count=shift.size)
    groups = _group_count(groups, d) if axis == "group_norm" else 1
    given = None if mask is None else token_mask(mask, x.shape[:2])
    real = np.ones(x.shape[:2], dtype=np.bool_) if given is None else given
    if not real.any():
        raise InputError("mask keeps at least one real token; got {count} pads and nothing else.", count=real.size)
    tokens, shared = x[real], sharing(real, d, axis, groups)
    if axis == "batch_norm" and len(tokens) < 2:
        raise InputError(
            "BatchNorm takes its statistics over at least 2 real tokens, because one token has no variance; got 1."
        )

    count = shared.count
    mean_square = shared.total(tokens**2) / count
    mean = var = None
    if axis == "rms_norm":
        square, top = mean_square, tokens
    else:
        # Measured from each statistic's first cell, so that equal cells deviate by exactly zero.
        first = shared.first(tokens)
        from_first = tokens - shared.spread(first)
        offset = shared.total(from_first) / count
        mean, top = first + offset, from_first - shared.spread(offset)
        square = var = shared.total(top**2) / count
    if eps == 0:
        _refuse_flat(axis, top, shared)
    check_square(square + eps)

    normalized = np.zeros(x.shape)
    normalized[real] = top / shared.spread(np.sqrt(square + eps))
    output = normalized.copy() if gain is None else normalized * gain
    if shift is not None:
        output += shift
    output[~real] = 0.0
    group = np.full(x.shape, NO_STATISTIC, dtype=np.int64)
    group[real] = shared.member
    return GridTrace(
        x=frozen(x),
        axis=axis,
        groups=groups,
        eps=eps,
        weight=None if gain is None else frozen(gain),
        bias=None if shift is None else frozen(shift),
        mask=given,
        group=frozen(group),
        count=frozen(count),
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


def grid_array(x: ArrayLike) -> Floats:
    """`x` as a float64 grid [B, T, d] without an empty axis."""
    array = vectors(x)
    check_grid_shape(array.shape)
    return array


def check_grid_shape(shape: tuple[int, ...]) -> None:
    """Refuse a shape that is not [B, T, d] without an empty axis."""
    if len(shape) != 3 or 0 in shape:
        raise InputError(
            "x is a grid of shape [B, T, d] with every size at least 1; got shape {shape}.", shape=list(shape)
        )


def _parameter(value: ArrayLike | None, field: str, axis: str, shape: tuple[int, ...]) -> Floats | None:
    if value is None or axis != "everything":
        return parameter(value, field, shape[-1])
    array = finite_array(value, field)
    if array.shape != shape:
        raise InputError(
            "{field} has one number per cell when all cells share one statistic, shape {expected}; got shape {shape}.",
            field=field,
            expected=list(shape),
            shape=list(array.shape),
        )
    return within_range(array, field)


def _group_count(groups: int, d: int) -> int:
    groups = whole_number(groups, "groups", 1, d)
    if d % groups:
        raise InputError("groups divides the {d} channels into equal parts; got {value}.", d=d, value=groups)
    return groups


def _refuse_flat(axis: str, top: Floats, shared: Sharing) -> None:
    """Refuse 0/0. A square of 0 says less: it is also what squares below float64's range add up to."""
    flat = np.flatnonzero(shared.total((top != 0).astype(np.float64)) == 0)
    if not flat.size:
        return
    count = int(shared.count[flat[0]])
    if count == 1 and axis != "rms_norm":
        raise InputError(
            "At eps = 0 there is no value where a statistic is taken over a single cell: its variance is 0, and 0/0 "
            "has no value. Any eps > 0 gives 0, plus the bias."
        )
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
