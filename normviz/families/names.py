"""Which names of parameters, and which shapes, are in what a person pasted or uploaded? No weight is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from types import MappingProxyType
from typing import Any, BinaryIO

from normviz.errors import InputError
from normviz.npy import shown_name

LARGEST_TEXT = 32 * 2**20
"""Bytes: three times the index of a model with 90,000 tensors."""

LARGEST_HEADER = 100 * 10**6
"""Bytes of a .safetensors header; the format itself allows no more."""

MOST_NAMES = 300_000
LONGEST_NAME, LONGEST_LINE = 300, 1200
"""Characters; a longer line has nothing but names."""

MOST_AXES, LONGEST_AXIS = 8, 2**40

# What word processors, chats and Chinese keyboards put in the place of quotes and punctuation.
_TO_ASCII = str.maketrans(
    "\u201c\u201d\u2018\u2019\uff0c\u3001\uff1a\uff08\uff09\uff1b\u00d7\ufeff\u200b\u00a0", "\"\"'',,:();x   "
)
_NAME = r"[A-Za-z_][\w-]*(?:\.[\w-]+)+"
_WHOLE_NAME = re.compile(_NAME)
_QUOTED = re.compile(rf"""(['"])({_NAME})\1""")
# Files and types that stand in quotes beside the names of an index or a printed table.
_NO_NAME = re.compile(r"torch\..*|.*\.(?:safetensors|bin|pth?|json|gguf|ckpt)")
_SIZES = r"[\[(]\s*(\d+(?:\s*,\s*\d+)*)?\s*,?\s*[\])]"
_SHAPE = re.compile(rf"\s*[,:=]?\s*(?:torch\.Size\(?)?\s*{_SIZES}")
_SIZES_ANYWHERE = re.compile(rf"{_SIZES}|(\d+(?:\s*x\s*\d+)+)")
# Before a name stands what Markdown puts there: bullets, headings, quotations, bold type, tables, numbers.
_MARKS = r"[\s>#*+|\u2022-]*+"
_LINE = re.compile(rf"""{_MARKS}(?:\d++(?:\s*+[:.)])?+\s++|\(\s*+)?[*'"`]*+({_NAME})(?:[*'"`\s,:;=|)]+|$)(.*)""")
# Lines of a printed dict or of JSON that hold no name.
_FRAME = re.compile(r"""[\[{(]\s*$|^\s*[\]})]|['"]\s*:""")
# What may stand behind a name: shapes, types, counts, the numbers themselves; no sentence.
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_SENTENCE = re.compile(
    r"(?:bf|fp|f|i|u|q|int|uint|float|bfloat)\d\w*|torch|size|shape|dtype|numel|parameter|containing|tensor|device|cuda|"
    r"cpu|requires_grad|grad_fn|true|false|nan|inf|e|x|[mgk]i?b|params?|bool|half|double|long",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True, kw_only=True)
class Names:
    """Names of parameters as they were given.

    Attributes
    ----------
    keys
        Each name once, in the order in which they came.
    shapes
        Name -> shape, for those that came with one.
    repeated
        Names that came more than once.
    skipped
        Lines of text that were no name.
    """

    keys: tuple[str, ...]
    shapes: Mapping[str, tuple[int, ...]]
    repeated: tuple[str, ...] = ()
    skipped: int = 0


def read_names(source: str | bytes | BinaryIO, file_name: str = "") -> Names:
    """The names of parameters in a pasted text or an uploaded file, and their shapes where they stand beside them.

    Read are: one name per line, with or without quotes, commas, shapes and types behind it; a printed state dict,
    list or dict of names; a dict or table of shapes; the index of a checkpoint in several files
    (`model.safetensors.index.json`); and the header of a .safetensors file, of which no further byte is looked at.

    Parameters
    ----------
    source
        Text, the bytes of a file (for .safetensors the first ones are enough), or an open file, from which no more is
        read than is needed.
    file_name
        The name of the file, to recognize a .safetensors file; without it the first bytes tell.

    Raises
    ------
    InputError
        With its own sentence for: nothing, text that is no list of names, too much text, too many names, a damaged
        header, and a pickled checkpoint, which is never opened.

    Examples
    --------
    >>> read_names("model.norm.weight torch.Size([4096])").shapes["model.norm.weight"]
    (4096,)
    """
    if isinstance(source, str):
        if len(source) > LARGEST_TEXT:
            raise _too_large()
        return _from_text(source)
    file = BytesIO(source) if isinstance(source, bytes | bytearray | memoryview) else source
    start = file.read(9)
    if file_name.lower().endswith(".safetensors") or _starts_header(start):
        return _from_header(start, file)
    if start[:4] == b"PK\x03\x04" or start[:1] == b"\x80":
        raise InputError(
            "{name} is a pickled checkpoint, which is never opened because it can run code: paste the names of its "
            "parameters, or upload the .safetensors file or its index.",
            name=shown_name(file_name) or ".bin",
        )
    data = start + file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise _too_large()
    if b"\0" in data:
        raise InputError("The file holds no text: names are read from text, JSON or the header of a .safetensors file.")
    return _from_text(data.decode("utf-8-sig", errors="replace"))


def _starts_header(start: bytes) -> bool:
    return len(start) == 9 and start[8:] == b"{" and 2 <= int.from_bytes(start[:8], "little") <= LARGEST_HEADER


def _from_header(start: bytes, file: BinaryIO) -> Names:
    length = int.from_bytes(start[:8], "little")
    if len(start) < 9 or start[8:] != b"{" or not 2 <= length <= LARGEST_HEADER:
        raise InputError("The file is no .safetensors file: it starts with the length of a header and the header.")
    header = start[8:] + file.read(length - 1)
    if len(header) < length:
        raise InputError(
            "The header of the .safetensors file breaks off: it announces {n} bytes and holds {held}.",
            n=length,
            held=len(header),
        )
    try:
        entries = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise InputError("The header of the .safetensors file is damaged: it is no JSON.") from error
    return _collected(_json_entries(entries))


def _from_text(text: str) -> Names:
    text = text.translate(_TO_ASCII) if not text.isascii() else text
    stripped = text.strip()
    if not stripped:
        raise InputError("There is no name: paste the names of a checkpoint's parameters, one per line.")
    if stripped[0] in "{[":
        try:
            entries = json.loads(stripped)
        except (ValueError, RecursionError):
            pass  # What Python prints is no JSON: single quotes, tuples, tensors.
        else:
            return _collected(_json_entries(entries))
    found: list[tuple[str, Any]] = []
    skipped = at = 0
    for line in text.splitlines(keepends=True):
        # What Python and JSON print has its names in quotes, and shapes behind them, even on the next line.
        names = [(match[2], _shape_at(text, match.end())) for match in _QUOTED.finditer(text, at, at + len(line))]
        at += len(line)
        if not names and line.strip():
            names = _in_line(line.rstrip("\r\n"))
            skipped += not names and not _only_numbers(line) and not _FRAME.search(line)
        found += names
    if skipped > max(3, len(found)):
        raise _no_list()
    return _collected(iter(found), skipped)


def _json_entries(entries: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(entries, dict):
        table = entries.get("weight_map", entries)
        if isinstance(table, dict):
            for name, value in table.items():
                if name not in ("__metadata__", "metadata"):
                    yield name, value.get("shape") if isinstance(value, dict) else value
    elif isinstance(entries, list):
        for entry in entries:
            if isinstance(entry, list) and len(entry) == 2:
                yield entry[0], entry[1]
            else:
                yield entry, None


def _in_line(line: str) -> list[tuple[str, Any]]:
    match = _LINE.fullmatch(line) if len(line) <= LONGEST_LINE else None
    if match and _no_sentence(match[2]):
        return [(match[1], None if "tensor(" in match[2] else _shape_in(match[2]))]
    words = [word.strip("'\"`") for word in _BETWEEN.split(line.strip(" ,;[](){}"))]
    return [(word, None) for word in words] if all(map(_is_name, words)) else []


def _no_sentence(rest: str) -> bool:
    return all(_NO_SENTENCE.fullmatch(word) for word in _WORD.findall(rest))


def _only_numbers(line: str) -> bool:
    """Whether a line is the middle of a printed tensor."""
    return bool(set(line) & set("[](),.0123456789")) and _no_sentence(line)


def _shape_at(text: str, at: int) -> list[int] | None:
    match = _SHAPE.match(text, at, at + 200)
    return _sizes(match[1]) if match else None


def _shape_in(rest: str) -> list[int] | None:
    match = _SIZES_ANYWHERE.search(rest)
    return _sizes(match[1] or match[2]) if match else None


def _sizes(text: str | None) -> list[int]:
    return [int(n) for n in re.findall(r"\d{1,13}", text or "")]


def _collected(entries: Iterator[tuple[Any, Any]], skipped: int = 0) -> Names:
    shapes: dict[str, tuple[int, ...]] = {}
    keys: dict[str, None] = {}
    repeated: dict[str, None] = {}
    for name, shape in entries:
        if not isinstance(name, str) or len(name) > LONGEST_NAME or not _is_name(name):
            continue
        if name in keys:
            repeated[name] = None
        keys[name] = None
        if len(keys) > MOST_NAMES:
            raise InputError("More than {limit} names, the most that are read at once.", limit=MOST_NAMES)
        if name not in shapes and _is_shape(shape):
            shapes[name] = tuple(shape)
    if not keys:
        raise _no_list()
    return Names(keys=tuple(keys), shapes=MappingProxyType(shapes), repeated=tuple(repeated), skipped=skipped)


def _is_name(text: str) -> bool:
    return bool(_WHOLE_NAME.fullmatch(text)) and not _NO_NAME.fullmatch(text)


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list | tuple)
        and len(shape) <= MOST_AXES
        and all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= LONGEST_AXIS for n in shape)
    )


def _no_list() -> InputError:
    return InputError(
        "This is no list of parameter names: paste names such as model.layers.0.input_layernorm.weight, one per line, "
        "a printed state dict, or the index of a checkpoint."
    )


def _too_large() -> InputError:
    return InputError("The text is larger than {limit} MiB", limit=LARGEST_TEXT // 2**20)
