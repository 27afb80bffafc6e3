"""Are the RMSNorm classes of transformers reproduced bit for bit?"""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
import torch

from normviz.errors import InputError
from normviz.floats import ARITHMETICS, WIDE, difference, differing_share, float32_mean, rms_norm_as
from tests.floats.oracles import MODELS, TYPES, array, norm_module, tensor

CLASSES = [(name, cls) for name, arithmetic in ARITHMETICS.items() for cls in arithmetic.classes]


def same_bits(found: np.ndarray, expected: torch.Tensor) -> None:
    assert found.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(found.astype(np.float64), array(expected))


def test_every_class_is_compared() -> None:
    assert {cls for _, cls in CLASSES} == set(MODELS)


@pytest.mark.parametrize(("arithmetic", "cls"), CLASSES)
@pytest.mark.parametrize("d", [3, 8, 12, 64, 768, 4096])
def test_each_class_bit_for_bit(arithmetic: str, cls: str, d: int) -> None:
    rng = np.random.default_rng(d)
    form = ARITHMETICS[arithmetic].form
    for dtype, weight_dtype in itertools.product(WIDE, WIDE):
        x = rng.standard_normal((2, 6, d)) * 10.0 ** rng.uniform(-3, 3, (2, 6, 1))
        weight = rng.standard_normal(d) * 0.3 + (form == "w")
        module = norm_module(cls, d, 1e-6)
        if form != "none":
            module.weight = torch.nn.Parameter(tensor(weight, weight_dtype))
        with torch.no_grad():
            expected = module(tensor(x, dtype))
        found = rms_norm_as(
            arithmetic, array(tensor(x, dtype)), array(tensor(weight, weight_dtype)), eps=1e-6, dtype=dtype,
            weight_dtype=weight_dtype,
        )  # fmt: skip
        same_bits(found, expected)


@pytest.mark.parametrize(("arithmetic", "cls"), CLASSES)
def test_the_weight_starts_as_in_the_class(arithmetic: str, cls: str) -> None:
    x = np.random.default_rng(0).standard_normal((3, 16))
    with torch.no_grad():
        expected = norm_module(cls, 16, 1e-5).to(torch.bfloat16)(tensor(x, "bfloat16"))
    same_bits(rms_norm_as(arithmetic, array(tensor(x, "bfloat16")), None, eps=1e-5, dtype="bfloat16"), expected)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 33, 64, 100, 255, 257, 768, 1000, 2048, 4097, 20_000])
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_the_mean_is_added_in_the_order_of_pytorch(d: int, rows: int) -> None:
    x = (np.random.default_rng(d).standard_normal((rows, d)) ** 2).astype(np.float32)
    expected = torch.from_numpy(x).mean(-1, keepdim=True).numpy()
    np.testing.assert_array_equal(float32_mean(x), expected)


def test_the_order_of_the_sum_changes_a_float16() -> None:
    x = np.random.default_rng(0).standard_normal((64, 4096)).astype(np.float32)
    square = x * x
    pairwise = square.mean(axis=-1, keepdims=True)
    assert (pairwise != float32_mean(square)).any()


def test_vectors_in_heads_and_arrays_of_ml_dtypes_are_taken() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 8)).astype(ml_dtypes.bfloat16)
    weight = np.linspace(0.5, 1.5, 8).astype(ml_dtypes.bfloat16)
    found = rms_norm_as("cast_then_multiply", x, weight, eps=1e-6, dtype="bfloat16")
    assert found.shape == x.shape
    rows = rms_norm_as("cast_then_multiply", x.reshape(-1, 8), weight, eps=1e-6, dtype="bfloat16")
    np.testing.assert_array_equal(found.reshape(-1, 8).astype(float), rows.astype(float))
    assert not found.flags.writeable


def test_zeros_without_eps_are_nan_as_there() -> None:
    found = rms_norm_as("multiply_then_cast", np.zeros(8), np.ones(8), eps=0.0, dtype="float16")
    with torch.no_grad():
        expected = norm_module("Olmo2RMSNorm", 8, 0.0)(torch.zeros(8, dtype=torch.float16))
    assert np.isnan(found.astype(float)).all()
    assert expected.isnan().all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arithmetic": "bert"}, "arithmetic can be cast_then_multiply"),
        ({"dtype": "float8_e4m3"}, "dtype can be float32, bfloat16, float16"),
        ({"weight_dtype": "float64"}, "weight_dtype can be float32"),
        ({"eps": -1.0}, "eps is 0 or a positive number"),
        ({"x": 3.0}, "x is an array of vectors"),
        ({"x": [1.0, np.inf]}, r"x\[1\] is infinite"),
        ({"weight": [1.0]}, r"weight has one number per channel, shape \[2\]"),
        ({"weight": [1.0, np.nan]}, r"weight\[1\] is NaN"),
    ],
)
def test_refusals_name_the_field(arguments: dict, message: str) -> None:
    given = {
        "arithmetic": "gemma", "x": [1.0, 2.0], "weight": [0.0, 0.0], "eps": 1e-6, "dtype": "float16", **arguments,
    }  # fmt: skip
    if "weight" in arguments and len(arguments["weight"]) == 1:
        given["weight"] = [1.0, 2.0, 3.0]
    with pytest.raises(InputError, match=message):
        rms_norm_as(given.pop("arithmetic"), given.pop("x"), given.pop("weight"), **given)


def test_shares_and_errors_of_the_facts() -> None:
    """FACTS 5.1 and 7: A against B 25.9 %, against C 38.0 %; errors 2.33e-3 with two roundings, 1.66e-3 with one."""
    both = difference("cast_then_multiply", "multiply_then_cast")
    assert both.share == pytest.approx(0.259, abs=0.015)
    assert differing_share("cast_then_multiply", "gemma") == pytest.approx(0.380, abs=0.015)
    assert differing_share("multiply_then_cast", "gemma3n") == 0
    assert differing_share("cast_then_multiply", "t5") == 0
    assert both.rms == pytest.approx((2.33e-3, 1.66e-3), rel=0.03)
    assert both.largest[1] <= both.unit == 2.0**-8
    assert both.unit < both.largest[0] < 2 * both.unit * (1 + both.unit)
    half = difference("cast_then_multiply", "multiply_then_cast", format="float16")
    assert half.rms == pytest.approx((2.95e-4, 2.07e-4), rel=0.03)


def test_without_a_weight_the_scale_is_one() -> None:
    for other in ("cast_then_multiply", "gemma", "multiply_then_cast"):
        assert differing_share(other, "no_weight", d=64, rows=4) == 0


def test_the_difference_is_drawn_again_from_its_seed() -> None:
    first, again, other = (
        difference("cast_then_multiply", "gemma", d=32, rows=8, seed=seed).errors[0] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[:32], other[:32])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"first": "x"}, "arithmetic can be"),
        ({"format": "float8_e5m2"}, "format can be float32"),
        ({"d": 0}, "d is a whole number"),
        ({"rows": 10**9}, "rows is a whole number"),
        ({"spread": -1.0}, "spread is a number from 0 to 10"),
        ({"seed": -1}, "seed is a whole number"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(arguments: dict, message: str) -> None:
    given = {"first": "gemma", "second": "t5", **arguments}
    with pytest.raises(InputError, match=message):
        difference(given.pop("first"), given.pop("second"), **given)


def test_types_of_pytorch_are_those_of_the_formats() -> None:
    assert set(WIDE) <= set(TYPES)
