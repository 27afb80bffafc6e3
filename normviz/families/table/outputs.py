"""Which families normalize what a sublayer puts out?"""

from __future__ import annotations

from typing import Any

from normviz.families.record import Family
from normviz.families.table.sites import (
    ATTENTION_IN,
    FINAL,
    LAYERS,
    PLAIN_ATTENTION_OUT,
    PLAIN_MLP_OUT,
    in_layer,
    k_norm,
    q_norm,
)
from normviz.families.table.traps import HEAD_QK, MISNAMED, NO_INPUT_NORM, PRE_CAST, PROJECTION_QK
from normviz.placements.wirings import output_norm, sandwich_norm
from normviz.text import N_


def _output_only(id: str, label: str, width: str, key_width: str, **changes: Any) -> Family:
    """A family whose only norms on the stream's way are on the sublayers' outputs."""
    return Family(
        **{
            "id": id,
            "label": label,
            "norm": "rms_norm",
            "arithmetic": "multiply_then_cast",
            "form": "w",
            "eps": 1e-5,
            "placement": "output_norm",
            "attention": output_norm,
            "feed_forward": output_norm,
            "qk_norm": "projection",
            "sites": (q_norm(width), k_norm(key_width), PLAIN_ATTENTION_OUT, PLAIN_MLP_OUT, FINAL),
            "traps": (NO_INPUT_NORM, PROJECTION_QK, PRE_CAST),
            "source": f"transformers.models.{id}.modeling_{id}",
            **changes,
        }
    )


OUTPUTS: tuple[Family, ...] = (
    _output_only(
        "olmo2",
        "OLMo 2",
        "heads",
        "kv_heads",
        released=N_("OLMo 2 was released with eps 1e-6; the config's default is 1e-5."),
    ),
    _output_only("olmo3", "OLMo 3", "heads", "kv_heads"),
    _output_only(
        "exaone4",
        "EXAONE 4",
        "head",
        "head",
        arithmetic="cast_then_multiply",
        qk_norm="head",
        traps=(
            NO_INPUT_NORM,
            HEAD_QK,
            N_("Its names are those of OLMo 2; only the lengths of q_norm and k_norm tell the two apart."),
        ),
    ),
    Family(
        id="glm4",
        label="GLM-4",
        norm="rms_norm",
        arithmetic="cast_then_multiply",
        form="w",
        eps=1.5625e-7,
        placement="sandwich_norm",
        attention=sandwich_norm,
        feed_forward=sandwich_norm,
        sites=(
            ATTENTION_IN,
            in_layer(LAYERS, "attention_out", "post_self_attn_layernorm", formula=r"\mathrm{Att}(\mathrm{N}(x))"),
            in_layer(LAYERS, "mlp_in", "post_attention_layernorm"),
            in_layer(LAYERS, "mlp_out", "post_mlp_layernorm", formula=r"\mathrm{FFN}(\mathrm{N}(h))"),
            FINAL,
        ),
        traps=(
            MISNAMED,
            N_("The norms of the outputs are post_self_attn_layernorm and post_mlp_layernorm."),
            N_("eps is 1.5625e-7: a port that takes the usual 1e-6 or 1e-5 differs where the stream is small."),
        ),
        source="transformers.models.glm4.modeling_glm4",
    ),
)
