"""Which grid does an uploaded file hold?"""

from __future__ import annotations

import numpy as np

from normviz.arrays import Floats, frozen, vectors
from normviz.errors import InputError
from normviz.grid.padding import LARGEST_GRID
from normviz.npy import read_header, shown_name, stored_array

LARGEST_GRID_FILE = 24 * 2**20
"""Bytes: three million float64 numbers."""


def read_grid_file(name: str, data: bytes) -> Floats:
    """The grid in a .npy file that a person uploaded; nothing is unpickled.

    Parameters
    ----------
    name
        The file's name, ending in .npy.
    data
        The file's bytes, up to `LARGEST_GRID_FILE`: float16, float32, float64 or integers, three axes.

    Returns
    -------
    read-only array of float64, shape [B, T, d], no axis empty and up to 10 million cells

    Raises
    ------
    InputError
        With its own sentence for: another ending, too many bytes or cells, damage, pickled objects, another type,
        another number of axes, an empty axis, NaN, infinity, and numbers above 1e150.
    """
    if name.rpartition(".")[2].lower() != "npy":
        raise InputError("A grid is read from a .npy file; got {name}.", name=shown_name(name))
    if len(data) > LARGEST_GRID_FILE:
        raise InputError("The file is larger than {limit} MiB", limit=LARGEST_GRID_FILE // 2**20)
    header = read_header(data)
    if header.dtype.kind == "b" or header.dtype.itemsize > 8:
        raise InputError(
            "The numbers of a grid are float16, float32, float64 or integers; got entries of type {kind}.",
            kind=str(header.dtype),
        )
    shape = list(header.shape)
    if len(shape) != 3:
        index = ", ".join(["None"] * (3 - len(shape))) if len(shape) < 3 else ", ".join(["0"] * (len(shape) - 3))
        raise InputError(
            "The file holds one grid, shape [B, T, d]; got shape {shape}. Save it with three axes, for example "
            "np.save(name, x[{index}]).",
            shape=shape,
            index=index,
        )
    if min(shape) < 1:
        raise InputError(
            "The file holds no number: a grid has at least one sequence, token and channel; got shape {shape}.",
            shape=shape,
        )
    if header.count > LARGEST_GRID:
        raise InputError("The file holds {n} numbers; at most {limit} are read.", n=header.count, limit=LARGEST_GRID)
    array = stored_array(data, header)
    strange = np.flatnonzero(~np.isfinite(array))
    if strange.size:
        b, token, channel = (int(place) + 1 for place in np.unravel_index(strange[0], array.shape))
        place = {"b": b, "token": token, "channel": channel}
        if np.isnan(array.flat[strange[0]]):
            raise InputError(
                "The file holds finite numbers; sequence {b}, token {token}, channel {channel} is NaN (not a number).",
                **place,
            )
        raise InputError(
            "The file holds finite numbers; sequence {b}, token {token}, channel {channel} is infinite.", **place
        )
    return frozen(vectors(array))
