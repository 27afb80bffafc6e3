"""Is every step of a norm rounded as the format's own arithmetic rounds it?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from normviz.errors import InputError
from normviz.floats import ACCUMULATIONS, ARITHMETICS, FORMATS, FloatTrace, norm_steps, rounded
from normviz.floats.steps import NORMS
from normviz.norms import layer_norm, rms_norm
from tests.floats.oracles import array, tensor

EXACT = {"rms_norm": rms_norm, "layer_norm": layer_norm}


def vector(d: int = 33, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(d).standard_normal(d) * scale).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("accumulate", ACCUMULATIONS)
@pytest.mark.parametrize("norm", NORMS)
def test_steps_follow_from_the_steps_before_them(format: str, accumulate: str, norm: str) -> None:
    x = vector()
    trace = norm_steps(x, norm, format, eps=1e-5, accumulate=accumulate)
    inner = "float32" if accumulate == "float32" else format
    adder = format if accumulate == "own" else "float32"
    value = {step.id: step.value for step in trace.steps}
    np.testing.assert_array_equal(value["x"], rounded(x, format))
    c = value["x"]
    if norm == "layer_norm":
        total = 0.0
        for entry in c:
            total = float(rounded(total + entry, adder))
        assert value["sum_x"] == total
        assert value["mean"] == rounded(total / x.size, inner)
        c = rounded(c - value["mean"], inner)
        np.testing.assert_array_equal(value["centered"], c)
    np.testing.assert_array_equal(value["square"], rounded(c**2, inner))
    total, sums = 0.0, []
    for entry in value["square"]:
        total = float(rounded(total + entry, adder))
        sums.append(total)
    np.testing.assert_array_equal(trace["sum"].partial, sums)
    assert value["mean_square"] == rounded(total / x.size, inner)
    assert value["eps"] == rounded(1e-5, adder)
    assert value["plus_eps"] == rounded(rounded(value["mean_square"] + value["eps"], adder), inner)
    assert value["root"] == rounded(np.sqrt(value["plus_eps"]), inner)
    assert value["reciprocal"] == rounded(1 / value["root"], inner)
    np.testing.assert_array_equal(value["normalized"], rounded(c * value["reciprocal"], inner))
    np.testing.assert_array_equal(trace.output, rounded(value["normalized"], format))
    np.testing.assert_allclose(trace.exact, EXACT[norm](x, eps=1e-5).output, rtol=1e-13)


@pytest.mark.parametrize("format", ["bfloat16", "float16"])
def test_a_sum_in_float32_is_what_pytorch_does_naively(format: str) -> None:
    # Whole numbers, whose squares add up exactly in any order.
    for seed, eps in itertools.product(range(20), (1e-6, 1e-2, 1.0)):
        x = np.random.default_rng(seed).integers(-12, 13, size=40).astype(np.float64)
        x[0] = 5
        given = tensor(x, format)
        expected = given * (1 / torch.sqrt(given.pow(2).mean(-1, keepdim=True) + eps))
        np.testing.assert_array_equal(
            norm_steps(x, "rms_norm", format, eps=eps, accumulate="sum").output, array(expected)
        )


@pytest.mark.parametrize("format", ["bfloat16", "float16"])
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_float32_inside_is_one_of_the_classes(format: str, arithmetic: str) -> None:
    from normviz.floats import rms_norm_as

    x = np.random.default_rng(1).integers(-12, 13, size=64).astype(np.float64)
    weight = vector(64, 0.25) + (ARITHMETICS[arithmetic].form != "1+w")
    trace = norm_steps(x, "rms_norm", format, eps=1e-6, weight=weight, arithmetic=arithmetic)
    expected = rms_norm_as(arithmetic, x, weight, eps=1e-6, dtype=format)
    np.testing.assert_array_equal(trace.output, expected.astype(np.float64))


def test_flags_say_what_an_operation_did() -> None:
    trace = norm_steps([300.0, 1.0, 1e-5, 3.3, 0.0], "rms_norm", "float16", eps=0.1, accumulate="own")
    square = trace["square"]
    assert square.overflow.tolist() == [True, False, False, False, False]
    assert square.underflow.tolist() == [False, False, True, False, False]
    assert square.rounded.tolist() == [True, False, True, True, False]
    assert trace.first_overflow == "square"
    # What an infinity does afterwards is no overflow of its own.
    assert not trace["sum"].overflow.any()
    assert not trace["root"].overflow.any()
    assert trace["x"].rounded.tolist() == [False, False, True, True, False]


@pytest.mark.parametrize(("format", "stall"), [("float16", 2048), ("bfloat16", 256)])
def test_a_running_sum_of_ones_stalls(format: str, stall: int) -> None:
    trace = norm_steps(np.ones(4096), "rms_norm", format, eps=1e-6, accumulate="own")
    assert trace["sum"].value == stall
    assert trace["sum"].first_lost == stall
    assert trace["sum"].first_overflow is None
    expected = torch.zeros((), dtype=tensor(np.ones(1), format).dtype)
    for _ in range(stall + 5):
        expected = expected + 1
    assert expected == stall


def test_a_first_term_is_never_lost_and_zeros_are_no_terms() -> None:
    assert norm_steps([3.0, 0.0, 0.0], "rms_norm", "float16", eps=0.0)["sum"].first_lost is None


def weighted(arithmetic: str, accumulate: str) -> FloatTrace:
    return norm_steps(
        vector(8),
        "rms_norm",
        "bfloat16",
        eps=1e-6,
        accumulate=accumulate,
        weight=vector(8, 0.01),
        arithmetic=arithmetic,
    )


def test_the_order_of_the_steps_shows_the_arithmetic() -> None:
    def ids(trace: FloatTrace) -> list[str]:
        found = [step.id for step in trace.steps]
        return found[found.index("normalized") + 1 :]

    assert ids(weighted("cast_then_multiply", "float32")) == ["weight", "cast", "product"]
    assert ids(weighted("multiply_then_cast", "float32")) == ["weight", "product", "output"]
    assert ids(weighted("gemma", "float32")) == ["weight", "scale", "product", "output"]
    assert ids(weighted("no_weight", "float32")) == ["output"]
    assert ids(weighted("gemma", "own")) == ["weight", "scale", "product"]
    assert ids(weighted("no_weight", "own")) == []
    assert weighted("gemma", "own")["scale"].format == "bfloat16"
    assert weighted("gemma", "float32")["scale"].format == "float32"
    assert "cast" not in weighted("gemma", "own")
    assert weighted("cast_then_multiply", "float32")["product"].formula == r"y_i=w_i\,\hat x_i"
    assert weighted("gemma", "float32")["product"].formula == r"y_i=(1+w_i)\,\hat x_i"


def test_formulas_have_their_braces() -> None:
    for norm in NORMS:
        trace = norm_steps(vector(4), norm, "float16", eps=1e-6, weight=np.ones(4))
        for step in trace.steps:
            assert step.formula.count("{") == step.formula.count("}")
            assert "{c}" not in step.formula
            assert "{s}" not in step.formula


def test_neighbours_stand_around_the_exact_value() -> None:
    step = norm_steps([0.1, 0.2], "rms_norm", "bfloat16", eps=1e-6)["x"]
    near = step.near(1)
    assert near.at == step.value[1]
    assert near.below < 0.2 < near.above


def test_arrays_are_read_only() -> None:
    step = norm_steps(vector(4), "layer_norm", "float16", eps=1e-6)["sum"]
    for held in (step.exact, step.value, step.rounded, step.overflow, step.underflow, step.partial, step.partial_exact):
        assert held is not None
        assert not held.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"norm": "batch_norm"}, "norm can be rms_norm, layer_norm"),
        ({"format": "float64"}, "format can be float32"),
        ({"accumulate": "float64"}, "accumulate can be own, sum, float32"),
        ({"arithmetic": "x"}, "arithmetic can be"),
        ({"eps": -1e-6}, "eps is 0 or a positive number"),
        ({"x": []}, "at least one number"),
        ({"x": [[1.0]]}, "x is one vector"),
        ({"x": [np.nan]}, "NaN"),
        ({"x": np.zeros(20_000)}, "x has up to 16,384 numbers"),
        ({"x": [0.0, 0.0], "eps": 0.0}, "undefined at eps = 0"),
        ({"x": [2.0, 2.0], "eps": 0.0, "norm": "layer_norm"}, "LayerNorm of a constant vector"),
        ({"weight": [1.0]}, "weight has one number per channel"),
    ],
)
def test_refusals_name_the_field(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"x": [1.0, 2.0], "norm": "rms_norm", "format": "float16", "eps": 1e-6, **arguments}
    with pytest.raises(InputError, match=message):
        norm_steps(given.pop("x"), given.pop("norm"), given.pop("format"), **given)
