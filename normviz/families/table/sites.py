"""Which norms come again and again in the families, under which names?"""

from __future__ import annotations

from typing import Any

from normviz.families.record import NormSite

_APPLIED_TO = {
    "embedding": "e",
    "attention_in": "x",
    "q_latent": r"\mathrm{N}(x)W_{Q,\mathrm{down}}",
    "kv_latent": r"\mathrm{N}(x)W_{KV,\mathrm{down}}",
    "q": "q",
    "k": "k",
    "v": "v",
    "cross_in": "x + \\mathrm{Att}(\\mathrm{N}(x))",
    "mlp_in": "h",
    "post_attention": r"x + \mathrm{Att}(x)",
    "post_mlp": r"h + \mathrm{FFN}(h)",
    "shared_in": "x",
    "final": "x_L",
    "prediction": r"\phi(x_L W)",
}
INPUT, OUTPUT = r"\mathrm{N}(x)", r"x"


def in_layer(container: str, role: str, name: str, **changes: Any) -> NormSite:
    """A norm of each layer; `container` is the module list, such as "model.layers"."""
    return NormSite(role=role, name=f"{container}.{{i}}.{name}", **{"formula": _APPLIED_TO.get(role, "x"), **changes})


def once(role: str, name: str, **changes: Any) -> NormSite:
    """A norm outside the layers."""
    return NormSite(role=role, name=name, layers="once", **{"formula": _APPLIED_TO.get(role, "x"), **changes})


LAYERS = "model.layers"
FINAL = once("final", "model.norm")
ATTENTION_IN = in_layer(LAYERS, "attention_in", "input_layernorm")
MISNAMED_MLP_IN = in_layer(LAYERS, "mlp_in", "post_attention_layernorm")
ATTENTION_OUT = in_layer(LAYERS, "attention_out", "post_attention_layernorm", formula=r"\mathrm{Att}(\mathrm{N}(x))")
MLP_IN = in_layer(LAYERS, "mlp_in", "pre_feedforward_layernorm")
MLP_OUT = in_layer(LAYERS, "mlp_out", "post_feedforward_layernorm", formula=r"\mathrm{FFN}(\mathrm{N}(h))")
PLAIN_ATTENTION_OUT = in_layer(LAYERS, "attention_out", "post_attention_layernorm", formula=r"\mathrm{Att}(x)")
PLAIN_MLP_OUT = in_layer(LAYERS, "mlp_out", "post_feedforward_layernorm", formula=r"\mathrm{FFN}(h)")

SANDWICH = (MLP_IN, MLP_OUT)


def q_norm(width: str = "head", **changes: Any) -> NormSite:
    """The norm of the queries, `self_attn.q_norm`."""
    return in_layer(LAYERS, "q", "self_attn.q_norm", **{"width": width, **changes})


def k_norm(width: str = "head", **changes: Any) -> NormSite:
    """The norm of the keys, `self_attn.k_norm`."""
    return in_layer(LAYERS, "k", "self_attn.k_norm", **{"width": width, **changes})
