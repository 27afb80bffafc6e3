"""Which families run attention and feed-forward side by side?"""

from __future__ import annotations

from typing import Any

from normviz.families.record import Family, NormSite
from normviz.families.table.sites import FINAL, LAYERS, in_layer, once
from normviz.families.wirings import parallel_two_attention, parallel_two_feed_forward
from normviz.placements.wirings import parallel_attention, parallel_feed_forward
from normviz.text import N_


def _parallel(id: str, label: str, *sites: NormSite, **changes: Any) -> Family:
    return Family(
        **{
            "id": id,
            "label": label,
            "norm": "layer_norm",
            "arithmetic": "layer_norm",
            "form": "w",
            "eps": 1e-5,
            "placement": "parallel",
            "attention": parallel_attention,
            "feed_forward": parallel_feed_forward,
            "sites": sites,
            "source": f"transformers.models.{id}.modeling_{id}",
            **changes,
        }
    )


_SHARED = N_("One norm serves both sublayers: there is no second norm in a layer.")
_NO_BIAS = N_("A LayerNorm that subtracts the mean and has no bias: its keys look like those of RMSNorm.")

PARALLEL: tuple[Family, ...] = (
    _parallel(
        "gpt_neox",
        "GPT-NeoX",
        in_layer("gpt_neox.layers", "attention_in", "input_layernorm", bias=True),
        in_layer("gpt_neox.layers", "mlp_in", "post_attention_layernorm", bias=True, formula="x"),
        once("final", "gpt_neox.final_layer_norm", bias=True),
        placement="parallel_two",
        attention=parallel_two_attention,
        feed_forward=parallel_two_feed_forward,
        traps=(N_("post_attention_layernorm reads the same x as input_layernorm: attention is not added before it."),),
        by_config=N_("With use_parallel_residual false in the config the layer is Pre-Norm, under the same names."),
    ),
    _parallel(
        "phi",
        "Phi",
        in_layer(LAYERS, "shared_in", "input_layernorm", bias=True),
        *(
            in_layer(LAYERS, role, f"self_attn.{role}_layernorm", width="head", bias=True, optional=True)
            for role in "qk"
        ),
        once("final", "model.final_layernorm", bias=True),
        traps=(_SHARED,),
    ),
    _parallel(
        "cohere",
        "Command R (Cohere)",
        in_layer(LAYERS, "shared_in", "input_layernorm"),
        in_layer(LAYERS, "q", "self_attn.q_norm", width="heads", optional=True),
        in_layer(LAYERS, "k", "self_attn.k_norm", width="kv_heads", optional=True),
        FINAL,
        arithmetic="cohere",
        traps=(
            _SHARED,
            _NO_BIAS,
            N_("With use_qk_norm each head has a weight of its own: q_norm has shape [heads, head size]."),
        ),
    ),
    _parallel(
        "cohere2",
        "Command A (Cohere 2)",
        in_layer(LAYERS, "shared_in", "input_layernorm"),
        FINAL,
        arithmetic="cohere",
        traps=(_SHARED, _NO_BIAS),
    ),
)
