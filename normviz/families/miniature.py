"""How does a small random Transformer run when its norms, their place and their arithmetic are a family's own?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.families.record import Family, NormSite
from normviz.floats import FORMATS, rms_norm_as
from normviz.floats.summation import float32_mean
from normviz.placements import At, enter, leave

Numbers = NDArray[Any]
Parameters = tuple[Numbers | None, Numbers | None]
Function = Callable[..., Any]

TOKENS = 12
HEADS = 4
MLP_FACTOR = 4
# Standard deviations: of an embedding; of a branch's last matrix, times the root of its rows; of gains and biases.
# Released models start from embeddings this small, and eps is seen against them.
_EMBEDDING, _BRANCH, _SPREAD = 0.02, 0.2, 0.3
_GATE = 0.5

ATTENTION = ("shared_in", "attention_in", "attention_out", "post_attention")
FEED_FORWARD = ("mlp_in", "mlp_out", "post_mlp")
PROJECTED = ("q", "k", "v")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How code reads the norms of a checkpoint: all that two ports of the same weights differ in here.

    Attributes
    ----------
    attention, feed_forward
        The wirings of a layer's two sublayers.
    eps
        Added inside every norm's root.
    add_one
        Whether 1 is added to what is stored before it multiplies.
    cast_first
        Whether the normalized vector is rounded to the model's type before it is multiplied; RMSNorm only.
    bias, final
        Whether the norms' biases are added, and whether there is a norm after the last layer.
    """

    attention: Function
    feed_forward: Function
    eps: float
    add_one: bool
    cast_first: bool
    bias: bool = True
    final: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """What is stored: embedded tokens [T, d], and by name each layer's matrices and the norms' gains and biases."""

    family: Family
    dtype: str
    tokens: Numbers
    layers: tuple[Mapping[str, Numbers], ...]
    norms: tuple[Mapping[str, Parameters], ...]
    """Role -> gain and bias, of each layer; the last entry holds those outside the layers."""


def sites(family: Family) -> dict[str, NormSite]:
    """Role -> norm that the default config has, in call order; of an encoder and a decoder, that of the first."""
    found: dict[str, NormSite] = {}
    for site in family.sites:
        if not site.optional:
            found.setdefault(site.role, site)
    return found


def checkpoint(family: Family, *, n_layers: int, d_model: int, seed: int, dtype: str) -> Checkpoint:
    """Random weights, with gains and biases as training leaves them: N(1, 0.3^2), less 1 if so stored, and N(0, 0.3^2).

    The embeddings are N(0, 0.02^2), the matrices N(0, 1 / rows), W_O and W_2 with a fifth of that standard deviation.
    """
    rng = np.random.default_rng(seed)
    kind = FORMATS[dtype].dtype

    def normal(*shape: int, std: float, mean: float = 0.0) -> Numbers:
        return rng.normal(mean, std, shape).astype(np.float32).astype(kind)

    def matrices() -> dict[str, Numbers]:
        wide = MLP_FACTOR * d_model
        found = {name: normal(d_model, d_model, std=d_model**-0.5) for name in ("wq", "wk", "wv")}
        found["wo"] = normal(d_model, d_model, std=_BRANCH * d_model**-0.5)
        found["w1"] = normal(d_model, wide, std=d_model**-0.5)
        found["w2"] = normal(wide, d_model, std=_BRANCH * wide**-0.5)
        return found

    def parameters(*roles: str) -> dict[str, Parameters]:
        found = {}
        for role, site in sites(family).items():
            if role in roles:
                size = d_model // HEADS if site.width == "head" else d_model
                centre = 0.0 if family.form == "1+w" else 1.0
                gain = normal(size, std=_SPREAD, mean=centre) if site.has_weight else None
                found[role] = (gain, normal(size, std=_SPREAD) if site.bias else None)
        return found

    tokens = normal(TOKENS, d_model, std=_EMBEDDING)
    inside = (*ATTENTION, *PROJECTED, *FEED_FORWARD)
    layers, norms = [], []
    for _ in range(n_layers):
        layers.append(matrices())
        norms.append(parameters(*inside))
    norms.append(parameters("embedding", "final"))
    return Checkpoint(family=family, dtype=dtype, tokens=tokens, layers=tuple(layers), norms=tuple(norms))


def run(stored: Checkpoint, recipe: Recipe) -> Iterator[tuple[int, Numbers]]:
    """The residual stream of the checkpoint, read by the recipe: how many sublayers it has passed, and the stream.

    Begins with 0, after the embedding and its norm. In the middle of a parallel layer the stream is not complete, and
    left out. The last one is the model's output, with the number 2L + 1: the stream after the final norm. Where a
    family's wiring asks for a gate, it multiplies by 1/2.
    """
    depth = len(stored.layers)
    outside = stored.norms[-1]
    x: Any = stored.tokens
    if "embedding" in outside:
        x = _norm(stored, recipe, x, outside["embedding"])
    yield 0, x
    for layer, (weights, norms) in enumerate(zip(stored.layers, stored.norms, strict=False), start=1):
        for passed, wiring, sublayer, roles in (
            (2 * layer - 1, recipe.attention, _attention, ATTENTION),
            (2 * layer, recipe.feed_forward, _feed_forward, FEED_FORWARD),
        ):
            in_turn = iter([parameters for role, parameters in norms.items() if role in roles])
            at = At(norm=partial(_next_norm, stored, recipe, in_turn), gate=_gate, layer=layer, depth=depth)
            steps, read = enter(wiring, x, at)
            x = leave(steps, sublayer(stored, recipe, read, weights, norms))
            if not isinstance(x, tuple):
                # A Python number times an array of `ml_dtypes` gives float32.
                x = x.astype(stored.tokens.dtype, copy=False)
                yield passed, x
    if "final" in outside and recipe.final:
        x = _norm(stored, recipe, x, outside["final"])
    yield 2 * depth + 1, x


def _next_norm(stored: Checkpoint, recipe: Recipe, in_turn: Iterator[Parameters], x: Numbers) -> Numbers:
    return _norm(stored, recipe, x, next(in_turn))


def _gate(x: Numbers) -> Numbers:
    half: Numbers = x * x.dtype.type(_GATE)
    return half


def _attention(
    stored: Checkpoint, recipe: Recipe, x: Numbers, weights: Mapping[str, Numbers], norms: Mapping[str, Parameters]
) -> Numbers:
    """Causal softmax attention; queries, keys and values are normalized where the family does."""
    kind = x.dtype
    tokens, d = x.shape
    parts = []
    # Llama 4 has one norm for queries and keys.
    inner = {"k": norms["q"], **norms} if "q" in norms else norms
    for role in PROJECTED:
        part = _times(x, weights[f"w{role}"])
        if role in inner:
            per_head = stored.family.qk_norm != "projection"
            part = part.reshape(tokens, HEADS, -1) if per_head else part
            part = _norm(stored, recipe, part, inner[role])
        parts.append(part.reshape(tokens, HEADS, d // HEADS).swapaxes(0, 1).astype(np.float32))
    q, k, v = parts
    scores = q @ k.swapaxes(1, 2) / np.float32(np.sqrt(d // HEADS))
    scores[:, ~np.tri(tokens, dtype=bool)] = -np.inf
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = (shares / shares.sum(axis=-1, keepdims=True)).astype(kind).astype(np.float32)
    mixed = (shares @ v).swapaxes(0, 1).reshape(tokens, d).astype(kind)
    return _times(mixed, weights["wo"])


def _feed_forward(
    stored: Checkpoint, recipe: Recipe, x: Numbers, weights: Mapping[str, Numbers], norms: Mapping[str, Parameters]
) -> Numbers:
    """W_2 with ReLU after W_1."""
    return _times(np.maximum(_times(x, weights["w1"]), x.dtype.type(0)), weights["w2"])


def _times(x: Numbers, matrix: Numbers) -> Numbers:
    """A product with float32 sums, rounded once, as hardware does it."""
    product: Numbers = (x.astype(np.float32) @ matrix.astype(np.float32)).astype(x.dtype)
    return product


def _norm(stored: Checkpoint, recipe: Recipe, x: Numbers, parameters: Parameters) -> Numbers:
    gain, bias = parameters
    if stored.family.norm == "layer_norm":
        return layer_norm_as(
            x, _scale(gain, recipe.add_one), bias if recipe.bias else None, eps=recipe.eps, dtype=stored.dtype
        )
    if gain is None:
        return rms_norm_as("no_weight", x, None, eps=recipe.eps, dtype=stored.dtype)
    if recipe.cast_first:
        scale = _scale(gain, recipe.add_one)
        return rms_norm_as("cast_then_multiply", x, scale, eps=recipe.eps, dtype=stored.dtype)
    arithmetic = "gemma" if recipe.add_one else "multiply_then_cast"
    return rms_norm_as(arithmetic, x, gain, eps=recipe.eps, dtype=stored.dtype)


def _scale(gain: Numbers | None, add_one: bool) -> Numbers | None:
    return gain + gain.dtype.type(1) if gain is not None and add_one else gain


def layer_norm_as(x: Numbers, weight: Numbers | None, bias: Numbers | None, *, eps: float, dtype: str) -> Numbers:
    r"""LayerNorm as `transformers` computes it on a CPU: everything in float32, one rounding to the type at the end.

    $\mathrm{cast}\bigl((x-\mu)\,(\sigma^2+\varepsilon)^{-1/2}\odot w+b\bigr)$. Bit for bit Cohere's;
    `nn.LayerNorm` adds in another order, so that its last bit may differ.

    Parameters
    ----------
    x
        Shape [..., d].
    weight, bias
        Shape [d] (or one that broadcasts with x), or None.
    eps
        Added to the variance.
    dtype
        Format of the output, a key of `normviz.floats.FORMATS`.
    """
    single = np.ascontiguousarray(x, dtype=np.float32)
    centered = single - float32_mean(single)
    out = centered * (np.float32(1) / np.sqrt(float32_mean(centered * centered) + np.float32(eps)))
    if weight is not None:
        out = out * weight.astype(np.float32)
    if bias is not None:
        out = out + bias.astype(np.float32)
    rounded: Numbers = out.astype(FORMATS[dtype].dtype)
    return rounded
