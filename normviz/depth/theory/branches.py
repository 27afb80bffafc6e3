"""What do attention and the feed-forward sublayer write for a pair of tokens, and what do they pass back?"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, sqrt

import numpy as np
import numpy.typing as npt

from normviz.depth.config import SweepConfig
from normviz.depth.theory.kernels import activation_overlap, attention_overlap
from normviz.depth.theory.moments import NoLaw, Scales

Array = npt.NDArray[np.float64]
Weights = dict[str, list[float]]
# Overlaps of gradients at a branch's output to those at its input; squared gradients of weights go into the lists.
Back = Callable[[Array, Weights], Array]

# Above this variance softmax attends to few tokens, and averaging numerator and denominator apart fails.
LARGEST_LOGIT_VARIANCE = 3.0


def norm_divisor(overlap: Array, eps: float) -> Array:
    """The divisor [T, T] of two norms: overlap [2, T, T] of x gives that of N(x) by division."""
    root = np.sqrt(np.diagonal(overlap[0]) + eps)
    return np.asarray(root[:, None] * root)


def mean_square(overlap: Array) -> float:
    """Mean over the tokens."""
    return float(np.diagonal(overlap[0]).mean())


def _square(config: SweepConfig, inputs: Array, gradients: Array) -> float:
    """Squared norm of a weight's gradient: pairs of one sequence B times, of two different ones B (B - 1) times."""
    same, other = (inputs * gradients).sum((-1, -2))
    return float(config.batch * (same + (config.batch - 1) * other))


def attention(
    config: SweepConfig, found: Scales, read: Array, *, values_normed: bool = False, inner: bool = False
) -> tuple[Array, Back]:
    """Overlap [2, T, T] of attention's output, for what it reads; and the way back.

    Queries, keys and values may be normalized, and with `inner` what enters W_O.

    Raises
    ------
    NoLaw
        If its logits vary too much.
    """
    scale = sqrt(1.0 if values_normed and found.logits else found.logits)
    normed = config.qk_norm and not values_normed
    per_read = scale / (norm_divisor(read, 0.0) if normed else np.ones_like(read[0]))
    logits = per_read * read
    largest = float(np.diagonal(logits[0]).max()) ** 2
    if not isfinite(largest) or largest > LARGEST_LOGIT_VARIANCE:
        raise NoLaw(
            "The attention logits get a variance of {variance:.3g}, and above {limit:.3g} the theory of attention does "
            "not hold; qk_norm or uniform attention would keep it valid",
            variance=largest,
            limit=LARGEST_LOGIT_VARIANCE,
        )
    through = attention_overlap(read, logits, causal=config.attention == "causal")
    value = 1.0 if values_normed else found.value
    mixed = value * through.overlap
    divisor = norm_divisor(mixed, config.eps) if inner else np.ones_like(read[0])

    def back(gradient: Array, weights: Weights) -> Array:
        gradient = found.output * gradient / divisor
        values = through.values(gradient)
        # A norm on the values divides their gradient by d sigma_V^2, so W_V's is that of values with scale 1.
        inverse = 1 / found.value if values_normed else 1.0
        weights["wv"].append(_square(config, config.d_model * read, inverse * values))
        if not scale:
            return value * values
        return value * (values + per_read * through.logits(gradient))

    return found.output * mixed / divisor, back


def feed_forward(config: SweepConfig, found: Scales, read: Array, *, inner: bool = False) -> tuple[Array, Back]:
    """Overlap [2, T, T] of the feed-forward sublayer's output, for what it reads; and the way back.

    With `inner` there is a norm before W_2.
    """
    roots = np.sqrt(np.diagonal(read[0]))
    sizes = roots[:, None] * roots
    cosine = np.clip(read / sizes, -1, 1)
    v = found.inner * mean_square(read)
    # Exact for relu; gelu is nearly x/2 where tokens can differ in size, on a small stream without a norm before it.
    active = activation_overlap(config.activation, v, cosine) * sizes / mean_square(read)
    slopes = activation_overlap(config.activation, v, cosine, slope=True)
    if inner and config.norm == "layer_norm":  # LayerNorm takes away the mean that an activation has
        active = active - activation_overlap(config.activation, v, np.zeros_like(cosine)) * sizes / mean_square(read)
    divisor = norm_divisor(active, config.eps) if inner else np.ones_like(read[0])
    active = active / divisor

    def back(gradient: Array, weights: Weights) -> Array:
        weights["w2"].append(_square(config, config.d_ff * active, gradient))
        hidden = found.outer * slopes * gradient / divisor
        weights["w1"].append(_square(config, config.d_model * read, hidden))
        return np.asarray(found.inner * hidden)

    return found.outer * active, back
