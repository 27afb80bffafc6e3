"""Is a grid in a file read exactly, and is every other file refused by its own sentence?"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from normviz.errors import InputError
from normviz.grid import LARGEST_GRID_FILE, read_grid_file
from normviz.grid.padding import LARGEST_GRID

SHAPES = array_shapes(min_dims=3, max_dims=3, max_side=4)


def saved(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header(shape: str, descr: str = "'<f8'") -> bytes:
    """The head of a .npy file that states any shape and type, written by hand."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@given(arrays(np.float64, SHAPES, elements=st.floats(-1e150, 1e150)), st.sampled_from(["C", "F"]))
def test_a_grid_comes_back_bit_by_bit(x: np.ndarray, order: Any) -> None:
    found = read_grid_file("x.npy", saved(np.asarray(x, order=order)))
    assert found.dtype == np.float64
    assert found.shape == x.shape
    assert found.tobytes() == x.tobytes()
    assert not found.flags.writeable


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2", "i1", "<i8", ">u2"])
def test_every_type_of_number_is_read(kind: str) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(read_grid_file("X.NPY", saved(x.astype(kind))), x)


GRID = np.arange(24.0).reshape(2, 3, 4)


def with_one(value: float) -> np.ndarray:
    x = GRID.copy()
    x[1, 2, 0] = value
    return x


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("x.npz", saved(GRID), "A grid is read from a .npy file; got x.npz"),
        ("y" * 99 + ".csv", b"1", "got …" + "y" * 36 + ".csv"),
        ("x.npy", b"", "is damaged or is no .npy file"),
        ("x.npy", b"1, 2, 3", "is damaged or is no .npy file"),
        ("x.npy", saved(GRID)[:40], "is damaged or is no .npy file"),
        ("x.npy", saved(GRID)[:-8], "it announces 24 numbers and holds 23"),
        ("x.npy", saved(np.array([[[1, "a"]]], dtype=object), allow_pickle=True), "pickled Python objects"),
        ("x.npy", saved(GRID + 1j), "The file holds real numbers; got entries of type complex128"),
        ("x.npy", saved(GRID.astype(str)), "The file holds real numbers; got entries of type <U"),
        ("x.npy", saved(GRID > 3), "float16, float32, float64 or integers; got entries of type bool"),
        (
            "x.npy",
            saved(GRID.astype(np.longdouble)),
            "float16, float32, float64 or integers; got entries of type float",
        ),
        (
            "x.npy",
            saved(np.float64(1)),
            "got shape []. Save it with three axes, for example np.save(name, x[None, None",
        ),
        (
            "x.npy",
            saved(GRID[0, 0]),
            "got shape [4]. Save it with three axes, for example np.save(name, x[None, None])",
        ),
        ("x.npy", saved(GRID[0]), "got shape [3, 4]. Save it with three axes, for example np.save(name, x[None])"),
        (
            "x.npy",
            saved(GRID[None]),
            "got shape [1, 2, 3, 4]. Save it with three axes, for example np.save(name, x[0])",
        ),
        ("x.npy", saved(GRID[None, None]), "np.save(name, x[0, 0])"),
        ("x.npy", saved(GRID[:, :0]), "at least one sequence, token and channel; got shape [2, 0, 4]"),
        ("x.npy", header("(-1, -1, 5)") + bytes(40), "at least one sequence, token and channel; got shape [-1, -1, 5]"),
        ("x.npy", header("(1, 1, 10**18)"), "is damaged or is no .npy file"),
        (
            "x.npy",
            header("(1, 1, 1000000000000000000)"),
            "The file holds 1000000000000000000 numbers; at most 10000000",
        ),
        ("x.npy", saved(np.zeros((1, 1, LARGEST_GRID + 1), dtype=np.int8)), "at most 10000000 are read"),
        ("x.npy", saved(with_one(np.nan)), "sequence 2, token 3, channel 1 is NaN"),
        ("x.npy", saved(with_one(-np.inf).astype(np.float16)), "sequence 2, token 3, channel 1 is infinite"),
        ("x.npy", saved(with_one(1e200)), "x[1, 2, 0] is 1e+200"),
    ],
)
def test_every_refusal_has_its_sentence(name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_grid_file(name, data)
    assert sentence in str(caught.value)


def test_a_shape_that_is_recommended_is_read() -> None:
    np.testing.assert_array_equal(read_grid_file("x.npy", saved(GRID[0, 0][None, None])), GRID[:1, :1])
    np.testing.assert_array_equal(read_grid_file("x.npy", saved(GRID[0][None])), GRID[:1])
    np.testing.assert_array_equal(read_grid_file("x.npy", saved(GRID[None][0])), GRID)


def test_a_pickle_is_never_opened(tmp_path: Any) -> None:
    target = tmp_path / "written"

    class Trap:
        def __reduce__(self) -> Any:
            return target.touch, ()

    with pytest.raises(InputError, match="pickled"):
        read_grid_file("x.npy", saved(np.array([[[Trap()]]]), allow_pickle=True))
    assert not target.exists()


def test_a_file_is_at_most_24_mib() -> None:
    assert LARGEST_GRID_FILE == 24 * 2**20
    with pytest.raises(InputError, match="larger than 24 MiB"):
        read_grid_file("x.npy", b" " * (LARGEST_GRID_FILE + 1))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_grid_or_an_input_error(data: bytes) -> None:
    for content in (data, saved(GRID)[:10] + data):
        try:
            x = read_grid_file("x.npy", content)
        except InputError:
            continue
        assert x.ndim == 3
        assert np.isfinite(x).all()


@given(st.integers(0, 127), st.integers(0, 255))
def test_a_file_with_one_wrong_byte_is_a_grid_or_an_input_error(at: int, byte: int) -> None:
    data = bytearray(saved(GRID))
    data[at] = byte
    try:
        x = read_grid_file("x.npy", bytes(data))
    except InputError:
        return
    assert x.ndim == 3
    assert x.size <= 24
