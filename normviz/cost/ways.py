"""With which lines of PyTorch is a norm computed in each way? What is timed and what is counted are the same lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EPS = 1e-6
Results = tuple["Tensor", ...]


def eager(kind: str, x: Tensor, f: Tensor, weight: Tensor, bias: Tensor) -> Results:
    """Operation by operation, the statistics in float32 at least; with an addition the new stream x + f comes first."""
    if kind.startswith("add_"):
        x = x + f
    wide = x.float() if x.element_size() < 4 else x
    if kind.endswith("layer_norm"):
        wide = wide - wide.mean(-1, keepdim=True)
    wide = wide * (wide.pow(2).mean(-1, keepdim=True) + EPS).rsqrt()
    y = wide.to(x.dtype) * weight
    if kind.endswith("layer_norm"):
        y = y + bias
    return (x, y) if kind.startswith("add_") else (y,)


def functional(kind: str, x: Tensor, f: Tensor, weight: Tensor, bias: Tensor) -> Results:
    """With PyTorch's own norm, the addition before it."""
    import torch.nn.functional as F  # noqa: N812

    if kind.startswith("add_"):
        x = x + f
    shape = (x.shape[-1],)
    layer = kind.endswith("layer_norm")
    y = F.layer_norm(x, shape, weight, bias, EPS) if layer else F.rms_norm(x, shape, weight, EPS)
    return (x, y) if kind.startswith("add_") else (y,)


def norms(kind: str, x: Tensor, f: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Callable[[], Results]]:
    """What computes a norm of x (or of x + f) without a compiler, by way."""
    return {
        "eager": lambda: eager(kind, x, f, weight, bias),
        "functional": lambda: functional(kind, x, f, weight, bias),
    }


def compiled(kind: str, x: Tensor, f: Tensor, weight: Tensor, bias: Tensor) -> Callable[[], Results]:
    """What computes `eager` in as few kernels as PyTorch's compiler makes of it; compiled before this returns.

    Raises
    ------
    Exception
        Whatever the compiler raises where it cannot: no C++ compiler or no Triton, an unknown device, an old Python.
    """
    # A pool of compiling processes would outlive the benchmark, and a daemon process may not start one.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch

    one = torch.compile(eager, dynamic=False, fullgraph=True)
    one(kind, x, f, weight, bias)
    return lambda: one(kind, x, f, weight, bias)
