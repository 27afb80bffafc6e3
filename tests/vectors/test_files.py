"""Is a vector in a file read exactly, and is every other file refused by its own sentence?"""

from __future__ import annotations

import io
import json
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.vectors import LARGEST_FILE, LARGEST_VECTOR, read_vector_file

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VECTORS = st.integers(1, 30).flatmap(lambda d: arrays(np.float64, d, elements=FLOATS))
NUMPY_TYPES = ["<f8", ">f8", "<f4", "<f2", "i1", "<i8", ">u2", "?", "g"]


def saved(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header(shape: str, descr: str = "'<f8'", version: int = 1) -> bytes:
    """The head of a .npy file that states any shape and type, written by hand."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text


def same(found: np.ndarray, expected: Any) -> None:
    assert found.dtype == np.float64
    assert found.ndim == 1
    assert found.tobytes() == np.asarray(expected, dtype=np.float64).tobytes()
    assert not found.flags.writeable


@given(VECTORS)
def test_a_npy_file_comes_back_bit_by_bit(x: np.ndarray) -> None:
    same(read_vector_file("x.npy", saved(x)), x)


@given(
    VECTORS, st.sampled_from([",", ";", "\t", " ", ", "]), st.sampled_from(["", "x", "# two words", "值", "v [m/s]"])
)
def test_a_row_and_a_column_come_back_bit_by_bit(x: np.ndarray, separator: str, name: str) -> None:
    words = list(map(repr, x.tolist()))
    above = [name] if name else []
    for lines in ([separator.join(words)], words, [f"{word},\r" for word in words]):
        same(read_vector_file("x.csv", "\n".join([*above, *lines]).encode()), x)


@given(VECTORS)
def test_what_numpy_writes_as_text_comes_back(x: np.ndarray) -> None:
    column, row = io.BytesIO(), io.BytesIO()
    np.savetxt(column, x, header="values", fmt="%r")
    np.savetxt(row, x[None], delimiter=",", fmt="%r")
    same(read_vector_file("x.txt", column.getvalue()), x)
    same(read_vector_file("x.csv", row.getvalue()), x)
    with np.printoptions(floatmode="unique", linewidth=30):
        same(read_vector_file("x.txt", repr(x).encode()), x)
    same(read_vector_file("x.txt", json.dumps(x.tolist(), indent=1).encode()), x)


@pytest.mark.parametrize("kind", NUMPY_TYPES)
def test_every_real_type_is_read(kind: str) -> None:
    x = np.array([0, 1, 1], dtype=kind)
    same(read_vector_file("x.npy", saved(x)), [0, 1, 1])


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1), (1, 1, 3, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_axes_of_length_1_do_not_matter(shape: tuple[int, ...], order: Any) -> None:
    same(read_vector_file("X.NPY", saved(np.array([1.0, 2, 4]).reshape(shape, order=order))), [1, 2, 4])


def test_a_single_number_is_a_vector() -> None:
    same(read_vector_file("x.npy", saved(np.float32(2.5))), [2.5])
    same(read_vector_file("x.csv", b"2.5"), [2.5])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a,b,c\n1,2,3\n", [1, 2, 3]),
        (b'"a";"b"\n1;2', [1, 2]),
        (b"x\n\n1\n\n2\n", [1, 2]),
        (b'"1.5"\n"2.5"\n', [1.5, 2.5]),
        (b"length (mm)\n1\n2", [1, 2]),
        ("\ufeff值\n1\n2".encode(), [1, 2]),
        ("值\n1\n2".encode("gb18030"), [1, 2]),
        ("x\t\r\n1\r\n2".encode("utf-16"), [1, 2]),
        ("\uff11，\uff12".encode(), [1, 2]),
        (b"Parameter containing:\ntensor([1., 2.], requires_grad=True)", [1, 2]),
        (b"tensor([1., 2.,\n        3.])", [1, 2, 3]),
        (b"[\n1,\n2\n]", [1, 2]),
    ],
)
def test_other_accepted_text(data: bytes, expected: list[float]) -> None:
    same(read_vector_file("x.csv", data), expected)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("x.npz", b"PK", "from a .npy, .csv or .txt file; got x.npz"),
        ("x", b"1", "from a .npy, .csv or .txt file; got x"),
        ("x.csv", b"", "The file holds no number"),
        ("x.npy", b"", "The file holds no number"),
        ("x.txt", b" \n\t\n", "The file holds no number"),
        ("x.txt", "\ufeff\n".encode(), "The file holds no number"),
        ("x.npy", saved(np.zeros(0)), "The file holds no number"),
        ("x.npy", saved(np.zeros((0, 3))), "The file holds no number"),
        (
            "x.npy",
            saved(np.zeros((3, 4))),
            "The file holds one vector, shape [d] or with all other axes 1; got shape [3",
        ),
        ("x.npy", saved(np.arange(9.0))[:-8], "it announces 9 numbers and holds 8"),
        ("x.npy", saved(np.arange(9.0))[:-3], "it announces 9 numbers and holds 8"),
        ("x.npy", saved(np.arange(9.0))[:40], "is damaged or is no .npy file"),
        ("x.npy", b"1, 2, 3", "is damaged or is no .npy file"),
        ("x.npy", b"\x93NUMPY\x09\x00" + bytes(99), "is damaged or is no .npy file"),
        ("x.npy", header("(-2,)") + bytes(99), "it announces -2 numbers"),
        ("x.npy", header("(1000001,)"), "The file holds 1000001 numbers; at most 1000000 are read"),
        ("x.npy", header("(10**18,)"), "is damaged or is no .npy file"),
        ("x.npy", header("(1, 1000000000000000000)"), "The file holds 1000000000000000000 numbers"),
        ("x.npy", saved(np.array([1, "a"], dtype=object), allow_pickle=True), "pickled Python objects"),
        ("x.npy", saved(np.array([1j])), "The file holds real numbers; got entries of type complex128"),
        ("x.npy", saved(np.array(["1"])), "The file holds real numbers; got entries of type <U1"),
        ("x.npy", saved(np.zeros(2, dtype=[("a", "f8")])), "The file holds real numbers; got entries of type"),
        ("x.npy", saved(np.zeros(2, dtype="V2")), "The file holds real numbers; got entries of type |V2"),
        ("x.npy", saved([1, np.nan]), "entry 2 is NaN"),
        ("x.npy", saved(np.float16([1, 2, -np.inf])), "entry 3 is infinite"),
        ("x.csv", b"x\n1\nnan\n", "entry 2 is NaN"),
        ("x.csv", b"nan\n1\n", "entry 1 is NaN"),
        ("x.csv", b"1,inf", "entry 2 is infinite"),
        ("x.csv", b"1,1e999", "the most float64 can hold; entry 2 is 1e999"),
        ("x.csv", b"1\ntwo\n3", 'entry 2 is "two"'),
        ("x.csv", b"a,b", 'entry 1 is "a"'),
        ("x.csv", b"1,,2", "Entry 2 of the vector is missing"),
        ("x.csv", b'"1,5"\n"2,5"', 'entry 1 is ""1"'),
        ("x.csv", b"1,2\n3,4\n5,6", "one row or one column of numbers; got 6 numbers in 3 rows"),
        ("x.csv", b",x\n0,1.5\n1,2.5\n", "one row or one column of numbers; got 4 numbers in 2 rows"),
        ("x.txt", b"a b\n1 2\n3 4\n", "one row or one column of numbers; got 4 numbers in 2 rows"),
        ("x.csv", b"a,b,c\n1,2\n", "one name, or one for each number; got 3 names and 2 numbers"),
        ("x.csv", b"1,5;2,5", "mixes commas and semicolons"),
        ("x.txt", b"[[1, 2], [3, 4]]", "inside or beside another"),
        ("x.txt", b"[1. 2. ...\n 3. 4.]", "numbers were left out"),
        ("x.csv", saved(np.arange(3.0)), "The file holds no text"),
        ("x.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "The file holds no text"),
        ("y" * 99 + ".pdf", b"1", "got …" + "y" * 36 + ".pdf."),
    ],
)
def test_every_refusal_has_its_sentence(name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_vector_file(name, data)
    assert sentence in str(caught.value)


def test_a_pickle_is_never_opened(tmp_path: Any) -> None:
    target = tmp_path / "written"

    class Trap:
        def __reduce__(self) -> Any:
            return target.touch, ()

    with pytest.raises(InputError, match="pickled"):
        read_vector_file("x.npy", saved(np.array([Trap()]), allow_pickle=True))
    assert not target.exists()


def test_a_file_is_at_most_24_mib() -> None:
    assert LARGEST_FILE == 24 * 2**20
    with pytest.raises(InputError, match="larger than 24 MiB"):
        read_vector_file("x.txt", b" " * (LARGEST_FILE + 1))


def test_a_million_numbers_are_read_at_once_and_one_more_is_refused() -> None:
    x = np.random.default_rng(0).standard_normal(LARGEST_VECTOR)
    data = "\n".join(["x", *map(repr, x.tolist())]).encode()
    start = time.perf_counter()
    same(read_vector_file("x.csv", data), x)
    same(read_vector_file("x.npy", saved(x)), x)
    assert time.perf_counter() - start < 5  # it takes below one second alone on a machine
    with pytest.raises(InputError, match="more than 1000000 numbers"):
        read_vector_file("x.csv", data + b"\n1")


@pytest.mark.parametrize(
    "data", [b"a " * 9_000_000 + b"\n1", b'"' * LARGEST_FILE, b'1"' * 9_000_000, b"[" * LARGEST_FILE]
)
def test_a_hostile_text_is_refused_at_once(data: bytes) -> None:
    start = time.perf_counter()
    with pytest.raises(InputError):
        read_vector_file("x.csv", data)
    assert time.perf_counter() - start < 5


@given(st.binary(max_size=200))
def test_any_bytes_are_a_vector_or_an_input_error(data: bytes) -> None:
    for name, content in (("x.csv", data), ("x.npy", data), ("x.npy", saved(np.arange(3.0))[:10] + data)):
        try:
            x = read_vector_file(name, content)
        except InputError:
            continue
        assert x.ndim == 1
        assert x.size
        assert np.isfinite(x).all()


@given(st.integers(0, 127), st.integers(0, 255))
def test_a_npy_file_with_one_wrong_byte_is_a_vector_or_an_input_error(at: int, byte: int) -> None:
    data = bytearray(saved(np.arange(3.0)))
    data[at] = byte
    try:
        x = read_vector_file("x.npy", bytes(data))
    except InputError:
        return
    assert x.shape in {(1,), (2,), (3,)}
