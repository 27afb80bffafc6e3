"""How are both norms called in PyTorch, with the gain and the bias that there are?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from normviz.snippets.given import Given


def layer_norm_call(given: Given, of: str = "x") -> str:
    """LayerNorm with gain and bias, of an expression."""
    if given.weight is None and given.bias is None:
        return BARE["layer_norm"].format(of)
    weight = "None" if given.weight is None else "weight"
    return f"F.layer_norm({of}, (d,), {weight}, {'None' if given.bias is None else 'bias'}, eps)"


def rms_norm_call(given: Given, of: str = "x") -> str:
    """RMSNorm with gain, of an expression."""
    return BARE["rms_norm"].format(of) if given.weight is None else f"F.rms_norm({of}, (d,), weight, eps)"


CALLS: Mapping[str, Callable[..., str]] = MappingProxyType({"layer_norm": layer_norm_call, "rms_norm": rms_norm_call})
"""Norm -> its call with gain and bias."""

BARE: Mapping[str, str] = MappingProxyType(
    {"layer_norm": "F.layer_norm({}, (d,), eps=eps)", "rms_norm": "F.rms_norm({}, (d,), eps=eps)"}
)
"""Norm -> its call without gain and bias; eps always stands there, because PyTorch's own is another one."""
