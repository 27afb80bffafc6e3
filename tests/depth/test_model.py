"""Does the engine compute the same forward and backward pass as models written by others?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.model import Model, attention, draw, shapes
from normviz.depth.probes import measure
from normviz.depth.results import DepthPoint
from normviz.placements import PLACEMENTS

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 48, "batch": 3, "seq_len": 7, "vocab_size": 11}


def value(point: DepthPoint, quantity: str, layer: float) -> float:
    profile = point.profiles[quantity]
    return float(profile.value[profile.layer == layer].item())


@pytest.mark.parametrize("mask", ["causal", "bidirectional"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("placement", ["post_norm", "pre_norm"])
def test_gradients_match_torch_transformer_encoder_layer(placement: str, activation: str, mask: str) -> None:
    depth, d = 3, SMALL["d_model"]
    config = SweepConfig(**SMALL, depths=(depth,), seeds=(3,), activation=activation, attention=mask)
    point = measure(config, PointKey(placement, depth, 3))
    model = draw(config, depth, 3, CPU)

    layers = []
    for ws in model.layers:
        layer = torch.nn.TransformerEncoderLayer(
            d, config.n_heads, config.d_ff, dropout=0.0, activation=activation, layer_norm_eps=config.eps,
            batch_first=True, norm_first=placement == "pre_norm", bias=False,
        )  # fmt: skip
        with torch.no_grad():
            layer.self_attn.in_proj_weight.copy_(torch.cat([ws["wq"], ws["wk"], ws["wv"]], dim=1).T)
            layer.self_attn.out_proj.weight.copy_(ws["wo"].T)
            layer.linear1.weight.copy_(ws["w1"].T)
            layer.linear2.weight.copy_(ws["w2"].T)
        layers.append(layer)
    norm = torch.nn.LayerNorm(d, eps=config.eps)
    future = torch.ones(config.seq_len, config.seq_len, dtype=torch.bool).triu(1)
    x = model.tokens.detach().requires_grad_()
    streams = [norm(x) if placement == "post_norm" else x]
    for layer in layers:
        streams.append(layer(streams[-1], src_mask=future if mask == "causal" else None))
    out = norm(streams[-1]) if placement == "pre_norm" else streams[-1]
    loss = F.cross_entropy((out @ model.head).reshape(-1, config.vocab_size), model.labels.reshape(-1))

    assert value(point, "loss", 0) == pytest.approx(loss.item(), rel=1e-6)
    for n, gradient in enumerate(torch.autograd.grad(loss, streams, retain_graph=True)):
        assert value(point, "grad_residual", n) == pytest.approx(gradient.norm().item(), rel=1e-4)
        assert value(point, "residual_mean_square", n) == pytest.approx(streams[n].square().mean().item(), rel=1e-5)
    loss.backward()
    for n, layer in enumerate(layers, start=1):
        in_projection = layer.self_attn.in_proj_weight.grad
        assert in_projection is not None
        gradients = dict(zip(("grad_wq", "grad_wk", "grad_wv"), in_projection.chunk(3), strict=True))
        gradients["grad_wo"] = layer.self_attn.out_proj.weight.grad
        gradients |= {"grad_w1": layer.linear1.weight.grad, "grad_w2": layer.linear2.weight.grad}
        for quantity, gradient in gradients.items():
            assert value(point, quantity, n) == pytest.approx(gradient.norm().item(), rel=1e-3), (quantity, n)


def attend(config: SweepConfig, ws: dict[str, Tensor], x: Tensor) -> Tensor:
    """Attention with torch's fused kernel, in float64."""
    v = x @ ws["wv"]
    if config.attention == "uniform":
        mixed = v.mean(1, keepdim=True) + torch.zeros_like(v)
    else:
        q, k = x @ ws["wq"], x @ ws["wk"]
        if config.qk_norm:
            q, k = (h / (h.square().mean(-1, keepdim=True) + config.eps).sqrt() for h in (q, k))
        heads = [torch.stack(h.chunk(config.n_heads, dim=-1), dim=1) for h in (q, k, v)]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=config.attention == "causal")
        mixed = torch.cat(mixed.unbind(1), dim=-1)
    return mixed @ ws["wo"] if "wo" in ws else mixed


def oracle(config: SweepConfig, key: PointKey) -> dict[str, dict[float, float]]:
    """Every quantity by plain float64 formulas: no generator, no registry, no shared code but the drawn numbers."""
    model = draw(config, key.depth, key.seed, CPU)
    layers = [{name: w.detach().double().requires_grad_() for name, w in ws.items()} for ws in model.layers]
    x = model.tokens.detach().double().requires_grad_()

    def norm(h: Tensor) -> Tensor:
        centered = h - h.mean(-1, keepdim=True) if config.norm == "layer_norm" else h
        return centered / (centered.square().mean(-1, keepdim=True) + config.eps).sqrt()

    def mean_square(h: Tensor) -> float:
        return h.square().mean().item()

    into_norm: dict[float, float] = {}
    branch: dict[float, float] = {}
    if key.placement == "post_norm":
        into_norm[0] = mean_square(x)
        x = norm(x)
    streams = [x]
    for n, ws in enumerate(layers, start=1):
        for position, f in ((n - 0.5, lambda h, ws=ws: attend(config, ws, h)),
                            (n, lambda h, ws=ws: getattr(F, config.activation)(h @ ws["w1"]) @ ws["w2"])):  # fmt: skip
            match key.placement:
                case "post_norm":
                    y = f(x)
                    into_norm[position] = mean_square(x + y)
                    x = norm(x + y)
                case "pre_norm":
                    y = f(norm(x))
                    x = x + y
                case "sandwich_norm":
                    y = f(norm(x))
                    x = x + norm(y)
                case "output_norm":
                    y = f(x)
                    x = x + norm(y)
                case "no_norm":
                    y = f(x)
                    x = x + y
            branch[position] = mean_square(y)
        streams.append(x)
    if key.placement not in ("post_norm", "no_norm"):
        into_norm[key.depth + 0.5] = mean_square(x)
        x = norm(x)
    labels = model.labels
    if config.loss == "one":
        x, labels = x[:, -1], labels[:, -1]
    log_p = (x @ model.head.double()).log_softmax(-1)
    loss = -log_p.gather(-1, labels.unsqueeze(-1)).mean()
    gradients = torch.autograd.grad(loss, [*streams, *(w for ws in layers for w in ws.values())])
    expected: dict[str, dict[float, float]] = {
        "loss": {0: loss.item()},
        "residual_mean_square": {n: mean_square(h) for n, h in enumerate(streams)},
        "pre_norm_mean_square": into_norm,
        "branch_mean_square": branch,
        "grad_residual": {n: g.norm().item() for n, g in enumerate(gradients[: len(streams)])},
    }
    names = [(f"grad_{name}", n) for n, ws in enumerate(layers, start=1) for name in ws]
    for (name, n), g in zip(names, gradients[len(streams) :], strict=True):
        expected.setdefault(name, {})[n] = g.norm().item()
    return {name: profile for name, profile in expected.items() if profile}


VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "rms_norm", "attention": "bidirectional", "qk_norm": True, "activation": "gelu"},
    {"attention": "uniform", "output_projection": False, "loss": "one", "init": "gpt2", "eps": 0.0},
    {"init": "std02", "loss": "one", "norm": "rms_norm"},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(map(str, variant.values())) or "default")
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_quantity_matches_plain_float64_formulas(placement: str, variant: dict[str, Any]) -> None:
    config = SweepConfig(**SMALL, placements=(placement,), depths=(3,), seeds=(1,), **variant)
    key = config.keys()[0]
    point, expected = measure(config, key), oracle(config, key)
    assert set(point.profiles) == set(expected)
    for quantity, profile in point.profiles.items():
        assert dict.fromkeys(profile.layer) == dict.fromkeys(sorted(expected[quantity])), quantity
        np.testing.assert_allclose(
            profile.value, [expected[quantity][n] for n in profile.layer], rtol=1e-3, err_msg=quantity
        )


@pytest.mark.parametrize("init", ["xavier", "gpt2", "std02"])
def test_weights_have_the_standard_deviations_of_their_init(init: str) -> None:
    config = SweepConfig(d_model=128, d_ff=512, init=init, batch=8, seq_len=64)
    depth = 8
    model = draw(config, depth, 0, CPU)
    write = 0.02 / math.sqrt(2 * depth)
    expected = {
        "xavier": (1.0, 1 / math.sqrt(128), *[1 / math.sqrt(128)] * 4, *[math.sqrt(2 / 640)] * 2),
        "gpt2": (0.02 * math.sqrt(2), 0.02, 0.02, 0.02, 0.02, write, 0.02, write),
        "std02": (0.02,) * 8,
    }[init]
    drawn = [model.tokens, model.head, *model.layers[0].values()]
    assert [w.std().item() for w in drawn] == pytest.approx(expected, rel=0.02)
    assert all(abs(w.mean().item()) < 4 * w.std().item() / math.sqrt(w.numel()) for w in drawn)


def test_gpt2_scales_the_value_matrix_where_there_is_no_output_matrix() -> None:
    config = SweepConfig(d_model=128, init="gpt2", output_projection=False)
    layer = draw(config, 8, 0, CPU).layers[0]
    assert "wo" not in layer
    assert layer["wv"].std().item() == pytest.approx(0.02 / 4, rel=0.02)


def flat(model: Model, layers: int) -> list[Tensor]:
    return [model.tokens, model.labels, model.head, *(w for ws in model.layers[:layers] for w in ws.values())]


@pytest.mark.parametrize("init", ["xavier", "std02"])
def test_the_first_layers_do_not_depend_on_the_number_of_layers(init: str) -> None:
    config = SweepConfig(**SMALL, init=init)
    shallow, deep = draw(config, 2, 5, CPU), draw(config, 6, 5, CPU)
    assert all(torch.equal(a, b) for a, b in zip(flat(shallow, 2), flat(deep, 2), strict=True))


def test_gpt2_layers_of_two_depths_differ_by_their_scale_alone() -> None:
    config = SweepConfig(**SMALL, init="gpt2")
    shallow, deep = draw(config, 2, 5, CPU).layers[1], draw(config, 8, 5, CPU).layers[1]
    for name in shapes(config):
        torch.testing.assert_close(shallow[name], deep[name] * (2 if name in ("wo", "w2") else 1))


def test_seeds_give_different_models() -> None:
    config = SweepConfig(**SMALL)
    assert not torch.equal(draw(config, 1, 0, CPU).tokens, draw(config, 1, 1, CPU).tokens)
    assert not torch.equal(draw(config, 1, 0, CPU).layers[0]["wq"], draw(config, 1, 1, CPU).layers[0]["wq"])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_rounds_the_same_numbers(dtype: str) -> None:
    exact, rounded = (SweepConfig(**SMALL, dtype=name) for name in ("float32", dtype))
    for a, b in zip(flat(draw(exact, 2, 0, CPU), 2), flat(draw(rounded, 2, 0, CPU), 2), strict=True):
        assert torch.equal(a.to(b.dtype), b)


def test_causal_attention_does_not_see_the_future() -> None:
    config = SweepConfig(**SMALL)
    model = draw(config, 1, 0, CPU)
    x = model.tokens.detach().requires_grad_()
    attention(config, model.layers[0], x)[:, 2].sum().backward()
    assert x.grad is not None
    assert x.grad[:, 3:].abs().max() == 0
    assert x.grad[:, :3].abs().min(dim=-1).values.min() > 0
