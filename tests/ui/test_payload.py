"""Do numbers keep every digit on their way to the browser, and do odd values survive?"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from normviz.figures.theme import STILL
from normviz.ui.payload import LIGHT, columns, encode, parted, typed


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


def still_spec(z: npt.NDArray[Any], place: float = 0.0) -> dict[str, Any]:
    traces = [{"type": "heatmap", "z": z, "hovertext": [["a"] * 3], "meta": STILL}, {"x": [place]}]
    return {"data": traces, "layout": {"height": 300}}


def test_what_stays_the_same_travels_apart_and_whole() -> None:
    z, table = np.arange(6.0).reshape(2, 3), pd.DataFrame({"x": [0.1, np.nan], "word": ["b", "a"]})
    spec, inline, part = parted(still_spec(z), table)
    assert spec == {"data": [None, {"x": [0.0]}], "layout": {"height": 300}}
    assert inline is None
    assert part is not None
    assert part.content[:32].decode() == part.name
    unpacked = json.loads(zlib.decompress(part.content[32:]))
    assert unpacked == {"traces": {"0": encode(still_spec(z)["data"][0])}, "columns": columns(table)}


def test_a_part_is_named_after_all_that_is_in_it() -> None:
    z, table = np.arange(6.0).reshape(2, 3), pd.DataFrame({"x": [0.1, np.nan], "word": ["b", "a"]})

    def name(spec: dict[str, Any], table: pd.DataFrame) -> str:
        part = parted(spec, table)[2]
        assert part is not None
        return part.name

    first = name(still_spec(z), table)
    assert name(still_spec(z.copy(), place=1.0), table.copy()) == first
    others = [
        (still_spec(z + 1e-15 * (z == 5)), table),
        (still_spec(z.T), table),
        (still_spec(z.astype(int)), table),
        (still_spec(z), table.rename(columns={"x": "y"})),
        (still_spec(z), table.assign(word=["b", "c"])),
        (still_spec(z), table.set_index("word")),
        (still_spec(z) | {"data": [{**still_spec(z)["data"][0], "hovertext": [["b"] * 3]}]}, table),
    ]
    names = [name(spec, other) for spec, other in others]
    assert len({first, *names}) == 1 + len(others)


@pytest.mark.parametrize("more", [0, 1])
def test_a_long_table_travels_apart_from_a_figure_that_changes(more: int) -> None:
    table = pd.DataFrame({"x": np.arange(LIGHT + more)})
    spec, inline, part = parted({"data": [{"x": [1.0]}], "layout": {}}, table)
    assert spec["data"] == [{"x": [1.0]}]
    assert (inline is None, part is None) == ((True, False) if more else (False, True))
