"""Do numbers keep every digit on their way to the browser, and do odd values survive?"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from normviz.ui.payload import columns, encode, typed


def unpack(packed: dict[str, Any]) -> npt.NDArray[Any]:
    return np.frombuffer(b64decode(packed["bdata"]), dtype=f"<{packed['dtype']}").reshape(packed["shape"])


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([[0.1, np.nan], [np.inf, -np.inf], [5e-324, 1e308]]), "f8"),
        (np.arange(6, dtype=np.float32), "f4"),
        (np.arange(6, dtype=np.float16), "f4"),
        (np.arange(24, dtype=np.uint8).reshape(2, 3, 4), "u1"),
        (np.arange(6), "i4"),
        (np.array([2**31, -(2**53), 2**53, 0, 1]), "f8"),
        (np.arange(10.0)[::2], "f8"),
        (np.arange(6.0).reshape(2, 3).T, "f8"),
        (np.arange(5.0).astype(">f8"), "f8"),
        (np.empty((0, 3)), "f8"),
    ],
)
def test_typed_array_gives_its_numbers_back(array: npt.NDArray[Any], dtype: str) -> None:
    packed = typed(array)
    assert packed["dtype"] == dtype
    np.testing.assert_array_equal(unpack(packed), array)


def test_encoded_specification_is_standard_json() -> None:
    spec = {
        "x": np.arange(5.0),
        "range": np.array([0.0, 1.0]),
        "text": np.array(["a", "b", "c", "d", "e", "f"]),
        "shown": np.array([True, False] * 3),
        "marker": {"color": pd.Series([1, 2, 3, 4, 5]), "size": np.float64(3.5), "line": {"width": np.int64(2)}},
        "z": [float("nan"), (float("inf"), 1.5)],
        "flag": np.bool_(True),
        "none": None,
    }
    encoded = encode(spec)
    assert encoded["x"] == typed(np.arange(5.0))
    assert encoded["range"] == [0.0, 1.0]
    assert encoded["text"] == list("abcdef")
    assert encoded["shown"] == [True, False] * 3
    assert encoded["marker"] == {"color": typed(np.arange(1, 6)), "size": 3.5, "line": {"width": 2}}
    assert encoded["z"] == [None, [None, 1.5]]
    assert encoded["flag"] is True
    assert encoded["none"] is None
    json.dumps(encoded, allow_nan=False)


def test_what_is_no_figure_is_refused_by_type() -> None:
    with pytest.raises(TypeError, match="lists and arrays; got complex"):
        encode({"x": [1j]})


def test_table_columns_keep_numbers_and_share_repeated_words() -> None:
    table = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": np.array([0.1, np.nan, np.inf], dtype=np.float32),
            "word": ["b", None, "b"],
            "flag": [True, False, True],
        }
    )
    n, x, word, flag = columns(table)
    assert (n["name"], unpack(n["values"]).tolist()) == ("n", [1, 2, 3])
    np.testing.assert_array_equal(unpack(x["values"]), np.array([np.float32(0.1), np.nan, np.inf], dtype=np.float64))
    assert (unpack(word["codes"]).tolist(), word["labels"]) == ([0, -1, 0], ["b"])
    assert (unpack(flag["codes"]).tolist(), flag["labels"]) == ([0, 1, 0], ["True", "False"])


def test_named_index_comes_first() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index(["a", "b"], name="layer"))
    assert [column["name"] for column in columns(table)] == ["layer", "x"]
