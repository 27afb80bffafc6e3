"""Which wirings are there, and what does each bring along: norms at both ends, scales at initialization, its paper?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from math import log, sqrt
from types import MappingProxyType
from typing import Any, TypedDict

from normviz.placements import wirings
from normviz.text import N_

Function = Callable[..., Generator[Any, Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A wiring with all that belongs to it.

    Attributes
    ----------
    id, label, note
        The identifier in links and files, the name on screen and a sentence about it (English messages).
    attention, feed_forward
        The wirings of a layer's two sublayers, of `normviz.placements.wirings`.
    final_norm, embedding_norm
        Whether a model with this wiring has a norm before its head, and one right after its embedding.
    two_streams
        Whether a second stream d starts beside the first one p; the model's output is then p + N(d).
    inner_norm
        Whether each sublayer has a norm before its last matrix.
    qkv_norm
        Whether attention normalizes queries, keys and values, each head by itself.
    init_scale
        What the initial W_V, W_O, W_1 and W_2 are multiplied with, as a function of the number of layers.
    knows_depth
        Whether anything depends on the number of layers L, so that a shallow model is no part of a deep one.
    formula
        LaTeX of one sublayer, or of a layer, with f the sublayer and N the norm.
    used_by
        Published models, by their proper names.
    source
        arXiv id of the paper that introduced or studied it.
    """

    id: str
    label: str
    note: str
    attention: Function
    feed_forward: Function
    final_norm: bool = False
    embedding_norm: bool = False
    two_streams: bool = False
    inner_norm: bool = False
    qkv_norm: bool = False
    init_scale: Callable[[int], float] | None = None
    knows_depth: bool = False
    formula: str
    used_by: tuple[str, ...] = ()
    source: str


def deep_norm_scale(depth: int) -> float:
    """DeepNorm's beta of an encoder or a decoder with L layers: (8L)^(-1/4) (arXiv:2203.00555)."""
    return float((8 * depth) ** -0.25)


def sub_ln_scale(depth: int) -> float:
    """Magneto's gamma of an encoder or a decoder with L layers: sqrt(ln 2L) (arXiv:2210.06423)."""
    return sqrt(log(2 * depth))


class _Both(TypedDict):
    attention: Function
    feed_forward: Function


def _alike(wiring: Function) -> _Both:
    return {"attention": wiring, "feed_forward": wiring}


PLACEMENTS: Mapping[str, Placement] = MappingProxyType(
    {
        placement.id: placement
        for placement in (
            Placement(
                id="post_norm",
                label=N_("Post-Norm"),
                note=N_("The norm comes after the addition, so the stream itself is normalized at every sublayer."),
                **_alike(wirings.post_norm),
                embedding_norm=True,
                formula=r"x \leftarrow \mathrm{N}(x + f(x))",
                used_by=("Transformer", "BERT", "RoBERTa"),
                source="1706.03762",
            ),
            Placement(
                id="pre_norm",
                label=N_("Pre-Norm"),
                note=N_("Each sublayer reads a normalized copy; the stream itself is only added to."),
                **_alike(wirings.pre_norm),
                final_norm=True,
                formula=r"x \leftarrow x + f(\mathrm{N}(x))",
                used_by=("GPT-2", "T5", "Llama", "Mistral", "Qwen3"),
                source="2002.04745",
            ),
            Placement(
                id="sandwich_norm",
                label=N_("Sandwich-Norm"),
                note=N_("A norm before and one after each sublayer: what is added always has mean square 1."),
                **_alike(wirings.sandwich_norm),
                final_norm=True,
                formula=r"x \leftarrow x + \mathrm{N}(f(\mathrm{N}(x)))",
                used_by=("CogView", "Gemma 2", "Gemma 3", "GLM-4"),
                source="2105.13290",
            ),
            Placement(
                id="output_norm",
                label=N_("Output-Norm"),
                note=N_("Only the sublayer's output is normalized; what it reads is the raw stream."),
                **_alike(wirings.output_norm),
                final_norm=True,
                formula=r"x \leftarrow x + \mathrm{N}(f(x))",
                used_by=("Swin V2", "OLMo 2", "OLMo 3", "EXAONE 4"),
                source="2111.09883",
            ),
            Placement(
                id="no_norm",
                label=N_("No norm"),
                note=N_("The bare residual network, for comparison."),
                **_alike(wirings.no_norm),
                formula=r"x \leftarrow x + f(x)",
                source="1901.09321",
            ),
            Placement(
                id="deep_norm",
                label=N_("DeepNorm"),
                note=N_("Post-Norm with a heavier stream and smaller initial branches, both set by the depth."),
                **_alike(wirings.deep_norm),
                embedding_norm=True,
                init_scale=deep_norm_scale,
                knows_depth=True,
                formula=r"x \leftarrow \mathrm{N}(\alpha x + f(x)),\ \alpha = (2L)^{1/4},\ \beta = (8L)^{-1/4}",
                used_by=("DeepNet", "GLM-130B"),
                source="2203.00555",
            ),
            Placement(
                id="layer_norm_scaling",
                label=N_("LayerNorm Scaling"),
                note=N_(
                    "Pre-Norm whose norms are divided by the root of the layer number, so that deep layers add less."
                ),
                **_alike(wirings.layer_norm_scaling),
                final_norm=True,
                formula=r"x \leftarrow x + f(\mathrm{N}(x) / \sqrt{l})",
                source="2502.05795",
            ),
            Placement(
                id="sub_ln",
                label=N_("Sub-LN"),
                note=N_("Pre-Norm with a second norm inside each sublayer, before its last matrix."),
                **_alike(wirings.pre_norm),
                final_norm=True,
                inner_norm=True,
                init_scale=sub_ln_scale,
                knows_depth=True,
                formula=r"x \leftarrow x + W_\mathrm{out}\,\mathrm{N}(\phi(W_\mathrm{in}\,\mathrm{N}(x))),"
                r"\ \gamma = \sqrt{\ln 2L}",
                used_by=("Magneto",),
                source="2210.06423",
            ),
            Placement(
                id="rezero",
                label=N_("ReZero"),
                note=N_("No norm: each branch is multiplied by a trained number that starts at 0."),
                **_alike(wirings.rezero),
                formula=r"x \leftarrow x + \alpha_l f(x),\ \alpha_l = 0",
                source="2003.04887",
            ),
            Placement(
                id="mix_ln",
                label=N_("Mix-LN"),
                note=N_("Post-Norm in the lowest quarter of the layers, Pre-Norm above."),
                **_alike(wirings.mix_ln),
                final_norm=True,
                knows_depth=True,
                formula=r"l \le \lfloor L/4 \rfloor:\ x \leftarrow \mathrm{N}(x + f(x)),\ \mathrm{else}\ "
                r"x \leftarrow x + f(\mathrm{N}(x))",
                source="2412.13795",
            ),
            Placement(
                id="b2t",
                label=N_("B2T"),
                note=N_("Post-Norm with one more connection: a layer's input is added again before its last norm."),
                attention=wirings.b2t_attention,
                feed_forward=wirings.b2t_feed_forward,
                embedding_norm=True,
                formula=r"h = \mathrm{N}(x + f(x)),\ x \leftarrow \mathrm{N}(x + h + f(h))",
                source="2206.00330",
            ),
            Placement(
                id="resi_dual",
                label=N_("ResiDual"),
                note=N_(
                    "Two streams: one with Post-Norm, which the sublayers read, and one that only adds; both are used."
                ),
                **_alike(wirings.residual_pair),
                embedding_norm=True,
                two_streams=True,
                formula=r"p \leftarrow \mathrm{N}(p + f(p)),\ d \leftarrow d + f(p);\ p + \mathrm{N}(d)",
                source="2304.14802",
            ),
            Placement(
                id="hybrid_norm",
                label=N_("HybridNorm"),
                note=N_(
                    "Attention normalizes queries, keys and values; the feed-forward sublayer has its norm on the "
                    "stream."
                ),
                attention=wirings.no_norm,
                feed_forward=wirings.hybrid_feed_forward,
                final_norm=True,
                qkv_norm=True,
                formula=r"y = x + \mathrm{Att}(\mathrm{N}(q), \mathrm{N}(k), \mathrm{N}(v)),\ "
                r"x \leftarrow \mathrm{N}(y) + f(\mathrm{N}(y))",
                source="2503.04598",
            ),
            Placement(
                id="keel",
                label=N_("Keel"),
                note=N_("Post-Norm and Pre-Norm at once, with a stream that weighs as much as there are sublayers."),
                **_alike(wirings.keel),
                embedding_norm=True,
                knows_depth=True,
                formula=r"x \leftarrow \mathrm{N}(\alpha x + f(\mathrm{N}(x))),\ \alpha = 2L",
                source="2601.19895",
            ),
            Placement(
                id="peri_ln",
                label=N_("Peri-LN"),
                note=N_("Sandwich-Norm with one more norm right after the embedding."),
                **_alike(wirings.sandwich_norm),
                final_norm=True,
                embedding_norm=True,
                formula=r"x_0 = \mathrm{N}(e),\ x \leftarrow x + \mathrm{N}(f(\mathrm{N}(x)))",
                source="2502.02732",
            ),
            Placement(
                id="parallel",
                label=N_("Parallel block"),
                note=N_("Attention and feed-forward read the same normalized stream and are added together."),
                attention=wirings.parallel_attention,
                feed_forward=wirings.parallel_feed_forward,
                final_norm=True,
                formula=r"x \leftarrow x + f(\mathrm{N}(x)) + g(\mathrm{N}(x))",
                used_by=("GPT-J", "PaLM", "Phi", "Cohere"),
                source="2204.02311",
            ),
        )
    }
)
