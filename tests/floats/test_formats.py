"""Are the numbers of each format those of ml_dtypes, NumPy and PyTorch?"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

from normviz.errors import InputError
from normviz.floats import FORMATS, neighbours, rounded
from normviz.floats.formats import stored
from tests.floats.oracles import TYPES


def every_number(name: str) -> np.ndarray:
    """All finite numbers of a format of at most 16 bits, rising."""
    kind = FORMATS[name]
    bits = np.arange(2**kind.bits, dtype=np.uint16 if kind.bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        numbers = bits.view(kind.dtype).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


NARROW = [name for name, kind in FORMATS.items() if kind.bits <= 16]


@pytest.mark.parametrize("name", FORMATS)
def test_limits_are_those_of_ml_dtypes_and_pytorch(name: str) -> None:
    kind, info, torch_info = FORMATS[name], ml_dtypes.finfo(FORMATS[name].dtype), torch.finfo(TYPES[name])
    assert (kind.bits, kind.exponent, kind.mantissa) == (info.bits, info.nexp, info.nmant)
    assert kind.largest == float(info.max) == torch_info.max
    assert kind.smallest_normal == float(info.smallest_normal) == torch_info.smallest_normal
    assert kind.smallest == float(info.smallest_subnormal)
    assert kind.epsilon == float(info.eps) == torch_info.eps


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_is_a_cast_from_float32(name: str) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(20_000) * 10.0 ** rng.uniform(-46, 38, 20_000)).astype(np.float32)
    if name != "float32":
        # Every number of the format, every midpoint, and what lies just beside the midpoints.
        numbers = every_number(name)
        middles = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
        x = np.concatenate([x, numbers.astype(np.float32), middles])
        for beyond in (np.float32(np.inf), -np.float32(np.inf)):
            x = np.concatenate([x, np.nextafter(middles, beyond)])
    x = x[np.isfinite(x)]
    found = rounded(x, name)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x.astype(FORMATS[name].dtype).astype(np.float64))
    # PyTorch's cast to e4m3 gives the largest number where that of ml_dtypes gives NaN.
    cast = torch.from_numpy(x).to(TYPES[name]).double().numpy()
    np.testing.assert_array_equal(np.where(np.isnan(found), np.copysign(FORMATS[name].largest, x), found), cast)
    assert np.array_equal(np.signbit(found[found == 0]), np.signbit(x[found == 0]))


@pytest.mark.parametrize(("value", "expected"), [(1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-7), (1 + 2.0**-8, 1.0)])
def test_a_float64_is_rounded_once(value: float, expected: float) -> None:
    assert rounded(value, "bfloat16") == expected
    assert stored(np.array([value]), FORMATS["bfloat16"]).astype(float)[0] == expected


@pytest.mark.parametrize("name", NARROW)
def test_neighbours_are_the_numbers_beside_it(name: str) -> None:
    numbers, kind = every_number(name), FORMATS[name]
    chosen = np.unique(np.linspace(1, numbers.size - 2, 300).astype(int))
    for place in chosen:
        near = neighbours(float(numbers[place]), name)
        assert (near.below, near.at, near.above) == tuple(numbers[place - 1 : place + 2])
        assert near.ulp == max(near.above - near.at, near.at - near.below)
    top = neighbours(kind.largest, name)
    assert top.at == kind.largest
    np.testing.assert_equal(top.above, kind.overflow)
    bottom = neighbours(-kind.largest, name)
    np.testing.assert_equal(bottom.below, kind.overflow if np.isnan(kind.overflow) else -np.inf)


def test_float32_neighbours_are_those_of_numpy() -> None:
    for value in (0.0, 1.0, -1.0, 0.1, -3e38, 1e-40, 2.0**-126):
        at = np.float32(value)
        near = neighbours(value, "float32")
        beside = np.nextafter(at, np.float32(-np.inf)), at, np.nextafter(at, np.float32(np.inf))
        assert (near.below, near.at, near.above) == tuple(map(float, beside))


def test_too_large_a_number_has_the_largest_one_below() -> None:
    near = neighbours(70_000.0, "float16")
    assert (near.below, near.at, near.above, near.ulp) == (65_504.0, np.inf, np.inf, 32.0)
    near = neighbours(-70_000.0, "float16")
    assert (near.below, near.at, near.above) == (-np.inf, -np.inf, -65_504.0)
    assert np.isnan(neighbours(500.0, "float8_e4m3").at)
    assert neighbours(464.0, "float8_e4m3").at == 448.0


def test_refusals_name_the_field() -> None:
    with pytest.raises(InputError, match="format can be float32, bfloat16"):
        rounded(1.0, "float64")
    with pytest.raises(InputError, match="format can be"):
        neighbours(1.0, None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="value is one finite number"):
        neighbours(np.inf, "float16")
    with pytest.raises(InputError, match="x holds finite numbers"):
        rounded([1.0, np.nan], "float16")
