"""What is one step of the engine, forward and backward, for many models and many losses at once?

Layout: S seeds, P wirings, N tokens, d channels. A cotangent has one more axis, K losses, between tokens and channels,
so that a matrix product with it is one large product and what the forward pass kept is broadcast, not copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the name that torch's users know)

# Sums of float32 squares are trusted for roots in this range; float16 and bfloat16 are summed in float32.
_SAFE = (1e-15, 1e15)
_SHORT = 2**14  # so many squares add up in float32 without a loss that anybody sees

Backward = Callable[[Tensor], Tensor]
Norm = Callable[[Tensor], tuple[Tensor, Backward]]
"""A norm with its eps: the output, and what brings a cotangent back."""


def l2(x: Tensor, *dims: int) -> Tensor:
    """L2 norm over some axes, in float32 or float64: inf only where the norm itself is, whatever the squares are."""
    if x.device.type == "mps":  # has no float64
        x = x.cpu()
    if x.device.type == "cuda":
        return _l2(x, dims, torch.float64)
    # Rows in float32 and then the rest in float64 takes a tenth of the time of float64 throughout.
    full = wide(x)
    if math.prod(x.shape[dim] for dim in dims) <= _SHORT:
        found = _l2(full, dims)
    else:
        found = _l2(torch.linalg.vector_norm(full, dim=dims[-1], keepdim=True), dims, torch.float64)
    if all(_SAFE[0] < value < _SAFE[1] for value in found.flatten().tolist()):
        return found
    return _l2(x, dims, torch.float64)


def _l2(x: Tensor, dims: tuple[int, ...], dtype: torch.dtype | None = None) -> Tensor:
    found: Tensor = torch.linalg.vector_norm(x, dim=dims, dtype=dtype)
    return found


@dataclass(frozen=True)
class Product:
    """Matrix products in the arithmetic of a dtype; "mixed" rounds both factors to bfloat16 and returns float32."""

    mixed: bool

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        """A [n, i, j] times b [n, j, k]."""
        if self.mixed:
            return torch.bmm(a.bfloat16(), b.bfloat16()).float()
        return torch.bmm(a, b)


def layer_norm(x: Tensor, eps: float) -> tuple[Tensor, Backward]:
    """(x - mean) / sqrt(variance + eps) over the last axis."""
    y, _, rstd = torch.native_layer_norm(x, x.shape[-1:], None, None, eps)

    def backward(g: Tensor) -> Tensor:
        unit = wide(y).unsqueeze(-2)
        g = wide(g)
        along = (g * unit).mean(-1, keepdim=True)
        across = torch.addcmul(g - g.mean(-1, keepdim=True), unit, along, value=-1)
        return across.mul_(rstd.unsqueeze(-2)).to(x.dtype)

    return y, backward


def rms_norm(x: Tensor, eps: float) -> tuple[Tensor, Backward]:
    """x / sqrt(mean square + eps) over the last axis."""
    full = wide(x)
    rstd = torch.linalg.vector_norm(full, dim=-1, keepdim=True).square_().div_(x.shape[-1]).add_(eps).rsqrt_()
    y = (full * rstd).to(x.dtype)

    def backward(g: Tensor) -> Tensor:
        unit = wide(y).unsqueeze(-2)
        g = wide(g)
        along = (g * unit).mean(-1, keepdim=True)
        return torch.addcmul(g, unit, along, value=-1).mul_(rstd.unsqueeze(-2)).to(x.dtype)

    return y, backward


DYT_ALPHA = 0.5
"""DyT's initial alpha (arXiv:2503.10622)."""


def dyt(x: Tensor, eps: float) -> tuple[Tensor, Backward]:
    """tanh(alpha x); there is no root, and eps has no place."""
    y = torch.tanh(DYT_ALPHA * x)
    return y, lambda g: g * (DYT_ALPHA * (1 - y * y)).unsqueeze(-2)


def none(x: Tensor, eps: float) -> tuple[Tensor, Backward]:
    """X itself."""
    return x, lambda g: g


NORMS: dict[str, Callable[..., tuple[Tensor, Backward]]] = {
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "dyt": dyt,
    "none": none,
}


def activate(name: str, a: Tensor) -> tuple[Tensor, Backward]:
    """The activation between the feed-forward sublayer's matrices.

    `a` is x W_1, for SwiGLU [x W_1, x W_G]; it may be overwritten.
    """
    if name == "relu":
        y = torch.relu_(a)
        # g is a fresh product, so that it may be overwritten
        return y, lambda g: torch.ops.aten.threshold_backward(g, y.unsqueeze(-2).expand_as(g), 0, grad_input=g)
    if name == "gelu":
        y = F.gelu(a)
        return y, lambda g: torch.ops.aten.gelu_backward(g, a.unsqueeze(-2).expand_as(g))
    up, gate = a.chunk(2, dim=-1)
    sigmoid = torch.sigmoid(gate)
    silu = gate * sigmoid

    def backward(g: Tensor) -> Tensor:
        slope = sigmoid * (1 + gate * (1 - sigmoid))
        return torch.cat([g * silu.unsqueeze(-2), g * (up * slope).unsqueeze(-2)], dim=-1)

    return silu * up, backward


def wide(x: Tensor) -> Tensor:
    """Half precision in float32, where torch's own norms and losses compute in it too."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
