"""Do our wiring functions, norms, eps and order of operations give what the transformers models compute?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from normviz.families import FAMILIES, Family, NormSite
from normviz.families import wirings as further
from normviz.families.miniature import layer_norm_as
from normviz.families.porting import wrong_eps
from normviz.floats import FORMATS
from normviz.placements import wirings
from tests.families.arithmetic import DTYPES, normed, parameters, to_numpy
from tests.families.recording import Record, norms, recorded
from tests.families.streams import streams
from tests.families.tiny import LAYERS

Changes = tuple[tuple[str, Any], ...]

OPTIONAL: dict[str, Changes] = {
    "gemma4": (
        ("enable_moe_block", True),
        ("num_experts", 4),
        ("top_k_experts", 2),
        ("moe_intermediate_size", 8),
        ("hidden_size_per_layer_input", 8),
    ),
    "cohere": (("use_qk_norm", True),),
    "glm4_moe": (("use_qk_norm", True),),
    "phi": (("qk_layernorm", True),),
    "stablelm": (("qk_layernorm", True),),
}
"""What makes the norms appear that a family's default config leaves out."""

LAYER_NORMS = [family for family in FAMILIES if FAMILIES[family].arithmetic == "layer_norm"]
RMS_NORMS = [family for family in FAMILIES if FAMILIES[family].norm == "rms_norm" and FAMILIES[family].form != "none"]


def places(family: Family, model: nn.Module) -> dict[str, NormSite]:
    """Full module name -> site, for every norm of the family's record that the model has."""
    modules = dict(model.named_modules())
    layers = model.config.num_hidden_layers
    heads = model.config.num_attention_heads
    found = {}
    for site in family.sites:
        indices = [(i, j) for i in range(layers) for j in range(heads)] if "{i}" in site.name else [(0, 0)]
        for i, j in indices:
            name = site.name.format(i=i, j=j)
            if isinstance(modules.get(name), nn.Module) and not isinstance(modules[name], nn.Identity):
                found[name] = site
    return found


def every_norm(family: str, record: Record) -> Iterator[tuple[NormSite, nn.Module, tuple[Tensor, ...], Tensor]]:
    """Each call of each norm of the record: its site, its module, what it read and what it returned."""
    for name, site in places(FAMILIES[family], record.model).items():
        for read, returned in record.calls[name]:
            yield site, record.model.get_submodule(name), read, returned


def gated(out: Tensor, gate: Tensor) -> Tensor:
    """What follows in linear attention, inside the same module: the norm's output times silu of a gate, in float32."""
    return (out * functional.silu(gate.float())).to(out.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_norm_is_reproduced_to_the_bit(family: str, dtype: str) -> None:
    record = recorded(family, DTYPES[dtype])
    for site, module, (x, *gate), theirs in every_norm(family, record):
        ours = normed(FAMILIES[family], site, parameters(module), x)
        assert ours.dtype == theirs.dtype == DTYPES[dtype]
        assert torch.equal(gated(ours, *gate) if gate else ours, theirs), site.name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", OPTIONAL)
def test_norms_that_a_config_can_add_are_reproduced_to_the_bit(family: str, dtype: str) -> None:
    record = recorded(family, DTYPES[dtype], OPTIONAL[family])
    added = 0
    for site, module, (x,), theirs in every_norm(family, record):
        assert torch.equal(normed(FAMILIES[family], site, parameters(module), x), theirs), site.name
        added += site.optional
    assert added


@pytest.mark.parametrize("family", FAMILIES)
def test_the_record_knows_every_norm_of_the_model_and_its_parameters(family: str) -> None:
    record = recorded(family)
    known = places(FAMILIES[family], record.model)
    assert set(known) == set(norms(record.model))
    for name, site in known.items():
        assert set(parameters(record.model.get_submodule(name))) == {
            *(["weight"] if site.has_weight else []),
            *(["bias"] if site.bias else []),
        }


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", LAYER_NORMS)
def test_layer_norm_in_numpy_is_at_most_one_rounding_away(family: str, dtype: str) -> None:
    for _, module, (x,), theirs in every_norm(family, recorded(family, DTYPES[dtype])):
        stored = {name: to_numpy(value) for name, value in parameters(module).items()}
        weight, bias = stored["weight"], stored.get("bias")
        ours = layer_norm_as(to_numpy(x), weight, bias, eps=FAMILIES[family].eps, dtype=dtype)
        np.testing.assert_allclose(
            ours.astype(np.float64), theirs.double(), rtol=FORMATS[dtype].epsilon, atol=FORMATS[dtype].smallest_normal
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_our_wiring_gives_the_models_residual_stream(family: str) -> None:
    found = list(streams(FAMILIES[family], recorded(family)))
    assert len(found) >= 3 * LAYERS
    for place, ours, theirs in found:
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5 * float(theirs.std()), msg=place)


SWITCHED: dict[str, tuple[Changes, Any]] = {
    "gpt_neox": ((("use_parallel_residual", False),), wirings.pre_norm),
    "bloom": ((("apply_residual_connection_post_layernorm", True),), wirings.hybrid_feed_forward),
}
"""A switch of the config that the record names, and the wiring of both sublayers with it."""


@pytest.mark.parametrize("family", SWITCHED)
def test_a_switch_of_the_config_changes_the_wiring_as_the_record_says(family: str) -> None:
    changes, wiring = SWITCHED[family]
    known = replace(FAMILIES[family], attention=wiring, feed_forward=wiring)
    for place, ours, theirs in streams(known, recorded(family, torch.float32, changes)):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5 * float(theirs.std()), msg=place)
    assert changes[0][0] in known.by_config


MISREAD = {
    wirings.pre_norm: wirings.post_norm,
    wirings.post_norm: wirings.pre_norm,
    wirings.output_norm: wirings.pre_norm,
    wirings.sandwich_norm: wirings.keel,
    wirings.parallel_feed_forward: None,
    further.parallel_two_feed_forward: None,
    further.scaled_branch: wirings.pre_norm,
    further.scaled_layer: wirings.sandwich_norm,
}
"""A family's second wiring -> one that asks for as many norms; None: the parallel sublayers one after the other."""


@pytest.mark.parametrize("family", FAMILIES)
def test_another_wiring_is_noticed(family: str) -> None:
    known = FAMILIES[family]
    other = MISREAD[known.feed_forward]
    in_turn = {"attention": wirings.pre_norm, "feed_forward": wirings.pre_norm}
    if known.placement == "parallel":
        in_turn["feed_forward"] = wirings.no_norm
    wrong = replace(known, **(in_turn if other is None else {"feed_forward": other}))
    assert any(
        not torch.allclose(ours, theirs, rtol=1e-3, atol=1e-3 * float(theirs.std()))
        for _, ours, theirs in streams(wrong, recorded(family))
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_another_eps_is_noticed(family: str) -> None:
    eps = wrong_eps(FAMILIES[family].eps)
    assert any(
        not torch.equal(normed(FAMILIES[family], site, parameters(module), x, eps=eps), theirs)
        for site, module, (x, *gate), theirs in every_norm(family, recorded(family))
        if not gate
    )


def test_the_latent_norms_of_deepseek_keep_their_own_eps() -> None:
    record = recorded("deepseek_v3", torch.float32, (("rms_norm_eps", 1e-3),))
    known = replace(FAMILIES["deepseek_v3"], eps=1e-3)
    for site, module, (x,), theirs in every_norm("deepseek_v3", record):
        assert torch.equal(normed(known, site, parameters(module), x), theirs), site.name


@pytest.mark.parametrize("family", RMS_NORMS)
def test_another_order_of_operations_is_noticed_in_bfloat16_only(family: str) -> None:
    known = FAMILIES[family]
    other = "multiply_then_cast" if known.arithmetic in ("cast_then_multiply", "t5") else "cast_then_multiply"
    for dtype in ("bfloat16", "float32"):
        differ = False
        for site, module, (x, *gate), theirs in every_norm(family, recorded(family, DTYPES[dtype])):
            if gate or not site.has_weight:
                continue
            stored = parameters(module)
            if known.form == "1+w":
                stored = {"weight": 1 + stored["weight"]}
            differ |= not torch.equal(normed(known, site, stored, x, arithmetic=other), theirs)
        assert differ == (dtype == "bfloat16")


@pytest.mark.parametrize("family", RMS_NORMS)
def test_what_is_stored_is_the_scale_or_the_scale_less_one(family: str) -> None:
    known = FAMILIES[family]
    other = "multiply_then_cast" if known.form == "1+w" else "gemma"
    for site, module, (x, *gate), theirs in every_norm(family, recorded(family)):
        if site.has_weight and not gate:
            assert not torch.allclose(normed(known, site, parameters(module), x, arithmetic=other), theirs)
