"""Does the porting bench run the family's own wiring and norms, and does each mistake show where it must?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from normviz.errors import InputError
from normviz.families import FAMILIES
from normviz.families.miniature import Checkpoint, Recipe, checkpoint, run
from normviz.families.porting import MISTAKES, PortingConfig, applicable, port, recipe, wrong_eps
from normviz.floats import FORMATS, WIDE

Layer = Callable[[Tensor, "Given", int], Tensor]


def config(family: str, *mistakes: str, **more: Any) -> PortingConfig:
    return PortingConfig(**{"family": family, "n_layers": 3, "d_model": 32, "mistakes": mistakes, **more})


def stored(family: str, dtype: str = "float32", **more: Any) -> Checkpoint:
    return checkpoint(FAMILIES[family], **{"n_layers": 2, "d_model": 32, "seed": 3, "dtype": dtype, **more})


class Given:
    """The same model in PyTorch and float64, sublayers and norms by PyTorch's own functions."""

    def __init__(self, found: Checkpoint) -> None:
        self.found = found

    def norm(self, x: Tensor, role: str, layer: int = -1) -> Tensor:
        family = self.found.family
        gain, bias = (None if part is None else torch.tensor(part).double() for part in self.found.norms[layer][role])
        if family.form == "1+w" and gain is not None:
            gain = 1 + gain
        if family.norm == "layer_norm":
            return functional.layer_norm(x, x.shape[-1:], gain, bias, family.eps)
        return functional.rms_norm(x, x.shape[-1:], gain, family.eps)

    def attention(self, x: Tensor, layer: int) -> Tensor:
        weights = {name: torch.tensor(matrix).double() for name, matrix in self.found.layers[layer].items()}
        q, k, v = (x @ weights[f"w{name}"] for name in "qkv")
        if self.found.family.qk_norm == "projection":
            q, k = self.norm(q, "q", layer), self.norm(k, "k", layer)
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(0, 1) for part in (q, k, v))
        if self.found.family.qk_norm == "head":
            q, k = self.norm(q, "q", layer), self.norm(k, "k", layer)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return mixed.transpose(0, 1).flatten(1) @ weights["wo"]

    def feed_forward(self, x: Tensor, layer: int) -> Tensor:
        weights = self.found.layers[layer]
        return functional.relu(x @ torch.tensor(weights["w1"]).double()) @ torch.tensor(weights["w2"]).double()


def pre(x: Tensor, m: Given, i: int) -> Tensor:
    x = x + m.attention(m.norm(x, "attention_in", i), i)
    return x + m.feed_forward(m.norm(x, "mlp_in", i), i)


def post(x: Tensor, m: Given, i: int) -> Tensor:
    x = m.norm(x + m.attention(x, i), "post_attention", i)
    return m.norm(x + m.feed_forward(x, i), "post_mlp", i)


def sandwich(x: Tensor, m: Given, i: int) -> Tensor:
    x = x + m.norm(m.attention(m.norm(x, "attention_in", i), i), "attention_out", i)
    return x + m.norm(m.feed_forward(m.norm(x, "mlp_in", i), i), "mlp_out", i)


def outputs(x: Tensor, m: Given, i: int) -> Tensor:
    x = x + m.norm(m.attention(x, i), "attention_out", i)
    return x + m.norm(m.feed_forward(x, i), "mlp_out", i)


def parallel(x: Tensor, m: Given, i: int) -> Tensor:
    h = m.norm(x, "shared_in", i)
    return x + m.attention(h, i) + m.feed_forward(h, i)


def parallel_two(x: Tensor, m: Given, i: int) -> Tensor:
    return x + m.attention(m.norm(x, "attention_in", i), i) + m.feed_forward(m.norm(x, "mlp_in", i), i)


@pytest.mark.parametrize(
    ("family", "layer"),
    [
        ("llama", pre),
        ("qwen3", pre),
        ("gemma", pre),
        ("t5", pre),
        ("bloom", pre),
        ("bert", post),
        ("opt_350m", post),
        ("gemma2", sandwich),
        ("glm4", sandwich),
        ("olmo2", outputs),
        ("exaone4", outputs),
        ("cohere", parallel),
        ("phi", parallel),
        ("gpt_neox", parallel_two),
    ],
)
def test_the_bench_is_the_textbook_model(family: str, layer: Layer) -> None:
    found = stored(family)
    oracle = Given(found)
    streams = dict(run(found, recipe(FAMILIES[family])))
    x = torch.tensor(found.tokens).double()
    if "embedding" in found.norms[-1]:
        x = oracle.norm(x, "embedding")
    for i in range(3):
        np.testing.assert_allclose(streams[2 * i], x, atol=2e-6)
        x = layer(x, oracle, i) if i < 2 else x
    x = oracle.norm(x, "final") if "final" in found.norms[-1] else x
    np.testing.assert_allclose(streams[5], x, atol=1e-5)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_port_without_a_mistake_has_every_bit(family: str, dtype: str) -> None:
    found = port(config(family, dtype=dtype))
    assert (found.first, found.output) == (None, 0.0)
    assert not found.layers.any()
    steps = 2 if FAMILIES[family].placement.startswith("parallel") else 1
    assert found.passed.tolist() == list(range(0, 7, steps))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_stream_stays_in_the_type_of_the_model(family: str, dtype: str) -> None:
    for _, x in run(stored(family, dtype), recipe(FAMILIES[family])):
        assert x.dtype == FORMATS[dtype].dtype
        assert np.isfinite(x.astype(np.float64)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_applicable_mistake_shows(family: str) -> None:
    known = FAMILIES[family]
    start = 2 if known.placement.startswith("parallel") else 1
    for mistake in applicable(family):
        found = port(config(family, mistake, dtype="bfloat16"))
        first = {"no_final_norm": 7, "post_as_pre": 1}.get(mistake, 0 if known.embedding_norm else start)
        assert found.first == first, mistake
        assert found.output > 0
        assert found.applicable == applicable(family)
        np.testing.assert_array_equal(found.layers[found.passed < first], 0)
        np.testing.assert_array_less(0, found.layers[found.passed >= first])


@pytest.mark.parametrize("family", [family for family in FAMILIES if "cast_order" in applicable(family)])
def test_the_order_of_cast_and_product_shows_only_where_a_cast_rounds(family: str) -> None:
    assert port(config(family, "cast_order")).first is None
    for dtype in ("bfloat16", "float16"):
        found = port(config(family, "cast_order", dtype=dtype))
        # A few roundings for each sublayer, not more.
        assert 0 < found.output < 8 * FORMATS[dtype].epsilon


def test_every_mistake_is_offered_where_it_can_be_made() -> None:
    offered = {family: set(applicable(family)) for family in FAMILIES}
    assert set.union(*offered.values()) == set(MISTAKES)
    assert offered["gemma"] == {"scale_for_w", "eps", "cast_order", "no_final_norm"}
    assert offered["llama"] == {"w_for_scale", "eps", "cast_order", "no_final_norm"}
    assert offered["bert"] == {"w_for_scale", "eps", "no_bias", "post_as_pre"}
    assert offered["olmo2"] == {"w_for_scale", "eps", "cast_order", "no_final_norm", "post_as_pre"}
    assert offered["nanochat"] == offered["olmo"] == {"eps", "no_final_norm"}


def test_a_forgotten_one_leaves_w_for_the_scale() -> None:
    """Gemma's first norm: what attention reads is multiplied by w, N(0, 0.3^2), instead of 1 + w."""
    found = stored("gemma", n_layers=1)
    gain = found.norms[0]["attention_in"][0]
    assert gain is not None
    assert abs(float(gain.mean())) < 0.2
    read: dict[bool, np.ndarray] = {}
    for right in (True, False):
        way = recipe(FAMILIES["gemma"], () if right else ("scale_for_w",))

        def spy(x: Any, at: Any, right: bool = right) -> Any:
            read[right] = at.norm(x)
            y = yield read[right]
            return x + y

        list(run(found, Recipe(**{**vars(way), "attention": spy})))
    np.testing.assert_allclose(read[False] * (1 + gain), read[True] * gain, rtol=1e-5, atol=1e-6)


def test_another_eps_moves_the_first_norm_by_its_closed_form() -> None:
    """nanochat begins with a norm that has no parameters: each token's length changes, its direction does not."""
    found = port(config("nanochat", "eps"))
    tokens = stored("nanochat", n_layers=3, seed=0).tokens.astype(np.float64)
    square, eps = (tokens**2).mean(axis=1), FAMILIES["nanochat"].eps
    right, wrong = (np.sqrt(square / (square + value)) for value in (eps, wrong_eps(eps)))
    expected = np.linalg.norm(wrong - right) / np.linalg.norm(right)
    assert found.layers[0] == pytest.approx(expected, rel=1e-3)


def test_one_added_to_the_scale_of_the_embeddings_norm_by_hand() -> None:
    found, kept = port(config("modernbert", "w_for_scale")), stored("modernbert", n_layers=3, seed=0)
    tokens = kept.tokens.astype(np.float64)
    centred = tokens - tokens.mean(axis=1, keepdims=True)
    unit = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + FAMILIES["modernbert"].eps)
    gain = kept.norms[-1]["embedding"][0]
    assert gain is not None
    assert found.layers[0] == pytest.approx(np.linalg.norm(unit) / np.linalg.norm(unit * gain), rel=1e-5)


@pytest.mark.parametrize(("eps", "wrong"), [(1e-5, 1e-6), (1e-6, 1e-5), (1e-12, 1e-5), (1.5625e-7, 1e-5)])
def test_the_other_eps_is_the_one_of_most_other_configs(eps: float, wrong: float) -> None:
    assert wrong_eps(eps) == wrong


def test_mistakes_are_made_together_and_keep_their_order() -> None:
    both = config("gemma2", "eps", "scale_for_w", dtype="bfloat16")
    assert both.mistakes == ("scale_for_w", "eps")
    assert both == config("gemma2", "scale_for_w", "eps", dtype="bfloat16")
    assert port(both).layers[-1] != port(config("gemma2", "scale_for_w", dtype="bfloat16")).layers[-1]


def test_the_seed_decides_everything() -> None:
    one, same, other = (port(config("gpt2", "no_bias", seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.layers, same.layers)
    assert not math.isclose(one.output, other.output)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"family": "gpt9"}, "family can be llama"),
        ({"dtype": "float8_e4m3"}, "dtype can be float32, bfloat16, float16"),
        ({"n_layers": 0}, "n_layers is a whole number from 1 to 24"),
        ({"d_model": 4096}, "d_model is a whole number from 16 to 256"),
        ({"d_model": 18}, "d_model is a multiple of n_heads; got d_model 18 and n_heads 4"),
        ({"seed": -1}, "seed is a whole number from 0"),
        ({"mistakes": ("no_bias",)}, "mistakes can be w_for_scale, eps, cast_order, no_final_norm; got 'no_bias'"),
        ({"mistakes": "eps"}, "mistakes is a list"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_field_and_what_is_allowed(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        PortingConfig(**{"family": "llama", **change})
    assert words in str(caught.value)
