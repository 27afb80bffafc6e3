"""Does DyT squash each entry by itself, and is it no norm?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import normviz as nv
from normviz.errors import InputError
from normviz.norms import NORMS, dyt


def test_dyt_by_hand() -> None:
    trace = dyt([0.0, 1.0, -2.0, 100.0])
    np.testing.assert_allclose(trace.output, [0, 0.46211716, -0.76159416, 1], atol=1e-8)
    assert trace.denominator is trace.rms is trace.mean is trace.centered is None
    twice = dyt([1.0, -2.0], weight=[2, 2], bias=[1, 1], alpha=0.5)
    np.testing.assert_allclose(twice.output, [1.92423432, -0.52318831], atol=1e-8)
    assert nv.dyt is dyt


def test_dyt_knows_the_scale_of_x_and_no_neighbour() -> None:
    x = np.array([0.5, -1.0, 2.0])
    assert not np.allclose(dyt(2 * x).output, dyt(x).output)
    np.testing.assert_array_equal(dyt(2 * x).output, dyt(x, alpha=1.0).output)
    np.testing.assert_array_equal(dyt(x).output[:1], dyt(x[:1]).output)


def test_eps_has_no_effect_and_zeros_have_a_value() -> None:
    np.testing.assert_array_equal(dyt(np.zeros(3), eps=0).output, np.zeros(3))
    np.testing.assert_array_equal(dyt([1.0, 2.0], eps=0.5).output, dyt([1.0, 2.0], eps=0).output)


def test_small_entries_pass_with_the_slope_alpha() -> None:
    np.testing.assert_allclose(dyt([1e-6], alpha=0.8).output, [0.8e-6], rtol=1e-9)


def test_every_array_of_a_trace_is_read_only() -> None:
    trace = dyt([1.0, 2.0], weight=[1, 2], bias=[0, 1])
    for array in (trace.x, trace.weight, trace.bias, trace.normalized, trace.output):
        assert array is not None
        assert not array.flags.writeable


def test_the_module_starts_at_half_and_trains_alpha() -> None:
    module = NORMS["dyt"].module(4, 1e-5)
    x = torch.tensor([[[0.0, 1.0, -2.0, 100.0]]])
    np.testing.assert_allclose(module(x).detach().flatten(), dyt([0.0, 1.0, -2.0, 100.0]).output, rtol=1e-6)
    module(x).sum().backward()
    assert {name: tuple(p.shape) for name, p in module.named_parameters()} == {
        "alpha": (),
        "weight": (4,),
        "bias": (4,),
    }
    assert all(p.grad is not None for p in module.parameters())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"alpha": np.inf}, "alpha is one finite number; got inf"),
        ({"alpha": "a"}, "alpha is one finite number"),
        ({"alpha": 1e200}, "alpha holds numbers up to 1e\\+150 in size"),
        ({"eps": -1}, "eps is 0 or a positive number"),
        ({"weight": [1, 2]}, "weight has one number per channel, shape \\[3\\]; got shape \\[2\\]"),
        ({"bias": [[1]]}, "bias has one number per channel"),
    ],
)
def test_a_bad_argument_is_named(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        dyt([1.0, 2.0, 3.0], **given)
