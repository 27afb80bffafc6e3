"""What does normviz compute in the place of a transformers norm, to the bit?"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from normviz.families import Family, NormSite
from normviz.families.miniature import layer_norm_as
from normviz.floats import rms_norm_as

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def to_numpy(x: Tensor) -> np.ndarray:
    """The same bits in NumPy."""
    x = x.detach().contiguous()
    return x.view(torch.int16).numpy().view(BFLOAT16) if x.dtype == torch.bfloat16 else x.numpy()


def to_torch(x: np.ndarray) -> Tensor:
    """The same bits in PyTorch."""
    if x.dtype == BFLOAT16:
        return torch.from_numpy(x.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(x.copy())


def normed(family: Family, site: NormSite, parameters: dict[str, Tensor], x: Tensor, **changes: Any) -> Tensor:
    """The norm that the family's record describes, of x, with parameters by the name; `changes` replace its facts.

    `torch.nn.LayerNorm` adds in an order of its own, which NumPy does not repeat: there PyTorch's function is called,
    with the record's eps.
    """
    facts = {
        "arithmetic": site.arithmetic or family.arithmetic,
        "eps": family.eps if site.eps is None else site.eps,
        **changes,
    }
    weight, bias = parameters.get("weight"), parameters.get("bias")
    if facts["arithmetic"] in ("layer_norm", "olmo"):
        return functional.layer_norm(x, x.shape[-1:], weight, bias, facts["eps"])
    (dtype,) = [name for name, kind in DTYPES.items() if kind == x.dtype]
    gain = None if weight is None else to_numpy(weight)
    if facts["arithmetic"] == "cohere":
        return to_torch(layer_norm_as(to_numpy(x), gain, None, eps=facts["eps"], dtype=dtype))
    return to_torch(rms_norm_as(facts["arithmetic"], to_numpy(x), gain, eps=facts["eps"], dtype=dtype))


def parameters(module: nn.Module) -> dict[str, Tensor]:
    """The module's own weight and bias, where it has them."""
    return {name: value.detach() for name, value in module.named_parameters(recurse=False)}
