"""Which numbers does a seed give, and how do initialization, placement, depth and dtype change them?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from normviz.depth.config import SweepConfig
from normviz.depth.model import Ends, draw, shapes
from normviz.placements import PLACEMENTS

CPU = torch.device("cpu")
PRE = PLACEMENTS["pre_norm"]
SMALL: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 48, "batch": 3, "seq_len": 7, "vocab_size": 11}


def drawn(
    config: SweepConfig, depth: int, seed: int, placement: str = "pre_norm"
) -> tuple[Ends, list[dict[str, Tensor]]]:
    ends, layers = draw(config, PLACEMENTS[placement], depth, [seed], CPU)
    return ends, list(layers)


@pytest.mark.parametrize("init", ["xavier", "gpt2", "std02"])
def test_weights_have_the_standard_deviations_of_their_init(init: str) -> None:
    config = SweepConfig(d_model=128, d_ff=512, init=init, batch=8, seq_len=64)
    depth = 8
    ends, layers = drawn(config, depth, 0)
    write = 0.02 / math.sqrt(2 * depth)
    expected = {
        "xavier": (1.0, 1 / math.sqrt(128), *[1 / math.sqrt(128)] * 4, *[math.sqrt(2 / 640)] * 2),
        "gpt2": (0.02 * math.sqrt(2), 0.02, 0.02, 0.02, 0.02, write, 0.02, write),
        "std02": (0.02,) * 8,
    }[init]
    numbers = [ends.tokens, ends.head, *layers[0].values()]
    assert [w.std().item() for w in numbers] == pytest.approx(expected, rel=0.02)
    assert all(abs(w.mean().item()) < 4 * w.std().item() / math.sqrt(w.numel()) for w in numbers)


@pytest.mark.parametrize(("placement", "factor"), [("deep_norm", 64**-0.25), ("sub_ln", math.sqrt(math.log(16)))])
def test_a_placements_scale_multiplies_all_but_queries_and_keys(placement: str, factor: float) -> None:
    config = SweepConfig(**SMALL, activation="swiglu")
    (_, plain), (_, scaled) = drawn(config, 8, 0), drawn(config, 8, 0, placement)
    for name in shapes(config):
        expected = plain[3][name] * (1 if name in ("wq", "wk") else factor)
        torch.testing.assert_close(scaled[3][name], expected)


def test_gpt2_scales_the_value_matrix_where_there_is_no_output_matrix() -> None:
    config = SweepConfig(d_model=128, init="gpt2", output_projection=False)
    layer = drawn(config, 8, 0)[1][0]
    assert "wo" not in layer
    assert layer["wv"].std().item() == pytest.approx(0.02 / 4, rel=0.02)


def flat(model: tuple[Ends, list[dict[str, Tensor]]], layers: int) -> list[Tensor]:
    ends, weights = model
    return [ends.tokens, ends.labels, ends.head, *(w for ws in weights[:layers] for w in ws.values())]


@pytest.mark.parametrize("init", ["xavier", "std02"])
def test_the_first_layers_do_not_depend_on_the_number_of_layers(init: str) -> None:
    config = SweepConfig(**SMALL, init=init)
    shallow, deep = drawn(config, 2, 5), drawn(config, 6, 5)
    assert all(torch.equal(a, b) for a, b in zip(flat(shallow, 2), flat(deep, 2), strict=True))


def test_gpt2_layers_of_two_depths_differ_by_their_scale_alone() -> None:
    config = SweepConfig(**SMALL, init="gpt2")
    shallow, deep = drawn(config, 2, 5)[1][1], drawn(config, 8, 5)[1][1]
    for name in shapes(config):
        torch.testing.assert_close(shallow[name], deep[name] * (2 if name in ("wo", "w2") else 1))


def test_seeds_give_different_models() -> None:
    config = SweepConfig(**SMALL)
    (ends, layers), (other_ends, other_layers) = drawn(config, 1, 0), drawn(config, 1, 1)
    assert not torch.equal(ends.tokens, other_ends.tokens)
    assert not torch.equal(layers[0]["wq"], other_layers[0]["wq"])


def test_a_seed_gives_the_same_numbers_alone_and_among_others() -> None:
    config = SweepConfig(**SMALL)
    ends, layers = draw(config, PRE, 2, [4, 9], CPU)
    together = [ends.tokens, ends.labels, ends.head, *(w for ws in layers for w in ws.values())]
    for seed, alone in enumerate((drawn(config, 2, 4), drawn(config, 2, 9))):
        assert all(torch.equal(a[seed], b[0]) for a, b in zip(together, flat(alone, 2), strict=True))


def test_numbers_are_those_of_torch_randn_in_the_documented_order() -> None:
    config = SweepConfig(**SMALL)
    ends, layers = drawn(config, 1, 3)
    generator = torch.Generator().manual_seed(3)
    torch.testing.assert_close(ends.tokens[0], torch.randn(3, 7, 32, generator=generator))
    assert torch.equal(ends.labels[0], torch.randint(11, (3, 7), generator=generator))
    torch.testing.assert_close(ends.head[0], torch.randn(32, 11, generator=generator) / np.sqrt(32))
    for name, shape in shapes(config).items():
        expected = torch.randn(*shape, generator=generator) * math.sqrt(2 / sum(shape))
        torch.testing.assert_close(layers[0][name][0], expected)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_rounds_the_same_numbers(dtype: str) -> None:
    exact, rounded = (SweepConfig(**SMALL, dtype=name) for name in ("float32", dtype))
    for a, b in zip(flat(drawn(exact, 2, 0), 2), flat(drawn(rounded, 2, 0), 2), strict=True):
        assert torch.equal(a.to(b.dtype), b)
