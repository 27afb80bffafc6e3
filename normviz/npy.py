"""What does a .npy file announce, and does it hold that? It is judged before anything is read; nothing is unpickled."""

from __future__ import annotations

import io
import math
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.errors import InputError

# Version 3 differs in that names of fields may have any letter, and an array of numbers has no fields.
_HEADERS: Mapping[tuple[int, int], Callable[..., tuple[tuple[int, ...], bool, np.dtype[Any]]]] = MappingProxyType(
    {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
)
# What NumPy's header reader raises on bytes that are not a header.
_DAMAGE = (ArithmeticError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError, UserWarning,
           tokenize.TokenError)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a .npy file announces.

    Attributes
    ----------
    shape
        Of the array; a hostile file may announce any whole numbers.
    by_column
        Whether the first axis runs fastest (Fortran's order).
    dtype
        A type of real numbers.
    start
        Byte with which the numbers start.
    """

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def count(self) -> int:
        """Numbers that are announced."""
        return math.prod(self.shape)


def read_header(data: bytes) -> Header:
    """What a file announces.

    Raises
    ------
    InputError
        If the file is damaged, or holds Python objects or anything else than real numbers.
    """
    file = io.BytesIO(data)
    try:
        shape, by_column, dtype = _HEADERS[np.lib.format.read_magic(file)](file)
    except _DAMAGE as error:
        raise InputError("The file is damaged or is no .npy file: write it with np.save(name, x).") from error
    if dtype.hasobject:
        raise InputError(
            "The file holds pickled Python objects, which are never read because they can run code: save an array of "
            "numbers, np.save(name, np.asarray(x, dtype=float))."
        )
    if dtype.kind not in "biuf":
        raise InputError("The file holds real numbers; got entries of type {kind}.", kind=str(dtype))
    return Header(shape=shape, by_column=by_column, dtype=dtype, start=file.tell())


def stored_array(data: bytes, header: Header) -> NDArray[Any]:
    """The array as it is stored, a view of `data`.

    Raises
    ------
    InputError
        If the file holds fewer numbers than it announces.
    """
    held = max(0, len(data) - header.start) // header.dtype.itemsize
    if header.count < 0 or held < header.count:
        raise InputError("The file breaks off: it announces {n} numbers and holds {held}.", n=header.count, held=held)
    values = np.frombuffer(data, header.dtype, header.count, header.start)
    return values.reshape(header.shape, order="F" if header.by_column else "C")


def shown_name(name: str, most: int = 40) -> str:
    """A file's name short enough for a sentence; its end says what kind of file it is."""
    return name if len(name) <= most else "\N{HORIZONTAL ELLIPSIS}" + name[-most:]
