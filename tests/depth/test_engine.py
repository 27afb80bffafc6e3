"""Does the engine measure what a straightforward model gives, for every placement, norm, attention and activation?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from normviz.depth import engine
from normviz.depth.config import ACTIVATIONS, ATTENTIONS, MATRICES, SWEEP_NORMS, PointKey, SweepConfig
from normviz.depth.engine import Pass
from normviz.depth.model import Ends, draw
from normviz.depth.points import QUANTITIES, Profile
from normviz.placements import PLACEMENTS
from tests.depth.reference import reference

CPU = torch.device("cpu")
TINY: dict[str, Any] = {"d_model": 12, "n_heads": 3, "d_ff": 20, "batch": 2, "seq_len": 5, "vocab_size": 11}


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine computes in float64, so that a disagreement is a mistake and no rounding."""

    def draw_double(*arguments: Any) -> tuple[Ends, Any]:
        ends, layers = draw(*arguments)
        widened = Ends(tokens=ends.tokens.double(), labels=ends.labels, head=ends.head.double())
        return widened, ({name: w.double() for name, w in layer.items()} for layer in layers)

    monkeypatch.setattr(engine, "draw", draw_double)


def check(profiles: dict[str, Profile], wanted: dict[str, dict[float, float]], rtol: float) -> None:
    assert set(profiles) == set(wanted) <= set(QUANTITIES)
    for quantity, profile in profiles.items():
        assert profile.layer.tolist() == sorted(wanted[quantity]), quantity
        expected = [wanted[quantity][at] for at in sorted(wanted[quantity])]
        np.testing.assert_allclose(profile.value, expected, rtol=rtol, atol=1e-12, err_msg=quantity)


def agree(
    config: SweepConfig, names: Sequence[str], depths: Sequence[int], seeds: Sequence[int], rtol: float = 1e-5
) -> None:
    """Compare every model of one slice with its reference."""
    measured = Pass(config, names, depths, seeds, CPU).run()
    assert set(measured) == {PointKey(*key) for key in product(names, depths, seeds)}
    for key, profiles in measured.items():
        check(profiles, reference(config, *key), rtol)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("norm", SWEEP_NORMS)
@pytest.mark.parametrize("name", PLACEMENTS)
@pytest.mark.usefixtures("double")
def test_every_quantity_agrees_with_the_reference(name: str, norm: str, attention: str, activation: str) -> None:
    depth = 2 if norm == "none" else 4  # without a norm four layers reach 1e25 and no two sums agree
    agree(SweepConfig(**TINY, norm=norm, attention=attention, activation=activation), [name], [depth], [3])


@pytest.mark.parametrize(
    "variant",
    [
        {"qk_norm": True, "norm": "rms_norm", "attention": "bidirectional"},
        {"loss": "one"},
        {"output_projection": False, "attention": "uniform", "init": "gpt2", "eps": 0.0},
        {"init": "std02", "n_heads": 1},
        {"batch": 1, "seq_len": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", PLACEMENTS)
@pytest.mark.usefixtures("double")
def test_every_variant_agrees_with_the_reference(name: str, variant: dict[str, Any]) -> None:
    agree(SweepConfig(**{**TINY, **variant}), [name], [3], [1])


@pytest.mark.usefixtures("double")
def test_models_measured_together_are_those_measured_alone() -> None:
    names = [name for name, placement in PLACEMENTS.items() if not placement.knows_depth and not placement.qkv_norm]
    agree(SweepConfig(**TINY), names, [1, 2, 5], [0, 7])


@pytest.mark.parametrize("name", ["post_norm", "pre_norm", "sandwich_norm"])
@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_float32_agrees_with_float64(name: str, norm: str) -> None:
    agree(SweepConfig(**{**TINY, "d_model": 24, "d_ff": 48}, norm=norm), [name], [2, 4], [0, 1], rtol=1e-5)


@pytest.mark.parametrize("wanted", [("w2",), ("wq", "wv"), ("w1", "wg")])
def test_only_the_gradients_that_are_asked_for_are_measured(wanted: tuple[str, ...]) -> None:
    fields = {**TINY, "activation": "swiglu"}
    every = Pass(SweepConfig(**fields), ["pre_norm"], [2], [0], CPU).run()
    some = Pass(SweepConfig(**fields, gradients=wanted), ["pre_norm"], [2], [0], CPU).run()
    (all_profiles,), (profiles,) = every.values(), some.values()
    absent = {f"grad_{name}" for name in MATRICES if name not in wanted} | {"grad_all"}
    assert set(all_profiles) - set(profiles) == absent
    for quantity, profile in profiles.items():
        np.testing.assert_allclose(profile.value, all_profiles[quantity].value, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["mixed", "bfloat16", "float16"])
def test_half_precision_stays_near_float32(dtype: str) -> None:
    def run(name: str) -> dict[str, Profile]:
        (profiles,) = Pass(SweepConfig(**TINY, dtype=name), ["pre_norm"], [3], [0], CPU).run().values()
        return profiles

    exact, half = run("float32"), run(dtype)
    for quantity in exact:
        np.testing.assert_allclose(half[quantity].value, exact[quantity].value, rtol=0.08, err_msg=quantity)
    assert half["grad_w2"] != exact["grad_w2"]


def test_gradients_match_torch_transformer_encoder_layer() -> None:
    """Another oracle, by others' hands: torch's own layer with the drawn weights."""
    config = SweepConfig(**TINY)
    for name in ("post_norm", "pre_norm"):
        ends, layers = draw(config, PLACEMENTS[name], 3, [3], CPU)
        (profiles,) = Pass(config, [name], [3], [3], CPU).run().values()
        stack = [encoder_layer(config, name, layer) for layer in layers]
        norm = torch.nn.LayerNorm(config.d_model, eps=config.eps)
        x = norm(ends.tokens[0]) if name == "post_norm" else ends.tokens[0]
        mask = torch.ones(config.seq_len, config.seq_len, dtype=torch.bool).triu(1)
        for layer in stack:
            x = layer(x, src_mask=mask)
        logits = (norm(x) if name == "pre_norm" else x) @ ends.head[0]
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), ends.labels[0].flatten()).backward()
        for n, layer in enumerate(stack):
            q, k, v = layer.self_attn.in_proj_weight.grad.chunk(3)
            found = {"wq": q, "wk": k, "wv": v, "wo": layer.self_attn.out_proj.weight.grad}
            found |= {"w1": layer.linear1.weight.grad, "w2": layer.linear2.weight.grad}
            for matrix, gradient in found.items():
                assert profiles[f"grad_{matrix}"].value[n] == pytest.approx(gradient.norm().item(), rel=1e-4)


def encoder_layer(config: SweepConfig, name: str, weights: dict[str, Tensor]) -> Any:
    layer = torch.nn.TransformerEncoderLayer(
        config.d_model, config.n_heads, config.d_ff, dropout=0.0, activation=config.activation, batch_first=True,
        layer_norm_eps=config.eps, norm_first=name == "pre_norm", bias=False,
    )  # fmt: skip
    w = {key: value[0] for key, value in weights.items()}
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.cat([w["wq"], w["wk"], w["wv"]], dim=1).T)
        layer.self_attn.out_proj.weight.copy_(w["wo"].T)
        layer.linear1.weight.copy_(w["w1"].T)
        layer.linear2.weight.copy_(w["w2"].T)
    return layer
