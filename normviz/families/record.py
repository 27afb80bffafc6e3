"""What does a model family say about its norms: where they sit, what they are called, how they are computed?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from normviz.text import N_

Function = Callable[..., Generator[Any, Any, Any]]

ROLES: Mapping[str, str] = MappingProxyType(
    {
        "embedding": N_("on the embedding, before the first layer"),
        "attention_in": N_("before attention, on its input"),
        "q_latent": N_("on the compressed queries, before they are expanded"),
        "kv_latent": N_("on the compressed keys and values, before they are expanded"),
        "q": N_("on the queries"),
        "k": N_("on the keys"),
        "v": N_("on the values"),
        "attention_out": N_("on attention's output, before the addition"),
        "post_attention": N_("on the stream, after attention was added"),
        "cross_in": N_("before cross-attention, on its input"),
        "mlp_in": N_("before the feed-forward sublayer, on its input"),
        "mlp_out": N_("on the feed-forward sublayer's output, before the addition"),
        "post_mlp": N_("on the stream, after the feed-forward sublayer was added"),
        "shared_in": N_("before attention and feed-forward, which both read it"),
        "final": N_("after the last layer, before the output matrix"),
        "prediction": N_("inside the head that predicts masked tokens"),
        "other": N_("on a path beside attention and feed-forward"),
    }
)
"""Role of a norm -> its description; in the order of a forward pass."""


@dataclass(frozen=True, kw_only=True)
class NormSite:
    r"""One norm of a family: what it is for, what it is called, how wide it is.

    Attributes
    ----------
    role
        One of `ROLES`.
    name
        The module's name in the state dict, without ".weight"; "{i}" stands for the layer, from 0, and "{j}" for the
        head where each has a norm of its own.
    width
        What its weight is as long as: "d" (the stream), "head" (one head), "heads" (all query heads), "kv_heads" (all
        key heads), "q_rank" and "kv_rank" (compressed queries, keys and values), "value_head" (a value head of linear
        attention) or "per_layer_input" (the extra embedding that each layer of Gemma 3n gets).
    bias, has_weight
        Which parameters it has.
    formula
        LaTeX of what it is applied to; x is the stream that enters the layer, h the stream after attention.
    layers
        In which layers: "all", "not_first", "attention" and "linear" (of a family with both kinds of attention),
        "rope" (those with a rotation: three of four), "own_keys" (those that do not take over the keys of a lower
        layer), "per_layer_input" (all, if layers have an extra embedding), or "once" (outside the layers).
    stack
        "encoder" or "decoder" where a family has both.
    optional
        Whether the default config leaves it out; then it is not counted, and nothing is missing without it.
    unless
        Part of another key of the layer that stands in its place: then it is not missing.
    arithmetic, form, eps
        Where they are not the family's; see `Family`.
    """

    role: str
    name: str
    width: str = "d"
    bias: bool = False
    has_weight: bool = True
    formula: str
    layers: str = "all"
    stack: str = ""
    optional: bool = False
    unless: str = ""
    arithmetic: str = ""
    form: str = ""
    eps: float | None = None


@dataclass(frozen=True, kw_only=True)
class Family:
    r"""A family of models, as the transformers library builds it from its default config.

    Attributes
    ----------
    id
        The `model_type` of the config; a variant has its own ("opt_350m").
    label
        Its name.
    norm
        "layer_norm" or "rms_norm".
    arithmetic
        In which order it is cast and multiplied: an id of `normviz.floats.ARITHMETICS` for RMSNorm; for LayerNorm
        "layer_norm" (`torch.nn.LayerNorm`), "cohere" (in float32 with the weight, then cast) or "olmo" (in float32
        without a weight, then cast).
    form
        What multiplies: "w", "1+w" or "none".
    eps
        The default of the config, in units of the stream squared; what released checkpoints use is in `released`.
    placement
        An id of `normviz.placements.PLACEMENTS`, or "parallel_two".
    attention, feed_forward, cross_attention
        The wirings of a layer's sublayers, in this order: attention, cross-attention (of a decoder that has it),
        feed-forward.
    gate
        What the wirings' `at.gate` is in this family (an English message); "" where they do not use it.
    qk_norm
        None, "head" (each head by itself, before the rotation), "projection" (the whole projection, before the heads
        are split) or "after_rope" (each head by itself, after the rotation).
    sites
        Its norms: those of a layer in call order, then those outside.
    traps
        What a port gets wrong (English messages).
    by_config
        What no name tells, because the config decides it (an English message); "" where the names tell all.
    released
        How released checkpoints differ from the default config (an English message); "" where nothing is known.
    source
        Where it can be read: a module of transformers 5.24.0.
    """

    id: str
    label: str
    norm: str
    arithmetic: str
    form: str
    eps: float
    placement: str
    attention: Function
    feed_forward: Function
    cross_attention: Function | None = None
    gate: str = ""
    qk_norm: str | None = None
    sites: tuple[NormSite, ...]
    traps: tuple[str, ...] = ()
    by_config: str = ""
    released: str = ""
    source: str

    @property
    def embedding_norm(self) -> bool:
        """Whether a norm follows the embedding."""
        return any(site.role == "embedding" for site in self.sites)

    @property
    def final_norm(self) -> bool:
        """Whether a norm follows the last layer."""
        return any(site.role == "final" for site in self.sites)

    @property
    def names(self) -> Mapping[str, str]:
        """Role -> module name, of the first norm with that role that the default config has; "other" is left out."""
        found: dict[str, str] = {}
        for site in self.sites:
            if not site.optional and site.role != "other":
                found.setdefault(site.role, site.name)
        return MappingProxyType(found)

    @property
    def stream_sites(self) -> tuple[NormSite, ...]:
        """The norms of a layer in the order in which the wirings of its sublayers ask for them.

        A family with two stacks shows the last one, which has all sublayers.
        """
        last = self.sites[-1].stack
        return tuple(
            site
            for site in self.sites
            if site.layers != "once" and site.stack == last and not site.optional and site.role in _WIRED
        )


_WIRED = (
    "attention_in",
    "attention_out",
    "post_attention",
    "cross_in",
    "mlp_in",
    "mlp_out",
    "post_mlp",
    "shared_in",
)
