"""How does each placement add to the stream, as theory needs it: where are the norms, and with which factors?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from normviz.depth.config import SweepConfig
from normviz.depth.theory.branches import Array, Back, Weights, attention, feed_forward, mean_square, norm_divisor
from normviz.depth.theory.moments import Scales
from normviz.placements.wirings import MIX_LN_SHARE


@dataclass(frozen=True, kw_only=True)
class Step:
    """One addition to the stream: x <- outer(alpha x + gain sum of out(f(scale inn(x)))), after `first` on the path.

    Attributes
    ----------
    branches
        "attention" and "feed_forward", which read the same.
    first, inn, out, outer
        Whether there is a norm on the path before everything, before the sublayer, after it, and after the addition.
    alpha, scale, gain
        Factors of the stream, of what is read and of what is written.
    values_normed
        Whether it is attention's queries, keys and values that are normalized, not what it reads.
    inner
        Whether there is a norm before a sublayer's last matrix.
    bottom_to_top
        Whether it is B2T's whole layer, which is no single addition; the other fields are not used then.
    """

    branches: tuple[str, ...]
    first: bool = False
    inn: bool = False
    out: bool = False
    outer: bool = False
    alpha: float = 1.0
    scale: float = 1.0
    gain: float = 1.0
    values_normed: bool = False
    inner: bool = False
    bottom_to_top: bool = False


def _pair(**how: bool | float) -> tuple[Step, ...]:
    return Step(branches=("attention",), **how), Step(branches=("feed_forward",), **how)  # type: ignore[arg-type]


# The steps of layer l of L.
STEPS: dict[str, Callable[[int, int], tuple[Step, ...]]] = {
    "post_norm": lambda layer, depth: _pair(outer=True),
    "pre_norm": lambda layer, depth: _pair(inn=True),
    "sub_ln": lambda layer, depth: _pair(inn=True, inner=True),
    "sandwich_norm": lambda layer, depth: _pair(inn=True, out=True),
    "peri_ln": lambda layer, depth: _pair(inn=True, out=True),
    "output_norm": lambda layer, depth: _pair(out=True),
    "no_norm": lambda layer, depth: _pair(),
    "rezero": lambda layer, depth: _pair(gain=0.0),
    "deep_norm": lambda layer, depth: _pair(outer=True, alpha=(2 * depth) ** 0.25),
    "keel": lambda layer, depth: _pair(inn=True, outer=True, alpha=2.0 * depth),
    "layer_norm_scaling": lambda layer, depth: _pair(inn=True, scale=1 / sqrt(layer)),
    "mix_ln": lambda layer, depth: _pair(outer=True) if layer <= int(MIX_LN_SHARE * depth) else _pair(inn=True),
    "b2t": lambda layer, depth: (Step(branches=("attention", "feed_forward"), bottom_to_top=True),),
    "parallel": lambda layer, depth: (Step(branches=("attention", "feed_forward"), inn=True),),
    "hybrid_norm": lambda layer, depth: (
        Step(branches=("attention",), inn=True, values_normed=True),
        Step(branches=("feed_forward",), first=True),
    ),
}


def forward(
    config: SweepConfig, found: Scales, step: Step, overlap: Array, entering: dict[float, float], position: float
) -> tuple[Array, Back]:
    """One step: the stream after it, and what carries gradients back through it and notes those of the weights."""
    if step.bottom_to_top:
        return _bottom_to_top(config, found, overlap, entering, position)
    one = np.ones_like(overlap[0])
    first = norm_divisor(overlap, config.eps) if step.first else one
    if step.first:
        entering[position] = mean_square(overlap)
    overlap = overlap / first
    inn = norm_divisor(overlap, config.eps) / step.scale**2 if step.inn else one
    read = overlap / inn
    outputs = []
    for branch in step.branches:
        if branch == "attention":
            written, back = attention(config, found, read, values_normed=step.values_normed, inner=step.inner)
        else:
            written, back = feed_forward(config, found, read, inner=step.inner)
        out = norm_divisor(written, config.eps) if step.out else one
        outputs.append((step.gain**2 * written / out, out, back))
    after = step.alpha**2 * overlap + sum(written for written, _, _ in outputs)
    if step.outer:
        entering[position] = mean_square(after)
    outer = norm_divisor(after, config.eps) if step.outer else one

    def backward(gradient: Array, weights: Weights) -> Array:
        gradient = gradient / outer
        reads = sum(back(step.gain**2 * gradient / out, weights) for _, out, back in outputs)
        return np.asarray((step.alpha**2 * gradient + reads / inn) / first)

    return after / outer, backward


def _bottom_to_top(
    config: SweepConfig, found: Scales, overlap: Array, entering: dict[float, float], layer: float
) -> tuple[Array, Back]:
    """B2T's layer: h = N(x + f(x)), then N(x + h + g(h)); x and h have x . x' over h's root in common."""
    written, back_attention = attention(config, found, overlap)
    first = overlap + written
    entering[layer - 0.5] = mean_square(first)
    root = np.sqrt(np.diagonal(first[0]) + config.eps)
    divisor = root[:, None] * root
    h = first / divisor
    written, back_feed_forward = feed_forward(config, found, h)
    second = overlap * (1 + 1 / root[:, None] + 1 / root) + h + written
    entering[layer] = mean_square(second)
    outer = norm_divisor(second, config.eps)

    def backward(gradient: Array, weights: Weights) -> Array:
        gradient = gradient / outer
        through = back_feed_forward(gradient, weights) / divisor
        below = back_attention(gradient / divisor + through, weights)
        return np.asarray(gradient * (1 + 1 / root[:, None]) * (1 + 1 / root) + through + below)

    return second / outer, backward
