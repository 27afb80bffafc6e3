"""Which families have Llama's wiring and Llama's order of operations?"""

from __future__ import annotations

from typing import Any

from normviz.families.record import Family, NormSite
from normviz.families.table.sites import ATTENTION_IN, FINAL, LAYERS, MISNAMED_MLP_IN, in_layer, k_norm, q_norm
from normviz.families.table.traps import FLOAT32_OUT, HEAD_QK, LATENT_EPS, MISNAMED, PRE_CAST
from normviz.families.wirings import scaled_branch
from normviz.placements.wirings import pre_norm
from normviz.text import N_

PRE = (ATTENTION_IN, MISNAMED_MLP_IN, FINAL)


def _plain(id: str, label: str, *inner: NormSite, cautions: tuple[str, ...] = (), **changes: Any) -> Family:
    """A family wired as Llama; `inner` are the norms inside attention."""
    return Family(
        **{
            "id": id,
            "label": label,
            "norm": "rms_norm",
            "arithmetic": "cast_then_multiply",
            "form": "w",
            "eps": 1e-6,
            "placement": "pre_norm",
            "attention": pre_norm,
            "feed_forward": pre_norm,
            "sites": (ATTENTION_IN, *inner, MISNAMED_MLP_IN, FINAL),
            "traps": (MISNAMED, *cautions),
            "source": f"transformers.models.{id}.modeling_{id}",
            **changes,
        }
    )


PLAIN: tuple[Family, ...] = (
    _plain(
        "llama",
        "Llama",
        cautions=(FLOAT32_OUT,),
        released=N_("Llama 2 and Llama 3 use eps 1e-5; the config's default is 1e-6."),
    ),
    _plain("mistral", "Mistral", released=N_("Mistral 7B uses eps 1e-5; the config's default is 1e-6.")),
    _plain("qwen2", "Qwen2", cautions=(N_("Queries, keys and values have biases; the norms have none."),)),
    _plain("qwen3", "Qwen3", q_norm(), k_norm(), qk_norm="head", cautions=(HEAD_QK,)),
    _plain(
        "glm4_moe",
        "GLM-4 MoE",
        q_norm(optional=True),
        k_norm(optional=True),
        eps=1e-5,
        cautions=(N_("q_norm and k_norm exist only where the config sets use_qk_norm; its default is off."),),
    ),
    _plain(
        "gpt_oss",
        "gpt-oss",
        arithmetic="multiply_then_cast",
        eps=1e-5,
        cautions=(PRE_CAST,),
    ),
    _plain(
        "llama4",
        "Llama 4",
        in_layer(
            LAYERS,
            "q",
            "self_attn.qk_norm",
            width="head",
            has_weight=False,
            arithmetic="no_weight",
            form="none",
            layers="rope",
            formula=r"\mathrm{RoPE}(q),\ \mathrm{RoPE}(k)",
        ),
        qk_norm="after_rope",
        eps=1e-5,
        cautions=(
            N_(
                "Queries and keys share one norm without a weight, qk_norm: it comes after RoPE, exists only in layers "
                "with RoPE, and is called an L2 norm although it divides by the root mean square."
            ),
        ),
        released=N_("Llama 4 Maverick (128 experts) has no norm of queries and keys (use_qk_norm is false)."),
    ),
    _plain(
        "deepseek_v3",
        "DeepSeek-V3",
        in_layer(LAYERS, "q_latent", "self_attn.q_a_layernorm", width="q_rank", unless="self_attn.q_proj.", eps=1e-6),
        in_layer(LAYERS, "kv_latent", "self_attn.kv_a_layernorm", width="kv_rank", eps=1e-6),
        cautions=(
            LATENT_EPS,
            N_("Released checkpoints have one more layer for multi-token prediction, with norms enorm and hnorm."),
        ),
    ),
    _plain(
        "granite",
        "Granite",
        attention=scaled_branch,
        feed_forward=scaled_branch,
        gate=N_("residual_multiplier, one number of the config for all branches; its default is 1"),
        cautions=(
            N_(
                "Each branch is multiplied by residual_multiplier of the config before it is added; its names are "
                "Llama's, so that no key tells the two apart."
            ),
        ),
    ),
    _plain("phi3", "Phi-3", eps=1e-5),
)
