"""What does the theory of infinite width give for a whole Transformer, pair of tokens by pair of tokens?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from normviz.depth.config import SweepConfig
from normviz.depth.theory.branches import mean_square, norm_divisor
from normviz.depth.theory.kernels import label_overlap
from normviz.depth.theory.moments import NoLaw, Scales, activation_moment, scales
from normviz.depth.theory.steps import STEPS, forward
from normviz.placements import PLACEMENTS

Array = npt.NDArray[np.float64]

# Pairs of tokens times layers: about one second of one core.
LARGEST_WORK = 2**18


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenTheory:
    """Expected sizes in one model, float64: mean squares at positions, gradient norms of the layers.

    `entering` maps a position of a norm on the identity path to the mean square there.
    """

    stream: Array
    entering: dict[float, float]
    grad_w2: Array
    grad_w1: Array
    grad_wv: Array
    grad_residual: Array


@lru_cache(maxsize=256)
def token_theory(config: SweepConfig, placement: str, depth: int) -> TokenTheory:
    r"""Overlaps of all pairs of tokens forward, and of their gradients backward, through L layers.

    The state is $K_{tt'} = \frac1d x_t\cdot x_{t'}$ for two tokens of one sequence and of two different ones. A branch
    is odd in its last matrix, so it adds its own overlap to K without a cross term; a norm divides by the roots of the
    diagonal plus eps. Backward, $\Delta_{tt'} = \delta_t\cdot\delta_{t'}$ goes through the transposed steps; a
    weight's squared gradient is a sum of inputs' overlaps times $\Delta$ over all pairs, those of different sequences
    included.

    Left out: 1/d corrections, what a norm takes out of a gradient along its input, and GELU's bend where tokens differ
    in size.

    Raises
    ------
    NoLaw
        If the placement, the activation or the size is outside of what this covers.

    References
    ----------
    Derived; for uniform attention and ReLU it is the recursion of `uniform_mean_field`.
    """
    if placement not in STEPS:
        raise NoLaw("No theory has been worked out for placement {placement}; choose another one", placement=placement)
    n = config.seq_len
    if n * n * depth > LARGEST_WORK:
        raise NoLaw(
            "The theory follows every pair of tokens, which takes too long for seq_len {seq_len} and depth {depth}; "
            "a shorter sequence or fewer layers would show it",
            seq_len=n,
            depth=depth,
        )
    found = scales(config, placement, depth)
    activation_moment(config.activation, found.inner)
    record = PLACEMENTS[placement]
    start = np.stack([found.tokens * np.eye(n), np.zeros((n, n))])
    entering = {}
    if record.embedding_norm:
        entering[0.0] = mean_square(start)
        start = start / norm_divisor(start, config.eps)
    overlap, stream, backs = start, [mean_square(start)], []
    for layer in range(1, depth + 1):
        for step in STEPS[placement](layer, depth):
            position = layer - 0.5 if step.branches == ("attention",) else float(layer)
            overlap, back = forward(config, found, step, overlap, entering, position)
            backs.append(back)
        stream.append(mean_square(overlap))
    final = None
    if record.final_norm:
        entering[depth + 0.5] = mean_square(overlap)
        final = norm_divisor(overlap, config.eps)
        overlap = overlap / final
    gradient = _at_head(config, found, overlap)
    if final is not None:
        gradient = gradient / final

    weights: dict[str, list[float]] = {"w2": [], "w1": [], "wv": []}
    residual = [mean_square(gradient) * n]
    for number, back in enumerate(backs[::-1], start=1):
        gradient = back(gradient, weights)
        if number % (len(backs) // depth) == 0:
            residual.append(mean_square(gradient) * n)
    w2, w1, wv = (np.sqrt(np.array(weights[name][::-1])) for name in ("w2", "w1", "wv"))
    return TokenTheory(
        stream=np.array(stream),
        entering=entering,
        grad_w2=w2,
        grad_w1=w1,
        grad_wv=wv,
        grad_residual=np.sqrt(config.batch * np.array(residual[::-1])),
    )


def _at_head(config: SweepConfig, found: Scales, overlap: Array) -> Array:
    """Overlaps of the loss's gradients at what the head reads."""
    pairs = found.head * label_overlap(found.head * overlap, config.vocab_size)
    pairs[0] += found.head * (1 - 1 / config.vocab_size) * np.eye(config.seq_len)
    if config.loss == "mean":
        return np.asarray(pairs / (config.batch * config.seq_len) ** 2)
    last = np.zeros_like(pairs)
    last[:, -1, -1] = pairs[:, -1, -1] / config.batch**2
    return last
