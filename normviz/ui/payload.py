"""How do a picture's numbers travel to the browser without losing a digit?"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

_SMALL = 4
"""Entries up to which an array is sent as a list: plotly wants lists for pairs such as an axis range."""


def encode(value: Any) -> Any:
    """A plotly specification as JSON, with its arrays as base64.

    Parameters
    ----------
    value
        Nested mappings and sequences of text, numbers, booleans, None, NumPy scalars and arrays, pandas series.

    Returns
    -------
    dict, list, str, float, int, bool or None
        What `json.dumps` writes as standard JSON: NaN and infinity outside an array are None, because JSON has no
        word for them; inside an array they are kept. Arrays are `{"dtype", "bdata", "shape"}`, as in `typed`.

    Raises
    ------
    TypeError
        If a value is none of these; the message names its type.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case np.ndarray():
            return encode(value.tolist()) if value.size <= _SMALL or value.dtype.kind not in "fiu" else typed(value)
        case np.generic():
            return encode(value.item())
        case pd.Series() | pd.Index():
            return encode(value.to_numpy())
        case Mapping():
            return {str(name): encode(part) for name, part in value.items()}
        case Sequence():
            return [encode(part) for part in value]
    raise TypeError(f"A figure is made of text, numbers, lists and arrays; got {type(value).__name__}")


def typed(array: npt.NDArray[Any]) -> dict[str, Any]:
    """A numeric array in plotly's base64 form.

    Parameters
    ----------
    array
        Any shape, floating point or integer. What JavaScript has no array type for is widened: float16 to float32;
        int64 to int32 when the values fit, else to float64 (exact up to 2**53).

    Returns
    -------
    dict
        `dtype` is plotly's name of the type, `bdata` the little-endian bytes in C order, `shape` a list of lengths.
    """
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f":
        name = "f4" if size <= 4 else "f8"
    elif size <= 4:
        name = f"{kind}{size}"
    else:
        limits = np.iinfo(np.int32)
        name = "i4" if not array.size or limits.min <= array.min() <= array.max() <= limits.max else "f8"
    plain = np.ascontiguousarray(array, dtype=np.dtype(f"<{name}"))
    return {"dtype": name, "bdata": b64encode(plain.tobytes()).decode("ascii"), "shape": list(array.shape)}


def columns(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The columns of a table, numbers as typed arrays and words as codes into their distinct values.

    Parameters
    ----------
    table
        Any table; an index that is more than a row count comes first, as columns.

    Returns
    -------
    list of dict
        Each has `name` and either `values` (see `typed`) or `codes` into `labels`, where -1 is a missing value.
    """
    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    return [{"name": str(name), **_column(series)} for name, series in table.items()]


def _column(series: pd.Series[Any]) -> dict[str, Any]:
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan) if series.hasnans else series.to_numpy()
        # A float32 would be written with its own few digits; as float64 the file holds the exact number.
        return {"values": typed(values.astype(np.float64) if values.dtype.kind == "f" else values)}
    codes, labels = pd.factorize(series)
    return {"codes": typed(codes), "labels": [str(label) for label in labels]}
