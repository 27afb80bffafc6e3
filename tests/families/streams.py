"""What residual stream do our wiring functions give, with a model's own sublayers in their places?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from normviz.families import Family, NormSite
from normviz.placements import At, enter, leave
from tests.families.arithmetic import normed, parameters
from tests.families.recording import LAYER_SCALAR, MULTIPLIERS, Record

Pairs = Iterator[tuple[str, Tensor, Tensor]]

WIRED = {
    "shared_in",
    "attention_in",
    "attention_out",
    "post_attention",
    "cross_in",
    "mlp_in",
    "mlp_out",
    "post_mlp",
}


def streams(family: Family, record: Record) -> Pairs:
    """Place, our stream and the model's: what each sublayer reads, what leaves each layer, what is put out.

    Only the embedding, the outputs of the sublayers and the norms' parameters are taken from the model.
    """
    for stack in dict.fromkeys(site.stack for site in family.sites):
        yield from _stack(family, record, [site for site in family.sites if site.stack == stack])


def _stack(family: Family, record: Record, sites: list[NormSite]) -> Pairs:
    inside = [site for site in sites if site.role in WIRED and not site.optional]
    outside = {site.role: site for site in sites if site.layers == "once"}
    container = inside[0].name.split(".{i}")[0]
    depth = record.model.config.num_hidden_layers

    def norm(site: NormSite, x: Tensor, layer: int = 0) -> Tensor:
        return normed(family, site, parameters(record.model.get_submodule(site.name.format(i=layer))), x)

    x = record.read(f"{container}.0")
    if "embedding" in outside:
        site = outside["embedding"]
        yield site.name, norm(site, record.read(site.name)), x
        x = norm(site, record.read(site.name))
    for layer in range(depth):
        name = f"{container}.{layer}"
        x = _start(family, record, name, x)
        here = iter([site for site in inside if layer or site.layers != "not_first"])
        at = At(
            norm=lambda x, here=here, layer=layer: norm(next(here), x, layer),
            gate=_gate(family, record, name),
            layer=layer + 1,
            depth=depth,
        )
        calls = record.sublayers(family.id, name)
        cross = [family.cross_attention] if len(calls) == 3 else []
        for wiring, (theirs, y) in zip((family.attention, *cross, family.feed_forward), calls, strict=True):
            steps, read = enter(wiring, x, at)
            yield f"{name}, what a sublayer reads", read, theirs
            x = leave(steps, y)
        assert next(here, None) is None, f"{name} has a norm that the wiring does not ask for"
        yield name, x, _end(family, record, name)
    if "final" in outside:
        site = outside["final"]
        # Gemma 3n puts its four streams together before.
        x = record.read(site.name) if family.id == "gemma3n" else x
        yield site.name, norm(site, x), record.returned(site.name, -1)


def _start(family: Family, record: Record, layer: str, x: Tensor) -> Tensor:
    """The stream that enters a layer: what left the one below, except where AltUp predicts it from four."""
    return record.read(f"{layer}.input_layernorm") if family.id == "gemma3n" else x


def _end(family: Family, record: Record, layer: str) -> Tensor:
    """The stream that leaves a layer; AltUp's correction, which begins with a norm, comes after it."""
    return record.read(f"{layer}.altup.router_norm", -1) if family.id == "gemma3n" else record.returned(layer)


def _gate(family: Family, record: Record, layer: str) -> Callable[[Any], Any]:
    """What `at.gate` is in the family; the wirings of the others do not use it."""
    if family.id == "granite":
        return lambda y: MULTIPLIERS["residual_multiplier"] * y
    if family.id == "gemma4":
        return lambda x: LAYER_SCALAR * (x + _extra_input(record, layer, x))
    if family.id == "gemma3n":
        return lambda h: _side_path(record, f"{layer}.laurel", h)
    return _refused


def _extra_input(record: Record, layer: str, x: Tensor) -> Tensor | float:
    """What Gemma 4 adds once more before it scales, if its layers get an embedding of their own."""
    if f"{layer}.per_layer_input_gate" not in record.calls:
        return 0.0
    torch.testing.assert_close(x, record.read(f"{layer}.per_layer_input_gate"))
    return record.returned(f"{layer}.post_per_layer_input_norm")


def _side_path(record: Record, name: str, h: Tensor) -> Tensor:
    torch.testing.assert_close(h, record.read(name))
    return record.returned(name)


def _refused(x: Tensor) -> Tensor:
    raise AssertionError("the wiring asks for a gate that the model has not")
