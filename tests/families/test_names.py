"""Are names read as people paste and upload them, and is everything else refused in a sentence?"""

from __future__ import annotations

import io
import json
from collections import OrderedDict

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.families import decode, read_names
from normviz.families.names import LARGEST_HEADER, LARGEST_TEXT
from tests.families.keys import model

STATE = {key: tuple(value.shape) for key, value in model("gemma2").state_dict().items()}
KEYS = tuple(STATE)


def header(entries: object, *, announced: int | None = None, body: bytes = b"\0" * 64) -> bytes:
    """A .safetensors file: the length of its header, the header, the numbers."""
    text = json.dumps(entries).encode() if not isinstance(entries, bytes) else entries
    return (len(text) if announced is None else announced).to_bytes(8, "little") + text + body


SAFETENSORS = {
    "__metadata__": {"format": "pt"},
    **{key: {"dtype": "BF16", "shape": list(shape), "data_offsets": [0, 64]} for key, shape in STATE.items()},
}

WITHOUT_SHAPES = {
    "one per line": "\n".join(KEYS),
    "Windows lines and blanks": "\r\n\r\n".join(f"  {key}  " for key in KEYS),
    "quotes and commas": "\n".join(f'"{key}",' for key in KEYS),
    "keys()": f"odict_keys({list(KEYS)})",
    "a list": str(list(KEYS)),
    "a JSON list": json.dumps(KEYS),
    "one line": ", ".join(KEYS),
    "a bulleted list": "\n".join(f"- `{key}`" for key in KEYS),
    "a numbered list": "\n".join(f"{i}. {key}" for i, key in enumerate(KEYS)),
    "stars and bold type": "\n".join(f"* **{key}**" for key in KEYS),
    "bold type and code": "\n".join(f"**`{key}`**" for key in KEYS),
    "headings": "\n".join(f"## {key}" for key in KEYS),
    "a quotation": "\n".join(f"> - {key}" for key in KEYS),
    "bullets of every kind": "\n".join(f"{'-*+'[i % 3]}{' ' * (i % 2)}{key}" for i, key in enumerate(KEYS)),
    "a Markdown table": "\n".join(f"| {key} | BF16 |" for key in KEYS),
    "some in quotes": "\n".join(f"'{key}'" if i % 2 else key for i, key in enumerate(KEYS)),
    "Chinese punctuation": "\uff0c".join(f"\u201c{key}\u201d" for key in KEYS),
    "an index": json.dumps({"metadata": {"total_size": 9}, "weight_map": dict.fromkeys(KEYS, "model-1.safetensors")}),
    "a part of an index": "\n".join(f'    "{key}": "model-00001-of-00002.safetensors",' for key in KEYS),
    "a table of types": "\n".join(f"{key:60}torch.bfloat16  cuda:0" for key in KEYS),
    "numbers": "\n".join(f"{key} tensor([0.1, 1e-05,\n        nan], requires_grad=True)" for key in KEYS),
}
WITH_SHAPES = {
    "names and torch.Size": "\n".join(f"{key} {torch.Size(shape)}" for key, shape in STATE.items()),
    "names, types and lists": "\n".join(f"{key}\tF32\t{list(shape)}" for key, shape in STATE.items()),
    "names and products": "\n".join(f"{key} | {' x '.join(map(str, s))} x 1" for key, s in STATE.items()),
    "a dict of shapes": str({key: torch.Size(shape) for key, shape in STATE.items()}),
    "a dict of tuples": str(STATE),
    "pairs": str(list(STATE.items())),
    "an OrderedDict": str(OrderedDict((key, torch.Size(shape)) for key, shape in STATE.items())),
    "a JSON dict": json.dumps(STATE),
    "JSON pairs": json.dumps(list(STATE.items())),
    "a copied header": json.dumps(SAFETENSORS),
}


@pytest.mark.parametrize("how", sorted(WITHOUT_SHAPES))
def test_names_are_read_as_people_paste_them(how: str) -> None:
    names = read_names(WITHOUT_SHAPES[how])
    assert names.keys == KEYS
    assert not names.shapes
    assert decode(names).candidates == ("gemma2",)


@pytest.mark.parametrize("how", sorted(WITH_SHAPES))
def test_shapes_are_read_where_they_stand(how: str) -> None:
    names = read_names(WITH_SHAPES[how])
    assert names.keys == KEYS
    added = (1,) if how == "names and products" else ()
    assert names.shapes == {key: (*shape, *added) for key, shape in STATE.items()}


@pytest.mark.parametrize("how", sorted({**WITHOUT_SHAPES, **WITH_SHAPES}))
def test_a_text_file_is_read_as_its_text(how: str) -> None:
    text = {**WITHOUT_SHAPES, **WITH_SHAPES}[how]
    assert read_names(text.encode("utf-8-sig"), "names.txt") == read_names(text)


def test_a_printed_state_dict_with_its_numbers_is_read() -> None:
    names = read_names(str(model("gemma2").state_dict()))
    assert names.keys == KEYS


@pytest.mark.parametrize("name", ["model.safetensors", "", "MODEL.SAFETENSORS"])
def test_a_safetensors_header_has_names_and_shapes(name: str) -> None:
    names = read_names(header(SAFETENSORS), name)
    assert (names.keys, dict(names.shapes)) == (KEYS, STATE)


class Counted(io.RawIOBase):
    """A file of 500 MB whose numbers must not be read."""

    def __init__(self, start: bytes) -> None:
        self.start, self.at = start, 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "the whole file was asked for"
        piece = self.start[self.at : self.at + size].ljust(min(size, 500_000_000 - self.at), b"\0")
        self.at += len(piece)
        return piece


def test_of_a_large_upload_only_the_header_is_read() -> None:
    start = header(SAFETENSORS, body=b"")
    file = Counted(start)
    assert read_names(file, "model.safetensors").keys == KEYS  # type: ignore[arg-type]
    assert file.at == len(start)


def test_of_a_large_upload_that_is_no_safetensors_file_no_more_than_the_limit_is_read() -> None:
    file = Counted(b"model.norm.weight\n" * 4)
    with pytest.raises(InputError, match="larger than 32 MiB"):
        read_names(file, "names.txt")  # type: ignore[arg-type]
    assert file.at <= LARGEST_TEXT + 10


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (header(SAFETENSORS, announced=10**7), "x.safetensors", "breaks off: it announces 10000000 bytes"),
        (header(SAFETENSORS, announced=LARGEST_HEADER + 1), "x.safetensors", "is no .safetensors file"),
        (header(SAFETENSORS, announced=40), "x.safetensors", "is damaged"),
        (header(b"{" * 100_000), "x.safetensors", "is damaged"),
        (b"", "x.safetensors", "is no .safetensors file"),
        (b"\x10\0\0", "x.safetensors", "is no .safetensors file"),
        (b"PK\x03\x04" + b"\0" * 99, "pytorch_model.bin", "pickled checkpoint, which is never opened"),
        (b"\x80\x02}q\x00.", "model.pt", "pickled checkpoint, which is never opened"),
        (b"GGUF\x03" + b"\0" * 99, "model.gguf", "holds no text"),
        (b"", "names.txt", "There is no name"),
        (b"1, 2, 3", "names.txt", "no list of parameter names"),
    ],
)
def test_files_that_are_no_list_of_names_say_why(data: bytes, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_names(data, name)


@pytest.mark.parametrize(
    "text",
    [
        "Dear all, please find attached the names of the parameters. See example.com for more.",
        "def norm(x):\n    return x / x.norm()\n",
        "1 2 3\n4 5 6",
        "weight",
        "{}",
        "[]",
        "[1, 2, 3]",
        '{"a": 1}',
        '{"weight_map": [1]}',
        "[" * 50_000,
        '"' * 50_000,
        "a" * 50_000,
    ],
)
def test_text_that_is_no_list_of_names_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no list of parameter names"):
        read_names(text)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_text_asks_for_names(text: str) -> None:
    with pytest.raises(InputError, match="There is no name"):
        read_names(text)


def test_names_that_come_twice_are_kept_once_and_said() -> None:
    names = read_names("a.norm.weight\nb.weight (3,)\na.norm.weight [4]\nb.weight")
    assert names.keys == ("a.norm.weight", "b.weight")
    assert names.repeated == names.keys
    assert names.shapes == {"a.norm.weight": (4,), "b.weight": (3,)}


def test_lines_that_are_no_names_are_counted() -> None:
    names = read_names("The checkpoint has these keys:\nmodel.norm.weight\nmodel.embed_tokens.weight\nThat is all.")
    assert names.keys == ("model.norm.weight", "model.embed_tokens.weight")
    assert names.skipped == 2


def test_lines_that_are_no_names_are_counted_beside_quoted_ones_and_frames_are_not() -> None:
    printed = "OrderedDict({\n  'model.norm.weight':\n    (4,),\n  'lm_head.weight': (9, 4)\n})\nHere they are, at last"
    names = read_names(printed)
    assert names.shapes == {"model.norm.weight": (4,), "lm_head.weight": (9, 4)}
    assert names.skipped == 1
    assert read_names("# The norms of Llama\n* **model.norm.weight**").skipped == 1


@pytest.mark.parametrize("line", ["*" * 1100, " " * 1100 + "!", "1" + " " * 1100 + "!", "#*" * 550 + "a", "> " * 550])
def test_long_lines_of_marks_are_refused_at_once(line: str) -> None:
    with pytest.raises(InputError, match="no list of parameter names"):
        read_names("\n".join([line] * 300))


def test_too_much_text_is_refused() -> None:
    with pytest.raises(InputError, match="larger than 32 MiB"):
        read_names("a.b\n" * (LARGEST_TEXT // 4 + 1))


def test_absurd_shapes_are_left_out() -> None:
    text = json.dumps(
        {"a.weight": [10**30], "b.weight": [-1], "c.weight": [1] * 99, "d.weight": [1.5], "e.weight": [2]}
    )
    assert dict(read_names(text).shapes) == {"e.weight": (2,)}


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    try:
        names = read_names(text)
    except InputError:
        return
    decode(names)


@given(st.binary(max_size=200), st.sampled_from(["", "x.safetensors", "x.json"]))
def test_any_file_is_read_or_refused_in_a_sentence(data: bytes, name: str) -> None:
    try:
        decode(read_names(data, name))
    except InputError:
        return
