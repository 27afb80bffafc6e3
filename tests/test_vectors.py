"""Is everything that people type and paste read exactly, and is everything else refused by its own sentence?"""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.vectors import format_vector, parse_vector

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VECTORS = st.integers(1, 30).flatmap(lambda d: arrays(np.float64, d, elements=FLOATS))
FULL_WIDTH = {ord(sign): ord(sign) + 0xFEE0 for sign in "0123456789.+-e,;[]()"}


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal bit by bit, the sign of zero included."""
    assert found.dtype == np.float64
    assert found.tobytes() == np.asarray(expected, dtype=np.float64).tobytes()


@given(VECTORS, st.sampled_from([",", " ", ", ", ";", "\n", "\t", "\r\n", " ,\n", "、", "，", "；", "\u3000", "\xa0"]))
def test_numbers_between_any_separator_come_back(x: np.ndarray, separator: str) -> None:
    same(parse_vector(separator.join(map(repr, x.tolist()))), x)


@given(VECTORS)
def test_lists_json_tuples_and_full_width_text_come_back(x: np.ndarray) -> None:
    values = x.tolist()
    text = ", ".join(map(repr, values))
    for written in (
        repr(values),
        json.dumps(values),
        json.dumps(values, indent=1),
        f"({text},)",
        f"【{text}】",
        f" [{text} ,]\n",
    ):
        same(parse_vector(written), x)
    same(parse_vector(repr(values).translate(FULL_WIDTH)), x)
    same(parse_vector(repr(list(x))), x)  # [np.float64(1.5), ...]


@given(VECTORS, st.sampled_from([" ", ", ", "\t"]))
def test_what_numpy_prints_comes_back(x: np.ndarray, separator: str) -> None:
    same(parse_vector(np.array2string(x, separator=separator, floatmode="unique")), x)
    with np.printoptions(floatmode="unique", linewidth=30):
        same(parse_vector(repr(x)), x)
        same(parse_vector(str(x)), x)
    single = x.astype(np.float32) if np.abs(x).max() < 1e38 else np.zeros(3, dtype=np.float32)
    assert (parse_vector(repr(single)).astype(np.float32) == single).all()


@given(st.integers(1, 30).flatmap(lambda d: arrays(np.float64, d, elements=st.floats(-1e6, 1e6))))
def test_what_torch_prints_comes_back_to_its_four_decimals(x: np.ndarray) -> None:
    tensor = torch.tensor(x)
    leaf = torch.tensor(x, requires_grad=True)
    scale = 1e-3 * (1 + np.abs(x).max())
    for written in (str(tensor), str(leaf), str(leaf * 1), str(torch.nn.Parameter(tensor)), repr(list(tensor))):
        np.testing.assert_allclose(parse_vector(written), x, atol=scale)
    same(parse_vector(str(tensor.tolist())), x)


@given(VECTORS)
@example(np.array([0.0, -0.0, 1.0, -1e22, 1e-5, 5e-324, 1.7976931348623157e308, 1e16, 0.1 + 0.2]))
def test_format_vector_round_trips(x: np.ndarray) -> None:
    same(parse_vector(format_vector(x)), x)


@given(VECTORS)
def test_format_vector_is_never_longer_than_repr(x: np.ndarray) -> None:
    assert len(format_vector(x)) <= len(", ".join(map(repr, x.tolist())))


@pytest.mark.parametrize(
    ("x", "text"), [([1, 2, 3, 4], "1, 2, 3, 4"), ([0.5, -2.25], "0.5, -2.25"), ([1e22, 1e-5, -0.0], "1e22, 1e-5, -0")]
)
def test_format_vector_writes_as_a_person_would(x: list[float], text: str) -> None:
    assert format_vector(x) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", [7]),
        ("[7]", [7]),
        ("1., 2.", [1, 2]),
        ("-.5 +1e3 2E-1", [-0.5, 1000, 0.2]),
        ("1\t2\n3\t4\n", [1, 2, 3, 4]),
        ("1\n\n2\n", [1, 2]),
        ("1,2,", [1, 2]),
        ("\ufeff1 2", [1, 2]),
        ("−1 –2", [-1, -2]),
        ("1，2.5、-3；".translate(FULL_WIDTH), [1, 2.5, -3]),
        ("（1，2）", [1, 2]),
        ("tensor([1., 2.], device='cuda:0', dtype=torch.float16)", [1, 2]),
        ("tensor([ 3.0820, -0.5869], grad_fn=<MulBackward0>)", [3.082, -0.5869]),
        ("Parameter containing:\ntensor([1., 1.], requires_grad=True)", [1, 1]),
        ("[tensor(1., grad_fn=<UnbindBackward0>), tensor(2., dtype=torch.float64)]", [1, 2]),
        ("tensor(3.)", [3]),
        ("np.array([1, 2], dtype=np.int8)", [1, 2]),
        ("array([1., 2.], dtype='>f4')", [1, 2]),
        ("Array([1., 2.], dtype=float32)", [1, 2]),
        ("tf.Tensor([1. 2.], shape=(2,), dtype=float32)", [1, 2]),
    ],
)
def test_other_accepted_writings(text: str, expected: list[float]) -> None:
    same(parse_vector(text), np.array(expected))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The vector is empty"),
        (" \n\t", "The vector is empty"),
        ("[]", "The vector is empty"),
        (",", "The vector is empty"),
        ("tensor([], dtype=torch.float64)", "The vector is empty"),
        ("tensor([], size=(0, 3))", "The vector is empty"),
        ("1, two, 3, four", 'entry 2 is "two"'),
        ("values\n1\n2", 'entry 1 is "values"'),
        ("[1, null]", 'entry 2 is "null"'),
        ('["1", "2"]', 'entry 1 is ""1""'),
        ("1_000", 'entry 1 is "1_000"'),
        ("1 2-3", 'entry 2 is "2-3"'),
        ("0x10", 'entry 1 is "0x10"'),
        ("tensor([1.+2.j])", 'entry 1 is "1.+2.j"'),
        ("tensor([True, False])", 'entry 1 is "True"'),
        ("torch.Size([1, 2])", 'entry 1 is "torch.Size"'),
        ("{1: 2}", 'entry 1 is "{1:"'),
        ("x" * 1000, f'entry 1 is "{"x" * 24}…"'),
        ("1, nan", "entry 2 is NaN"),
        ("[NaN]", "entry 1 is NaN"),
        ("tensor([1., nan])", "entry 2 is NaN"),
        ("-inf", "entry 1 is infinite"),
        ("1 Infinity", "entry 2 is infinite"),
        ("1, -∞", "entry 2 is infinite"),
        ("1, 1e999", "numbers up to 1.8e308 in size, the most float64 can hold; entry 2 is 1e999"),
        ("[[1, 2], [3, 4]]", "inside or beside another (opening brackets: 3)"),
        ("[[1, 2]]", "inside or beside another"),
        ("[1, [2, 3]]", "inside or beside another"),
        ("[1 2] [3]", "inside or beside another"),
        ("1 [2]", "inside or beside another"),
        ("tensor([[1., 2.]])", "inside or beside another"),
        ("[1, 2", "got 1 opening and 0 closing"),
        ("1, 2)", "got 0 opening and 1 closing"),
        ("(1, 2]", "got 1 opening and 1 closing"),
        ("1,,2", "Entry 2 of the vector is missing"),
        ("1 2 , , 3", "Entry 3 of the vector is missing"),
        (", 1", "Entry 1 of the vector is missing"),
        ("1;;2", "Entry 2 of the vector is missing"),
        ("1, 2; 3, 4", "mixes commas and semicolons"),
        ("1，2；3", "mixes commas and semicolons"),
        ("[1. 2. ... 9.]", "numbers were left out when it was printed"),
        (str(torch.arange(2000.0)), "numbers were left out when it was printed"),
        (repr(np.arange(2000)), "numbers were left out when it was printed"),
        ("1, 2, …, 9", "numbers were left out when it was printed"),
    ],
)
def test_every_refusal_has_its_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_vector(text)
    assert sentence in str(caught.value)


@given(st.text(alphabet="0123456789.,;-+e[]() \nnaiftx\u3001\uff0c_=", max_size=40) | st.text(max_size=40))
def test_any_text_is_a_vector_or_an_input_error(text: str) -> None:
    try:
        x = parse_vector(text)
    except InputError:
        return
    assert x.ndim == 1
    assert x.size
    assert np.isfinite(x).all()


def test_a_million_numbers_are_read_and_one_more_is_refused() -> None:
    text = "0.5," * 1_000_000
    assert parse_vector(text).size == 1_000_000
    with pytest.raises(InputError, match="more than 1000000 numbers"):
        parse_vector(text + "1")


def test_the_limit_can_be_lowered() -> None:
    assert parse_vector("1 2 3", limit=3).size == 3
    with pytest.raises(InputError, match="more than 3 numbers"):
        parse_vector("1 2 3 4", limit=3)


@pytest.mark.parametrize(
    ("x", "sentence"), [([1, np.nan], "x[1] is NaN"), ([[1]], "got shape [1, 1]"), ([], "got shape [0]")]
)
def test_only_a_finite_vector_is_written(x: object, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        format_vector(x)  # type: ignore[arg-type]
    assert sentence in str(caught.value)


def test_a_parsed_vector_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        parse_vector("1 2 3")[0] = 7
