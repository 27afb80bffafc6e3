"""Where does a sweep run, and has its memory run out?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor

from normviz.errors import InputError


def resolve_device(name: str) -> torch.device:
    """The device behind "auto" (cuda where there is one, else cpu), "cpu", "cuda" or "mps".

    MPS is used only when asked for: some of its operations are missing or wrong in some versions, so that it has to
    pass a small test against the CPU first.

    Raises
    ------
    InputError
        If the device is not there or fails its test.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda needs a GPU that PyTorch can use, and there is none here; choose auto or cpu")
    if name == "mps" and not _mps_works():
        raise InputError("device mps needs an Apple GPU that computes as the CPU does; choose auto or cpu")
    return torch.device(name)


@cache
def _mps_works() -> bool:
    if not torch.backends.mps.is_available():
        return False
    x = torch.randn(8, 16, 32, generator=torch.Generator().manual_seed(0))

    def gradient(device: str) -> Tensor:
        leaf = x.to(device).requires_grad_()
        y = torch.nn.functional.layer_norm((leaf @ leaf.mT).softmax(-1) @ leaf, (32,))
        return torch.autograd.grad(y.square().sum(dim=-1).logsumexp(-1).sum() + y[..., 0].sum(), leaf)[0].cpu()

    return torch.allclose(gradient("mps"), gradient("cpu"), rtol=1e-3, atol=1e-5)


def device_name(device: torch.device) -> str:
    """What a reader is told: the kind of device and, for a GPU, its model."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else device.type


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: the CPU's allocator and MPS have no class of error for it, only their words."""
    words = ("DefaultCPUAllocator", "can't allocate memory", "out of memory")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(word in str(error) for word in words)


@contextmanager
def denormals_flushed() -> Iterator[None]:
    """On the CPU, numbers below the smallest normal one (1e-38 in float32) count as 0: they cost a hundred times more.

    In a deep Post-Norm stack most tokens' cotangents fall that low; the sums that are measured do not notice.
    """
    tiny = torch.tensor(torch.finfo(torch.float32).tiny)
    already = bool(tiny * 0.5 == 0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)
