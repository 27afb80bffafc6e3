"""In which order does PyTorch add float32 numbers on a CPU?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

# PyTorch's sum has no AVX-512 kernel: 8 float32 lanes of 256 bits, each with 4 running sums that are kept in 4 levels
# of at least 16 terms (aten/src/ATen/native/cpu/SumKernel.cpp).
_LANES, _CHAINS, _LEVELS, _LEAST_POWER = 8, 4, 4, 4


def float32_mean(x: Singles) -> Singles:
    """Mean along the last axis (kept with length 1), bit for bit that of `tensor.mean(-1, keepdim=True)` on x86 CPUs.

    float32 addition is not associative, so that the order counts: NumPy's `mean` adds pairwise and differs in the last
    bit from PyTorch's now and then, which a cast to float16 shows in about one of 4,000 elements.

    Parameters
    ----------
    x
        float32, shape [..., d] with d >= 1, rows contiguous in memory. A single row of 32,768 numbers or more is
        divided between threads by PyTorch, and then the order is another.
    """
    d = x.shape[-1]
    lanes = _LANES if d >= _LANES else 1
    whole = d // lanes * lanes
    columns = _column_sums(x[..., :whole].reshape(*x.shape[:-1], whole // lanes, lanes))
    total = np.zeros(x.shape[:-1], dtype=np.float32)
    for rest in range(whole, d):
        total = total + x[..., rest]
    for lane in range(lanes):
        total = total + columns[..., lane]
    mean: Singles = (total / np.float32(d))[..., None]
    return mean


def _column_sums(rows: Singles) -> Singles:
    """Sums over the second last axis, four chains side by side."""
    n = rows.shape[-2]
    whole = n // _CHAINS * _CHAINS
    chains = _levels(rows[..., :whole, :].reshape(*rows.shape[:-2], n // _CHAINS, _CHAINS, rows.shape[-1]))
    total: Singles = chains[..., 0, :]
    for rest in range(whole, n):
        total = total + rows[..., rest, :]
    for chain in range(1, _CHAINS):
        total = total + chains[..., chain, :]
    return total


def _levels(terms: Singles) -> Singles:
    """Sums over the third last axis: a full level is added to the next, so that no running sum gets many terms."""
    n = terms.shape[-3]
    power = max(_LEAST_POWER, math.ceil(math.log2(n)) // _LEVELS if n else 0)
    step = 1 << power
    sums = [np.zeros(terms.shape[:-3] + terms.shape[-2:], dtype=np.float32) for _ in range(_LEVELS)]
    for i in range(n):
        sums[0] = sums[0] + terms[..., i, :, :]
        if (i + 1) % step:
            continue
        for level in range(1, _LEVELS):
            sums[level] = sums[level] + sums[level - 1]
            sums[level - 1] = np.zeros_like(sums[level - 1])
            if (i + 1) & ((step - 1) << (level * power)):
                break
    total = sums[0]
    for level in range(1, _LEVELS):
        total = total + sums[level]
    return total
