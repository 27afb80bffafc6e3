"""What does each slip do to a vector, against numbers worked out by hand?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.norms import layer_norm, rms_norm
from normviz.slips import SLIPS, slip

ENTRIES = st.floats(-1e4, 1e4, allow_subnormal=False)
VECTORS = (
    st.integers(2, 12)
    .flatmap(lambda d: arrays(np.float64, d, elements=ENTRIES))
    .filter(lambda x: np.std(x) > 1e-2 * (1 + np.abs(x).max()))
)
EPS = st.sampled_from([0.0, 1e-5, 0.5])


@pytest.mark.parametrize("name", SLIPS)
@given(x=VECTORS, eps=EPS)
def test_the_usual_side_is_the_norm(name: str, x: np.ndarray, eps: float) -> None:
    found = slip(name, x, eps=eps)
    trace = rms_norm(x, eps=eps) if name == "std_for_rms" else layer_norm(x, eps=eps)
    np.testing.assert_array_equal(found.usual, trace.output)
    np.testing.assert_allclose(found.usual_divisor, trace.denominator, rtol=1e-12)
    assert found.name == name


def divisors(x: np.ndarray, eps: float) -> dict[str, float]:
    """What each slip divides by, from torch and NumPy alone."""
    unbiased = float(torch.var(torch.tensor(x), correction=1))
    return {
        "unbiased": np.sqrt(unbiased + eps),
        "eps_outside": np.std(x) + eps,
        "std_for_rms": np.sqrt(np.var(x) + eps),
    }


@pytest.mark.parametrize("name", ["unbiased", "eps_outside", "std_for_rms"])
@given(x=VECTORS, eps=EPS)
def test_the_other_side_divides_by_what_it_says(name: str, x: np.ndarray, eps: float) -> None:
    found, divisor = slip(name, x, eps=eps), divisors(x, eps)[name]
    numerator = x if name == "std_for_rms" else x - x.mean()
    np.testing.assert_allclose(found.other_divisor, divisor, rtol=1e-12)
    np.testing.assert_allclose(found.other, numerator / divisor, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.difference, np.abs(found.other - found.usual).max(), rtol=1e-12)


def test_the_chapters_vector_by_hand() -> None:
    # 1, 2, 3, 4: mean 2.5, variance 5/4, unbiased 5/3, mean square 7.5
    unbiased, outside = slip("unbiased", [1, 2, 3, 4]), slip("eps_outside", [1, 2, 3, 4], eps=1)
    assert unbiased.usual_divisor == np.sqrt(1.25)
    np.testing.assert_allclose(unbiased.other_divisor, np.sqrt(5 / 3), rtol=1e-15)
    assert (outside.usual_divisor, outside.other_divisor) == (1.5, np.sqrt(1.25) + 1)
    std = slip("std_for_rms", [1, 2, 3, 4])
    assert (std.usual_divisor, std.other_divisor) == (np.sqrt(7.5), np.sqrt(1.25))
    np.testing.assert_allclose(std.difference, 4 / np.sqrt(1.25) - 4 / np.sqrt(7.5), rtol=1e-15)


def test_one_pass_in_float32_at_a_mean_of_1000_deviations_is_2_percent_off() -> None:
    # 7007^2 = 49098049 and 6993^2 = 48902049. Between 2^25 and 2^26 float32 holds multiples of 4 only: 49098048 and
    # 48902048. Their mean 49000048 minus 7000^2 leaves 48, where the variance is 7^2 = 49.
    found = slip("one_pass", [7007, 6993])
    assert found.usual_divisor == 7
    np.testing.assert_allclose(found.other_divisor, np.sqrt(48), rtol=1e-7)
    np.testing.assert_allclose(found.difference, 7 / np.sqrt(48) - 1, rtol=1e-5)  # the root is float32 too


def test_one_pass_in_float32_at_a_mean_of_10000_deviations_finds_no_variance() -> None:
    # 9999^2 = 99980001 and 10001^2 = 100020001. There float32 holds multiples of 8 only: 99980000 and 100020000, whose
    # mean is 10000^2 exactly. The variance is 1, and 0 comes out.
    found = slip("one_pass", [9999, 10001])
    assert (found.usual_divisor, found.other_divisor) == (1, 0)
    assert found.usual.tolist() == [-1, 1]
    assert found.other is not None
    assert found.other.tolist() == [-np.inf, np.inf]
    assert found.difference == np.inf
    eps = slip("one_pass", [9999, 10001], eps=1e-4)
    np.testing.assert_allclose(eps.difference, 100 - 1 / np.sqrt(1.0001), rtol=1e-6)


def test_one_pass_in_float32_can_find_a_negative_variance() -> None:
    # Above 2^25 float32 holds multiples of 4, above 2^26 multiples of 8. 5793^2 = 33558849 becomes 33558848, 5794^2 =
    # 33570436 stays, their sum 67129284 becomes 67129280, half of it is 33564640. The mean 5793.5 squared, 33564642.25,
    # becomes 33564644. The difference is -4, where the variance is 1/4.
    found = slip("one_pass", [5793, 5794], eps=3.5)
    assert found.usual_divisor == np.sqrt(3.75)
    assert np.isnan(found.other_divisor)
    assert np.isnan(found.other).all()
    assert found.difference == np.inf
    assert slip("one_pass", [5793, 5794], eps=5).other_divisor == 1


@given(VECTORS)
def test_one_pass_is_harmless_where_the_mean_is_small(x: np.ndarray) -> None:
    x = x - x.mean()
    np.testing.assert_allclose(slip("one_pass", x).other_divisor, x.std(), rtol=1e-5)


@pytest.mark.parametrize("x", [[1e30, 2e30], [3e38, -3e38], [1e-30, 2e-30], [1e140, 0]])
@pytest.mark.parametrize("eps", [0.0, 1e300])
def test_what_leaves_float32_is_data(x: list[float], eps: float) -> None:
    found = slip("one_pass", x, eps=eps)
    assert found.other_divisor is not None
    assert found.difference is not None
    assert found.difference > 0 or np.isclose(found.usual, 0).all()


def test_a_slip_without_a_value_is_none() -> None:
    for found in (slip("unbiased", [3], eps=1), slip("std_for_rms", [2, 2])):
        assert (found.other_divisor, found.other, found.difference) == (None, None, None)
    assert slip("std_for_rms", [2, 2], eps=1).other_divisor == 1
    assert slip("eps_outside", [2, 2], eps=0.5).other_divisor == 0.5


def test_both_divisors_are_written_out() -> None:
    for name in SLIPS:
        found = slip(name, [1, 2])
        assert found.usual_latex != found.other_latex
        for latex in (found.usual_latex, found.other_latex):
            assert latex.count("{") == latex.count("}")
            assert r"\varepsilon" in latex
    assert slip("std_for_rms", [1, 2]).other_latex == slip("unbiased", [1, 2]).usual_latex


def test_a_slip_cannot_be_changed() -> None:
    found = slip("unbiased", [1, 2])
    for array in (found.usual, found.other):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: slip("mean", [1, 2]), "slip can be unbiased, eps_outside, one_pass, std_for_rms; got 'mean'"),
        (lambda: slip("unbiased", [2, 2]), "LayerNorm of a constant vector"),
        (lambda: slip("one_pass", [3]), "LayerNorm of the single number 3"),
        (lambda: slip("std_for_rms", [0, 0]), "RMSNorm of a vector of zeros"),
        (lambda: slip("eps_outside", [1e-170, 2e-170]), "below which float64 loses digits"),
        (lambda: slip("unbiased", [[1, 2]]), "x is one vector"),
        (lambda: slip("unbiased", [1, 2], eps=-1), "eps is 0 or a positive number"),
        (lambda: slip("unbiased", [1e151, 0]), "x holds numbers up to 1e+150 in size"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
