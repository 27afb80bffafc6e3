"""What do one model's forward and backward pass show?"""

from __future__ import annotations

import time
from collections import defaultdict
from functools import cache

import numpy as np
import torch
from torch import Tensor

from normviz.depth.config import PointKey, SweepConfig, check_config
from normviz.depth.model import cross_entropy, draw, stack
from normviz.depth.points import DepthPoint, Profile
from normviz.errors import InputError
from normviz.norms import NORMS
from normviz.placements import PLACEMENTS


def measure(config: SweepConfig, key: PointKey) -> DepthPoint:
    """Build one model of the sweep, run it forward and backward once and keep what is measured.

    Mean squares and norms are accumulated in float64 whatever the model's dtype, so that a stream that overflows
    float16 reads inf, and one that only comes near it does not. The same configuration gives the same numbers on the
    same device with the same number of torch threads (`torch.get_num_threads`); between two numbers of threads the last
    bits differ.

    Raises
    ------
    InputError
        If `config` is no `SweepConfig`, the device is not there or its memory runs out.
    """
    check_config(config)
    start = time.perf_counter()
    device = resolve_device(config.device)
    try:
        profiles = _profiles(config, key, device)
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        profiles = None
    if profiles is None:  # outside the handler, whose traceback would keep the tensors alive
        torch.cuda.empty_cache()
        raise InputError(
            "The memory of the device {device} ran out at depth {depth}: lower d_model, batch or seq_len",
            device=device_name(device),
            depth=key.depth,
        )
    return DepthPoint(
        placement=key.placement,
        depth=key.depth,
        seed=key.seed,
        profiles=profiles,
        seconds=time.perf_counter() - start,
        device=device_name(device),
        torch_version=torch.__version__,
    )


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: the CPU's allocator and MPS have no class of error for it, only their words."""
    words = ("DefaultCPUAllocator", "can't allocate memory", "out of memory")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(word in str(error) for word in words)


def _profiles(config: SweepConfig, key: PointKey, device: torch.device) -> dict[str, Profile]:
    model = draw(config, key.depth, key.seed, device)
    # One module serves every place: all norms start with weight 1 and bias 0, and nobody asks for their gradients.
    norm = NORMS[config.norm].module(config.d_model, config.eps).to(device=device, dtype=model.tokens.dtype)
    norm.requires_grad_(False)
    found: dict[str, list[tuple[float, Tensor]]] = defaultdict(list)
    streams: list[Tensor] = []

    def watch(what: str, position: float, x: Tensor) -> None:
        if what == "residual":
            streams.append(x)
        found[f"{what}_mean_square"].append((position, _l2(x).square() / x.numel()))

    loss = cross_entropy(config, model, stack(config, model, PLACEMENTS[key.placement], norm, watch))
    found["loss"].append((0.0, loss.detach()))
    places = [("grad_residual", float(layer)) for layer in range(key.depth + 1)]
    places += [(f"grad_{name}", float(layer)) for layer, ws in enumerate(model.layers, start=1) for name in ws]
    matrices = [w for ws in model.layers for w in ws.values()]
    for (quantity, layer), gradient in zip(places, torch.autograd.grad(loss, [*streams, *matrices]), strict=True):
        found[quantity].append((layer, _l2(gradient)))
    return _to_profiles(found)


def _l2(x: Tensor) -> Tensor:
    """L2 norm of all entries, in float64; where the device has none (MPS), on the CPU."""
    x = x.detach()
    norm: Tensor = torch.linalg.vector_norm(x.cpu() if x.device.type == "mps" else x, dtype=torch.float64)
    return norm


def _to_profiles(found: dict[str, list[tuple[float, Tensor]]]) -> dict[str, Profile]:
    """Bring all numbers to the host in one transfer."""
    scalars = [value for pairs in found.values() for _, value in pairs]
    numbers = iter(torch.stack([value.to(dtype=torch.float64) for value in scalars]).tolist())
    return {
        name: Profile(layer=np.array([layer for layer, _ in pairs]), value=np.array([next(numbers) for _ in pairs]))
        for name, pairs in found.items()
    }


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
