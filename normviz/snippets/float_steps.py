"""How is a norm computed step by step in a format with nothing but NumPy and ml_dtypes?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats
from normviz.floats import ARITHMETICS, FORMATS, Setting, rounded
from normviz.snippets.arrays_text import NUMPY

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "float32": "np.float32",
        "bfloat16": "ml_dtypes.bfloat16",
        "float16": "np.float16",
        "float8_e4m3": "ml_dtypes.float8_e4m3fn",
        "float8_e5m2": "ml_dtypes.float8_e5m2",
    }
)


def steps_lines(setting: Setting) -> str:
    """The lines of a script that computes `setting` and prints every step.

    Parameters
    ----------
    setting
        One whose norm is defined.
    """
    wide = setting.accumulate == "float32"
    adder = "kind" if setting.accumulate == "own" else "np.float32"
    lines = [
        f"kind = {_TYPES[setting.format]}",
        f"inner, adder = {'np.float32' if wide else 'kind'}, {adder}",
        'np.seterr(all="ignore")  # an overflow shows as inf or nan',
        "",
        _cast("x", setting.x, setting.format),
        "c = x.astype(inner)",
    ]
    if setting.norm == "layer_norm":
        lines += [
            "running_x = np.add.accumulate(c.astype(adder))  # from the first term to the last",
            "mean = (np.float64(running_x[-1]) / x.size).astype(inner)",
            "c = c - mean",
        ]
    lines += [
        "square = c * c",
        "running = np.add.accumulate(square.astype(adder))  # from the first term to the last",
        "mean_square = (np.float64(running[-1]) / x.size).astype(inner)",
        f"eps = adder({_number(setting.eps, setting.format if adder == 'kind' else 'float32')})",
        f"plus_eps = {_plus_eps(setting)}",
        "root = np.sqrt(plus_eps)",
        "reciprocal = inner(1) / root",
        "normalized = c * reciprocal",
        "output = normalized",
    ]
    if setting.weight is not None and ARITHMETICS[setting.arithmetic].form != "none":
        lines += _weight_lines(setting, setting.weight)
    lines += ["output = output.astype(kind)", ""]
    names = ["x", *(["running_x", "mean", "c"] if setting.norm == "layer_norm" else []), "square", "running"]
    names += ["mean_square", "eps", "plus_eps", "root", "reciprocal", "normalized", "output"]
    listed = ", ".join(f'"{name}": {name}' for name in names)
    lines += [f"steps = {{{listed}}}", "for name, value in steps.items():", "    print(name, value)"]
    return "\n".join(_wrapped(line) for line in lines) + "\n"


def _plus_eps(setting: Setting) -> str:
    if setting.accumulate == "sum":
        # As PyTorch adds a Python number to a tensor of few digits.
        return "(mean_square.astype(np.float32) + eps).astype(kind)"
    return "mean_square + eps"


def _weight_lines(setting: Setting, weight: Floats) -> list[str]:
    lines = [_cast("weight", weight, setting.format), "scale = weight.astype(inner)"]
    if ARITHMETICS[setting.arithmetic].form == "1+w":
        lines.append("scale = inner(1) + scale")
    if setting.arithmetic in ("cast_then_multiply", "t5"):
        return [*lines, "output = scale.astype(kind) * normalized.astype(kind)"]
    return [*lines, "output = scale * normalized"]


def _cast(name: str, values: Floats, format: str) -> str:
    """An assignment of the values as the format holds them."""
    kind: np.dtype[Any] = FORMATS[format].dtype
    right = rounded(values, format)
    with np.errstate(over="ignore"):
        cast: NDArray[Any] = values.astype(kind).astype(np.float64)
    if np.array_equal(cast, right, equal_nan=True):
        return f"{NUMPY.array(name, values)}\n{name} = {name}.astype(kind)"
    # NumPy would round some of them twice, first to float32.
    note = f"{name} = {name}.astype(kind)  # the numbers above are rounded already"
    return f"{NUMPY.array(name, right)}\n{note}"


def _number(value: float, format: str) -> str:
    right = float(rounded(value, format))
    with np.errstate(over="ignore"):
        cast = float(np.asarray(value).astype(FORMATS[format].dtype))
    return repr(value if cast == right else right)


def _wrapped(line: str) -> str:
    """A long dictionary on several lines."""
    if len(line) <= 110 or not line.startswith("steps = {"):
        return line
    entries = line.removeprefix("steps = {").removesuffix("}").split(", ")
    return "steps = {\n" + "".join(f"    {entry},\n" for entry in entries) + "}"
