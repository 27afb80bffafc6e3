"""Which vector does an uploaded file hold?"""

from __future__ import annotations

import codecs
import re

import numpy as np

from normviz.arrays import Floats, frozen
from normviz.errors import InputError
from normviz.npy import read_header, shown_name, stored_array
from normviz.vectors.presets import LARGEST_VECTOR
from normviz.vectors.text import parse_vector

LARGEST_FILE = 24 * 2**20
"""Bytes: a million float64 numbers in full, each on its own line."""

_SEPARATOR = re.compile(r"[,;\t，；、]")
_OPENS_A_LIST = re.compile(r"[\[(【（]\s*(?:[-+.\d\[(【（]|nan|inf|$)", re.IGNORECASE)
_QUOTED_NUMBER = re.compile(r'"([^",;\s]*)"')


def read_vector_file(name: str, data: bytes) -> Floats:
    """The one vector in a file that a person uploaded: .npy, .csv or .txt; nothing is unpickled.

    A .npy file holds an array of real numbers of any type, shape [d] or with all other axes 1. A text file holds one
    row or one column, separated as for `parse_vector`, with at most one line of names above it; what stands in
    brackets may run over several lines.

    Parameters
    ----------
    name
        The file's name; its ending says how to read it.
    data
        The file's bytes, up to `LARGEST_FILE`.

    Returns
    -------
    read-only array of float64, shape [d] with 1 <= d <= 1,000,000

    Raises
    ------
    InputError
        With its own sentence for: another ending, too many bytes or numbers, no number, damage, pickled objects, a
        table, a type that is no real number, NaN, infinity, and all that `parse_vector` refuses.
    """
    ending = name.rpartition(".")[2].lower()
    if ending not in ("npy", "csv", "txt"):
        raise InputError("A vector is read from a .npy, .csv or .txt file; got {name}.", name=shown_name(name))
    if len(data) > LARGEST_FILE:
        raise InputError("The file is larger than {limit} MiB", limit=LARGEST_FILE // 2**20)
    if not data or data.isspace():
        raise _empty()
    return _binary(data) if ending == "npy" else _text(data)


def _binary(data: bytes) -> Floats:
    header = read_header(data)
    if header.count == 0:
        raise _empty()
    if sum(size != 1 for size in header.shape) > 1:
        raise InputError(
            "The file holds one vector, shape [d] or with all other axes 1; got shape {shape}. Save one row of it, "
            "for example np.save(name, x[0]).",
            shape=list(header.shape),
        )
    if header.count > LARGEST_VECTOR:
        raise InputError("The file holds {n} numbers; at most {limit} are read.", n=header.count, limit=LARGEST_VECTOR)
    array = stored_array(data, header).reshape(-1)
    with np.errstate(over="ignore"):
        values = array.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        at = int(np.argmin(finite))
        if np.isnan(values[at]):
            raise InputError(
                "The vector holds finite numbers; entry {position} is NaN (not a number), and every mean over it would "
                "be NaN.",
                position=at + 1,
            )
        raise InputError(
            "The vector holds finite numbers; entry {position} is infinite, and no mean over it exists.",
            position=at + 1,
        )
    return frozen(values)


def _text(data: bytes) -> Floats:
    lines = [line for line in _decoded(data).splitlines() if line.strip()]
    if not lines:
        raise _empty()
    names = _names(lines[0]) if len(lines) > 1 else []
    rows = lines[1:] if names else lines
    text = "\n".join(rows)
    if 0 < text.count('"') <= 2 * LARGEST_VECTOR:
        text = _QUOTED_NUMBER.sub(r"\1", text)
    values = parse_vector(text, limit=LARGEST_VECTOR)
    if len(rows) not in (1, values.size) and not set("[(【（") & set(rows[0]):
        raise InputError(
            "The file holds one row or one column of numbers; got {n} numbers in {rows} rows. Leave out the other "
            "columns, a numbering of the rows as well.",
            n=values.size,
            rows=len(rows),
        )
    if len(names) not in (0, 1, values.size):
        raise InputError(
            "The line above the numbers has one name, or one for each number; got {names} names and {n} numbers.",
            names=len(names),
            n=values.size,
        )
    return values


def _decoded(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # a spreadsheet's "Unicode text"
        return data.decode("utf-16", errors="replace")
    if b"\0" in data:
        raise InputError("The file holds no text: a .csv or .txt file is numbers in plain text.")
    # Numbers are ASCII in every encoding; only a line of names may have other letters, and it is left out.
    return data.decode("utf-8-sig", errors="replace")


def _names(line: str) -> list[str]:
    """The names in a line that stands above the numbers; none if it has a number, or opens a list of numbers."""
    cells = _SEPARATOR.split(line.strip().rstrip(",;，；"))
    # Without a separator the line is one name of one or more words, such as what np.savetxt writes after its "#".
    words = cells if len(cells) > 1 else cells[0].split()
    if len(words) > LARGEST_VECTOR or _OPENS_A_LIST.search(line) or any(map(_is_number, words)):
        return []
    return cells


def _is_number(word: str) -> bool:
    try:
        float(word.strip().strip('"'))
    except ValueError:
        return False
    return True


def _empty() -> InputError:
    return InputError("The file holds no number.")
