"""Which numbers does a seed stand for: tokens, labels and weights at initialization?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from normviz.depth.config import SweepConfig
from normviz.placements import Placement


@dataclass(frozen=True, kw_only=True)
class Ends:
    """What lies below and above the stack, for several seeds.

    Attributes
    ----------
    tokens
        What enters the stack, [seed, batch, seq, d_model].
    labels
        Independent uniform classes, int64 [seed, batch, seq].
    head
        [seed, d_model, vocab_size].
    """

    tokens: Tensor
    labels: Tensor
    head: Tensor


def shapes(config: SweepConfig) -> dict[str, tuple[int, int]]:
    """The matrices of a layer, [in, out] for `x @ w`, in the order in which they are drawn.

    Uniform attention has neither "wq" nor "wk", without an output projection there is no "wo", and only SwiGLU has
    "wg".
    """
    d, d_ff = config.d_model, config.d_ff
    found = {"wq": (d, d), "wk": (d, d), "wv": (d, d), "wo": (d, d), "w1": (d, d_ff), "w2": (d_ff, d), "wg": (d, d_ff)}
    if config.attention == "uniform":
        del found["wq"], found["wk"]
    if not config.output_projection:
        del found["wo"]
    if config.activation != "swiglu":
        del found["wg"]
    return found


def draw(
    config: SweepConfig, placement: Placement, depth: int, seeds: Sequence[int], device: torch.device
) -> tuple[Ends, Iterator[dict[str, Tensor]]]:
    """Draw tokens, labels and head, and then, as they are asked for, the layers' matrices [seed, in, out].

    All numbers of a seed come from one float32 stream on the CPU, layer after layer, and are moved then: devices,
    dtypes, placements and depths share them. "gpt2" scales what writes to the residual stream with the depth, and a
    placement's `init_scale` all but queries and keys.

    Notes
    -----
    xavier: Glorot's normal N(0, 2/(fan_in + fan_out)); tokens N(0, 1), head N(0, 1/d). gpt2: N(0, 0.02^2), tokens the
    sum of a token and a position embedding, W_O and W_2 (W_V where there is no W_O) divided by sqrt(2L). std02:
    N(0, 0.02^2).
    """
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    dtype = torch.float32 if config.dtype == "mixed" else getattr(torch, config.dtype)

    def normal(*shape: int, std: float) -> Tensor:
        numbers = torch.empty(len(seeds), *shape)
        for row, generator in zip(numbers, generators, strict=True):
            torch.randn(*shape, generator=generator, out=row)
        return numbers.mul_(std).to(device=device, dtype=dtype)

    def std(name: str, fan_in: int, fan_out: int) -> float:
        scale = placement.init_scale(depth) if placement.init_scale and name not in ("wq", "wk") else 1.0
        if config.init == "xavier":
            return scale * math.sqrt(2 / (fan_in + fan_out))
        writes = name == "w2" or name == ("wo" if config.output_projection else "wv")
        return scale * (0.02 / math.sqrt(2 * depth) if config.init == "gpt2" and writes else 0.02)

    def layers() -> Iterator[dict[str, Tensor]]:
        for _ in range(depth):
            yield {name: normal(*shape, std=std(name, *shape)) for name, shape in shapes(config).items()}

    token_std, head_std = {
        "xavier": (1.0, 1 / math.sqrt(config.d_model)),
        "gpt2": (0.02 * math.sqrt(2), 0.02),
        "std02": (0.02, 0.02),
    }[config.init]
    size = (config.batch, config.seq_len)
    tokens = normal(*size, config.d_model, std=token_std)
    labels = torch.stack([torch.randint(config.vocab_size, size, generator=generator) for generator in generators])
    head = normal(config.d_model, config.vocab_size, std=head_std)
    return Ends(tokens=tokens, labels=labels.to(device), head=head), layers()
