"""How do a picture's numbers travel to the browser without losing a digit?"""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures.theme import STILL

_SMALL = 4
"""Entries up to which an array is sent as a list: plotly wants lists for pairs such as an axis range."""

LIGHT = 2_000
"""Cells up to which a table travels in the message of its figure."""

PARTS = 16
"""Parts that are kept for the next click, some 2 MB each at most."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a figure shows again and again, for a message of its own.

    Attributes
    ----------
    name
        32 hexadecimal digits that stand for the content.
    content
        The name, then `{"traces": {index: trace}, "columns": [...]}` as JSON in UTF-8, compressed by zlib.
    """

    name: str
    content: bytes


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
            return list(value) if set(map(type, value)) == {str} else [encode(part) for part in value]
    raise TypeError(f"A figure is made of text, numbers, lists and arrays; got {type(value).__name__}")


def parted(
    spec: Mapping[str, Any], table: pd.DataFrame
) -> tuple[dict[str, Any], list[dict[str, Any]] | None, Part | None]:
    """What changes with a click, apart from what does not: the traces marked as still, and a long table.

    Parameters
    ----------
    spec, table
        Of a picture.

    Returns
    -------
    spec, columns, part
        From `encode` and `columns`. None stands for each trace and for the columns that went into the part. A figure
        without still traces and with a table of up to `LIGHT` cells has no part.
    """
    still = {place: trace for place, trace in enumerate(spec["data"]) if trace.get("meta") == STILL}
    if not still and table.size <= LIGHT:
        return encode(spec), columns(table), None
    moving = [None if place in still else trace for place, trace in enumerate(spec["data"])]
    digest = blake2b(digest_size=16)
    for piece in (still, table):
        _feed(digest, piece)
    return encode({**spec, "data": moving}), None, _part(_Pieces(name=digest.hexdigest(), still=still, table=table))


@dataclass(frozen=True, kw_only=True)
class _Pieces:
    """The pieces of a part; two are equal if they have one name."""

    name: str
    still: dict[int, Any] = field(compare=False)
    table: pd.DataFrame = field(compare=False)


@lru_cache(maxsize=PARTS)
def _part(pieces: _Pieces) -> Part:
    body = json.dumps({"traces": encode(pieces.still), "columns": columns(pieces.table)}).encode()
    return Part(name=pieces.name, content=pieces.name.encode() + zlib.compress(body, 1))


def _feed(digest: blake2b, value: Any) -> None:
    """Let a digest depend on every number and word of a value, which is quicker than to encode it."""
    match value:
        case np.ndarray() if value.dtype.kind in "biuf":
            digest.update(f"{value.dtype}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
        case pd.DataFrame():
            _feed(digest, value.index.to_numpy())
            for name, column in value.items():
                digest.update(repr(name).encode())
                _feed(digest, column.to_numpy())
        case Mapping():
            for name, part in value.items():
                digest.update(repr(name).encode())
                _feed(digest, part)
        case _:
            digest.update(repr(value.tolist() if isinstance(value, np.ndarray) else value).encode())


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
