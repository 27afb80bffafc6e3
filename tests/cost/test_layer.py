"""Are a layer's operations those that PyTorch counts, and what do its norms take of it?"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.functional import linear, silu
from torch.utils.flop_counter import FlopCounterMode
from transformers import GPT2Config, LlamaConfig

from normviz.cost import LAYERS, PARTS, LayerSizes, Roof, layer_share, norm_cost
from normviz.errors import InputError

SMALL = LayerSizes(
    batch=2, tokens=5, d_model=24, n_heads=4, n_kv_heads=2, head_dim=8, d_ff=40, gated=True, dtype="float32"
)
ROOF = Roof(bandwidth=1e11, rate=1e13)


def layer(sizes: LayerSizes) -> None:
    """The matrix products of one layer, as a model runs them."""
    context = sizes.context or sizes.tokens
    q, kv = sizes.n_heads * sizes.head_dim, sizes.n_kv_heads * sizes.head_dim
    x = torch.randn(sizes.batch, sizes.tokens, sizes.d_model)
    projected = linear(x, torch.randn(q + 2 * kv, sizes.d_model))
    queries = projected[..., :q].unflatten(-1, (sizes.n_heads, sizes.head_dim)).transpose(1, 2)
    keys, values = (torch.randn(sizes.batch, sizes.n_heads, context, sizes.head_dim) for _ in range(2))
    mixed = (queries @ keys.mT).softmax(-1) @ values
    x = linear(mixed.transpose(1, 2).flatten(2), torch.randn(sizes.d_model, q))
    inner = linear(x, torch.randn(sizes.d_ff, sizes.d_model))
    if sizes.gated:
        inner = silu(inner) * linear(x, torch.randn(sizes.d_ff, sizes.d_model))
    linear(inner, torch.randn(sizes.d_model, sizes.d_ff))


@pytest.mark.parametrize(
    "sizes", [SMALL, replace(SMALL, gated=False, n_kv_heads=4), replace(SMALL, tokens=1, context=9)]
)
def test_products_are_what_torch_counts(sizes: LayerSizes) -> None:
    with FlopCounterMode(display=False) as counter:
        layer(sizes)
    flops = {part.id: part.flops for part in layer_share(sizes).parts}
    scores = sizes.batch * sizes.tokens * (sizes.context or 0) * sizes.n_heads
    softmax = flops["attention"] - 4 * scores * sizes.head_dim
    assert flops["projections"] + flops["attention"] - softmax + flops["mlp"] == counter.get_total_flops()
    assert softmax == 5 * scores


def test_norms_are_those_of_the_layer() -> None:
    share = layer_share(replace(SMALL, norms=4, norm="layer_norm"))
    one = norm_cost("layer_norm", 10, 24)
    norms = share.parts[0]
    assert (norms.id, norms.flops, norms.bytes) == ("norms", 4 * one.flops, 4 * one.bytes)
    assert layer_share(replace(SMALL, norms=0)).bytes_share() == 0


@pytest.mark.parametrize("sizes", [sizes for _, sizes in LAYERS.values()])
def test_shares_add_up_and_norms_cost_bytes_not_operations(sizes: LayerSizes) -> None:
    share = layer_share(sizes)
    for part_share in (share.flops_share, share.bytes_share, lambda part: share.time_share(ROOF, part)):
        assert sum(part_share(part) for part in PARTS) == pytest.approx(1)
    assert share.flops_share() < 1e-3
    assert share.bytes_share() > 20 * share.flops_share()
    assert share.flops_share() < share.time_share(ROOF) < share.bytes_share()


def test_a_single_token_moves_weights_and_hardly_any_norm() -> None:
    _, sizes = LAYERS["llama3_8b"]
    assert (
        layer_share(replace(sizes, tokens=1, context=sizes.tokens)).bytes_share()
        < 0.01 * layer_share(sizes).bytes_share()
    )


def test_least_time_is_the_longer_of_bytes_and_products() -> None:
    for roof in (ROOF, Roof(bandwidth=1e11, rate=1e9)):
        seconds = layer_share(SMALL).seconds(roof)
        for part in layer_share(SMALL).parts:
            assert seconds[part.id] == max(part.bytes / 1e11, part.products / roof.rate)


def test_only_products_are_charged_at_the_rate_of_products() -> None:
    with FlopCounterMode(display=False) as counter:
        layer(SMALL)
    share = layer_share(SMALL)
    assert sum(part.products for part in share.parts) == counter.get_total_flops()
    slow = share.seconds(Roof(bandwidth=1e11, rate=1.0))
    for part in share.parts:
        if part.id in ("norms", "additions", "activation"):
            assert slow[part.id] == part.bytes / 1e11


def test_known_layers_are_those_of_the_configurations() -> None:
    gpt2, llama = GPT2Config(), LlamaConfig()
    own = LAYERS["gpt2"][1]
    assert (own.d_model, own.n_heads, own.d_ff, own.tokens) == (
        gpt2.n_embd,
        gpt2.n_head,
        4 * gpt2.n_embd,
        gpt2.n_positions,
    )
    own = LAYERS["llama2_7b"][1]
    assert (own.d_model, own.n_heads, own.n_kv_heads, own.d_ff) == (
        llama.hidden_size,
        llama.num_attention_heads,
        llama.num_key_value_heads,
        llama.intermediate_size,
    )
    for _, sizes in LAYERS.values():
        assert sizes.n_heads * sizes.head_dim == sizes.d_model


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"batch": 0}, "batch is a whole number from 1"),
        ({"d_model": -1}, "d_model is a whole number from 1"),
        ({"context": 4}, "context counts the new tokens as well, so that it is at least tokens (5); got 4"),
        ({"n_kv_heads": 3}, "n_heads is a multiple of n_kv_heads; got n_heads 4 and n_kv_heads 3"),
        ({"norm": "dyt"}, "norm can be layer_norm, rms_norm"),
        ({"dtype": "int4"}, "dtype can be"),
        ({"tokens": 2**32, "d_model": 2**20, "context": None}, "These sizes make a tensor of"),
        ({"d_model": 2**24, "d_ff": 2**26}, "These sizes make a tensor of"),
    ],
)
def test_what_is_no_layer_is_said(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        replace(SMALL, **changes)
