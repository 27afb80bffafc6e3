"""What does one slice of a sweep take: operations, numbers kept, numbers drawn?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from normviz.depth.config import PointKey, SweepConfig
from normviz.placements import PLACEMENTS, trace

_ACTIVATION_NUMBERS = {"relu": 1, "gelu": 2, "swiglu": 5}  # of d_ff, kept for the backward pass


@dataclass(frozen=True, kw_only=True)
class SliceCost:
    """Work and memory of one slice.

    Attributes
    ----------
    flops
        Floating-point operations of its matrix products, forward and backward.
    kept
        Numbers kept for the backward pass, and the weights with the largest gradient beside them.
    moved
        Numbers that pass through memory beside the products.
    layers
        Layers that are gone through, forward and backward: each costs some hundred small operations.
    drawn
        Random numbers.
    """

    flops: float
    kept: float
    moved: float
    layers: int
    drawn: float


def slice_cost(config: SweepConfig, keys: Sequence[PointKey]) -> SliceCost:
    r"""Work and memory of a slice of `normviz.depth.plan`.

    With N = batch x seq_len tokens, a product of [N, a] and [a, b] takes 2Nab operations forward, as many for its
    input's gradient and as many for its weight's, where that is asked for. Attention's two products with T tokens take
    $4NTd$ forward and twice that backward, and its entropy half of that once more. The forward pass runs once to the
    largest depth, the backward pass once for each depth. The head, whose own gradient nobody asks for, adds $4NdV$, or
    $4BdV$ when the loss reads one token of each sequence.
    """
    names, depths, seeds = (tuple(dict.fromkeys(axis)) for axis in zip(*keys, strict=True))
    d, d_ff, length = config.d_model, config.d_ff, config.seq_len
    tokens = config.batch * length
    softmax = config.attention != "uniform"
    sizes = dict.fromkeys(("wq", "wk"), d * d) if softmax else {}
    sizes |= {"wv": d * d, "w1": d * d_ff, "w2": d_ff * d}
    sizes |= {"wo": d * d} if config.output_projection else {}
    sizes |= {"wg": d * d_ff} if config.activation == "swiglu" else {}
    weights = sum(sizes.values())
    asked = sum(size for name, size in sizes.items() if name in config.gradients)
    pairs = tokens * length * softmax
    lanes, deepest, below = len(names) * len(seeds), max(depths), sum(depths)
    forward = lanes * deepest * (2 * tokens * weights + (6 if length > 1 else 4) * pairs * d)
    backward = lanes * below * (2 * tokens * (weights + asked) + 8 * pairs * d)
    read = tokens if config.loss == "mean" else config.batch
    logits = lanes * len(depths) * read * config.vocab_size

    placements = [PLACEMENTS[name] for name in names]
    norms = max(sum(trace(p).norms) + 2 * p.inner_norm for p in placements)
    inner = _ACTIVATION_NUMBERS[config.activation] * d_ff
    a_layer = tokens * ((norms + 8) * d + inner + d_ff) + 2 * pairs * config.n_heads
    on_the_way = lanes * len(depths) * tokens * (4 * d + 2 * d_ff)
    gradient = lanes * len(depths) * max(sizes.values())
    return SliceCost(
        flops=float(forward + backward + 4 * logits * d),
        kept=float(
            deepest * (lanes * a_layer + len(seeds) * weights) + on_the_way + gradient + 2 * logits / len(depths)
        ),
        moved=float(lanes * (deepest + below) * a_layer + 4 * logits + lanes * below * asked),
        layers=deepest,
        drawn=float(len(seeds) * (deepest * weights + d * config.vocab_size)),
    )
