"""Which changes of weights or data leave a layer's normalized output as it is, measured for five norms?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, epsilon, finite_number, rms_divisor, root_mean_square, whole_number, within_range
from normviz.errors import InputError
from normviz.invariances.affine import SAME
from normviz.norms import batch_norm, layer_norm, rms_norm
from normviz.text import N_

NORM_ROWS = ("batch_norm", "weight_norm", "layer_norm", "rms_norm", "p_rms_norm")
NORM_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "batch_norm": "BatchNorm",
        "weight_norm": "WeightNorm",
        "layer_norm": "LayerNorm",
        "rms_norm": "RMSNorm",
        "p_rms_norm": "pRMSNorm",
    }
)
CHANGES = (
    "weights_rescaled",
    "weights_recentered",
    "one_weight_vector_rescaled",
    "dataset_rescaled",
    "dataset_recentered",
    "one_case_rescaled",
)
CHANGE_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "weights_rescaled": N_("All weights rescaled"),
        "weights_recentered": N_("All weights recentered"),
        "one_weight_vector_rescaled": N_("One weight vector rescaled"),
        "dataset_rescaled": N_("Data set rescaled"),
        "dataset_recentered": N_("Data set recentered"),
        "one_case_rescaled": N_("One case rescaled"),
    }
)
PUBLISHED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "batch_norm": ("weights_rescaled", "one_weight_vector_rescaled", "dataset_rescaled", "dataset_recentered"),
        "weight_norm": ("weights_rescaled", "one_weight_vector_rescaled"),
        "layer_norm": ("weights_rescaled", "weights_recentered", "dataset_rescaled", "one_case_rescaled"),
        "rms_norm": ("weights_rescaled", "dataset_rescaled", "one_case_rescaled"),
        "p_rms_norm": ("weights_rescaled", "dataset_rescaled", "one_case_rescaled"),
    }
)
"""Which changes leave which norm's output as it is (arXiv:1910.07467; its first three rows after arXiv:1607.06450)."""

P_RMS_SHARE = 0.0625
"""Share of the entries that pRMSNorm takes its RMS from (arXiv:1910.07467)."""

_FACTORS = (1e-6, 1e6)
_SHIFTS = 1e4  # above it, the rounding of a shifted sum nears `SAME`


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One norm's answer to one change, measured.

    Attributes
    ----------
    norm, change
        From `NORM_ROWS` and `CHANGES`.
    difference
        The largest absolute change of an output, in units of the outputs' root mean square before.
    invariant
        Whether that is below `SAME`: the output stays as it is.
    flipped
        Whether some outputs change their sign and none changes its size.
    published
        What the paper's table says, for a positive factor and eps 0.
    """

    norm: str
    change: str
    difference: float
    invariant: bool
    flipped: bool
    published: bool


def invariance_table(
    *,
    factor: float = 3.0,
    shift: float = 2.0,
    eps: float = 0.0,
    seed: int = 0,
    cases: int = 32,
    inputs: int = 24,
    outputs: int = 16,
) -> tuple[Cell, ...]:
    r"""The invariances of five norms, measured on random weights W and data X drawn from the standard normal.

    The output is $\mathrm{norm}(XW^\top)$ without gain, bias and nonlinearity. Rescaling multiplies by `factor`;
    recentering adds `shift` times a random row, the same one to every row of W or X. BatchNorm works over the cases,
    LayerNorm and RMSNorm over the outputs of each case, pRMSNorm takes its RMS from the first 6.25 % of the outputs (2
    at least), and weight normalization divides each row of W by its length.

    Parameters
    ----------
    factor
        1e-6 to 1e6 in size. A negative one flips the sign of every output that a positive one leaves alone; -1 changes
        no size at all, so that a few more cells only flip.
    shift
        Up to 1e4 in size.
    eps
        $\varepsilon\ge0$, inside the roots; weight normalization has none. Above 0 no rescaling leaves an output of the
        other four exactly alone.
    seed
        A whole number from 0 to 2**31 - 1.
    cases, inputs, outputs
        3 to 512 each: of two numbers LayerNorm and BatchNorm keep only which is larger.

    Returns
    -------
    tuple of Cell
        Norm by norm, change by change.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Zhang & Sennrich 2019, arXiv:1910.07467; Ba, Kiros & Hinton 2016, arXiv:1607.06450.
    """
    by, offset, eps = _factor(factor), _shift(shift), epsilon(eps)
    n, k, m = (
        whole_number(value, field, 3, 512)
        for value, field in ((cases, "cases"), (inputs, "inputs"), (outputs, "outputs"))
    )
    rng = np.random.default_rng(whole_number(seed, "seed", 0, 2**31 - 1))
    weights, data = rng.standard_normal((m, k)), rng.standard_normal((n, k))
    row = offset * rng.standard_normal(k)
    first_row, first_case = np.ones((m, 1)), np.ones((n, 1))
    first_row[0] = first_case[0] = by
    changed = {
        "weights_rescaled": (by * weights, data),
        "weights_recentered": (weights + row, data),
        "one_weight_vector_rescaled": (first_row * weights, data),
        "dataset_rescaled": (weights, by * data),
        "dataset_recentered": (weights, data + row),
        "one_case_rescaled": (weights, first_case * data),
    }
    before = {norm: layer(weights, data, eps) for norm, layer in _LAYERS.items()}
    return tuple(
        _cell(norm, change, before[norm], _LAYERS[norm](*changed[change], eps))
        for norm in NORM_ROWS
        for change in CHANGES
    )


def _cell(norm: str, change: str, before: Floats, after: Floats) -> Cell:
    unit = float(root_mean_square(before.reshape(-1))[0])
    difference = float(np.abs(after - before).max()) / unit
    same = difference < SAME
    return Cell(
        norm=norm,
        change=change,
        difference=difference,
        invariant=same,
        flipped=not same and float(np.abs(np.abs(after) - np.abs(before)).max()) / unit < SAME,
        published=change in PUBLISHED[norm],
    )


def _weight_norm(weights: Floats, data: Floats, eps: float) -> Floats:
    output: Floats = data @ (weights / np.linalg.norm(weights, axis=1, keepdims=True)).T
    return output


def _p_rms_norm(weights: Floats, data: Floats, eps: float) -> Floats:
    sums = data @ weights.T
    first = max(2, int(np.ceil(P_RMS_SHARE * sums.shape[1])))
    return sums / rms_divisor(sums[:, :first], eps)


_LAYERS: Mapping[str, Callable[[Floats, Floats, float], Floats]] = MappingProxyType(
    {
        "batch_norm": lambda weights, data, eps: batch_norm(data @ weights.T, eps=eps).output,
        "weight_norm": _weight_norm,
        "layer_norm": lambda weights, data, eps: layer_norm(data @ weights.T, eps=eps).output,
        "rms_norm": lambda weights, data, eps: rms_norm(data @ weights.T, eps=eps).output,
        "p_rms_norm": _p_rms_norm,
    }
)


def _factor(value: float) -> float:
    factor = finite_number(value, "factor")
    low, high = _FACTORS
    if not low <= abs(factor) <= high:
        raise InputError(
            "factor is a number from {low:g} to {high:g} in size, with either sign; got {value:g}.",
            low=low,
            high=high,
            value=factor,
        )
    return factor


def _shift(value: float) -> float:
    return float(within_range(np.array(finite_number(value, "shift")), "shift", _SHIFTS))
