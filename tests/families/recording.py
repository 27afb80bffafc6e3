"""What did each module of a tiny transformers model read and return, and which modules are its layers' sublayers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from transformers.utils import ModelOutput

from tests.families.tiny import tiny

TOKENS = torch.tensor([[3, 7, 11, 5, 19, 23, 2, 8], [4, 9, 1, 31, 6, 12, 39, 10]])

USUAL = ("self_attn", "mlp")
_LINEAR = ("self_attn|linear_attn", "mlp")
_BERT = ("attention.self>attention.output.dense", "intermediate>output.dense")
_OPT = ("self_attn", "fc1>fc2")
SUBLAYERS: Mapping[str, tuple[str, ...]] = {
    "qwen3_next": _LINEAR,
    "qwen3_5": _LINEAR,
    "llama4": ("self_attn", "feed_forward"),
    "gpt2": ("attn", "mlp"),
    "bert": _BERT,
    "roberta": _BERT,
    "t5": ("layer.0.SelfAttention", "layer.1.EncDecAttention", "layer.1.DenseReluDense|layer.2.DenseReluDense"),
    "opt": _OPT,
    "opt_350m": _OPT,
    # Both modules add the residual themselves; their last matrix is the sublayer's output.
    "bloom": ("self_attention>self_attention.dense", "mlp>mlp.dense_4h_to_h"),
    "gpt_neox": ("attention", "mlp"),
    "modernbert": ("attn", "mlp"),
}
"""Family -> the modules of a layer's sublayers: "first>last" where several make one, "a|b" where layers differ."""

LAYER_SCALAR = 0.7
MULTIPLIERS = {"residual_multiplier": 0.22, "embedding_multiplier": 12.0}
"""What Granite 3 has in its config, where the default of 1 would hide it."""


Call = tuple[tuple[Tensor, ...], Tensor]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One pass through a model, and for each module's name what it read and returned, call by call."""

    model: Any
    calls: Mapping[str, list[Call]]

    def read(self, name: str, call: int = 0) -> Tensor:
        """What a module read, without its second input if it has one."""
        return self.calls[name][call][0][0]

    def returned(self, name: str, call: int = 0) -> Tensor:
        """What a module returned."""
        return self.calls[name][call][1]

    def sublayers(self, family: str, layer: str) -> list[tuple[Tensor, ...]]:
        """What each sublayer of a layer read and returned, in call order."""
        found = []
        for names in SUBLAYERS.get(family, USUAL):
            for name in names.split("|"):
                first, last = (f"{layer}.{part}" for part in (name.split(">")[0], name.split(">")[-1]))
                if first in self.calls:
                    # Mixtures of experts and OPT put all tokens in one row.
                    found.append(tuple(x.view(*TOKENS.shape, -1) for x in (self.read(first), self.returned(last))))
        return found


@cache
def recorded(family: str, dtype: torch.dtype = torch.float32, changes: tuple[tuple[str, Any], ...] = ()) -> Record:
    """A tiny model of the family with random norm parameters, in the dtype, and one pass through it."""
    given = MULTIPLIERS if family == "granite" else {}
    model = tiny(family, **given, **dict(changes))
    randomize(model)
    return record(model.to(dtype))


@torch.no_grad()
def randomize(model: nn.Module) -> None:
    """Give every norm, which starts at 1 or 0, and all else that starts at 0, numbers that no mistake hides behind."""
    generator = torch.Generator().manual_seed(1)
    gains = {f"{name}.weight" for name in norms(model)}
    for name, parameter in model.named_parameters():
        spread = 0.3 * torch.randn(parameter.shape, generator=generator)
        if not parameter.any():
            parameter.copy_(spread)
        elif name in gains:
            parameter.copy_(1 + spread)
    for name, buffer in model.named_buffers():
        if name.endswith("layer_scalar"):
            buffer.fill_(LAYER_SCALAR)


def norms(model: nn.Module) -> dict[str, nn.Module]:
    """The modules whose class is a norm, by name."""
    return {
        name: module
        for name, module in model.named_modules()
        if type(module).__name__.endswith(("Norm", "RMSNormGated"))
    }


@torch.no_grad()
def record(model: Any) -> Record:
    """Pass the tokens through the model; what is read and returned is copied, as some layers write into it."""
    calls: dict[str, list[Call]] = {}

    def first(value: Any) -> Any:
        while isinstance(value, tuple | list | ModelOutput):
            value = value[0] if len(value) else None
        return value

    def hook(name: str) -> Any:
        def save(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
            read = tuple(value.clone() for value in (*args, *kwargs.values()) if isinstance(value, Tensor))
            returned = first(output)
            if read and isinstance(returned, Tensor):
                calls.setdefault(name, []).append((read, returned.clone()))

        return save

    handles = [
        module.register_forward_hook(hook(name), with_kwargs=True) for name, module in model.named_modules() if name
    ]
    try:
        extra = {"decoder_input_ids": TOKENS} if model.config.is_encoder_decoder else {}
        model(input_ids=TOKENS, use_cache=False, **extra)
    finally:
        for handle in handles:
            handle.remove()
    return Record(model=model, calls=calls)
