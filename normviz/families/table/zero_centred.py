"""Which families are Gemma's, or take over its norm that multiplies by 1 + w?"""

from __future__ import annotations

from typing import Any

from normviz.families.record import Family, NormSite
from normviz.families.table.sites import (
    ATTENTION_IN,
    ATTENTION_OUT,
    FINAL,
    LAYERS,
    MISNAMED_MLP_IN,
    MLP_IN,
    MLP_OUT,
    in_layer,
    k_norm,
    once,
    q_norm,
)
from normviz.families.table.traps import (
    HEAD_QK,
    LINEAR_ATTENTION,
    MISNAMED,
    NOT_ZERO_CENTRED,
    SANDWICH_NAME,
    SCALED_EMBEDDING,
    SHARED_KEYS,
    V_NORM,
    ZERO_CENTRED,
)
from normviz.families.wirings import scaled_layer, with_side_path
from normviz.placements.wirings import pre_norm, sandwich_norm
from normviz.text import N_


def _zero_centred(id: str, label: str, sites: tuple[NormSite, ...], **changes: Any) -> Family:
    return Family(
        **{
            "id": id,
            "label": label,
            "norm": "rms_norm",
            "arithmetic": "gemma",
            "form": "1+w",
            "eps": 1e-6,
            "placement": "pre_norm",
            "attention": pre_norm,
            "feed_forward": pre_norm,
            "sites": sites,
            "source": f"transformers.models.{id}.modeling_{id}",
            **changes,
        }
    )


_SANDWICHED = {"placement": "sandwich_norm", "attention": sandwich_norm, "feed_forward": sandwich_norm}
_V_NORM = in_layer(
    LAYERS,
    "v",
    "self_attn.v_norm",
    width="head",
    has_weight=False,
    arithmetic="gemma3n",
    form="none",
    layers="own_keys",
)
_EXTRA_IN = in_layer(
    LAYERS, "other", "post_per_layer_input_norm", formula=r"W(\phi(W'x)\odot p_l)", layers="per_layer_input"
)
_EXTRA_TABLE = once("other", "model.per_layer_projection_norm", width="per_layer_input", formula="eW_p")

_LINEAR = in_layer(
    LAYERS,
    "other",
    "linear_attn.norm",
    width="value_head",
    layers="linear",
    unless="self_attn.",
    arithmetic="cast_then_multiply",
    form="w",
    formula=r"\mathrm{LinearAtt}(\mathrm{N}(x))",
)
_HYBRID = (
    ATTENTION_IN,
    _LINEAR,
    q_norm(layers="attention", unless="linear_attn."),
    k_norm(layers="attention", unless="linear_attn."),
    MISNAMED_MLP_IN,
    FINAL,
)

ZERO_CENTRED_FAMILIES: tuple[Family, ...] = (
    _zero_centred(
        "qwen3_next",
        "Qwen3-Next",
        _HYBRID,
        qk_norm="head",
        traps=(MISNAMED, ZERO_CENTRED, LINEAR_ATTENTION),
    ),
    _zero_centred(
        "qwen3_5",
        "Qwen3.5",
        _HYBRID,
        qk_norm="head",
        traps=(MISNAMED, ZERO_CENTRED, LINEAR_ATTENTION),
    ),
    _zero_centred(
        "gemma",
        "Gemma",
        (ATTENTION_IN, MISNAMED_MLP_IN, FINAL),
        traps=(
            MISNAMED,
            ZERO_CENTRED,
            SCALED_EMBEDDING,
            N_("Its names are Llama's: no key says that the weights are stored without their 1."),
        ),
    ),
    _zero_centred(
        "gemma2",
        "Gemma 2",
        (ATTENTION_IN, ATTENTION_OUT, MLP_IN, MLP_OUT, FINAL),
        traps=(SANDWICH_NAME, ZERO_CENTRED, SCALED_EMBEDDING),
        **_SANDWICHED,
    ),
    _zero_centred(
        "gemma3",
        "Gemma 3",
        (ATTENTION_IN, q_norm(), k_norm(), ATTENTION_OUT, MLP_IN, MLP_OUT, FINAL),
        qk_norm="head",
        traps=(SANDWICH_NAME, ZERO_CENTRED, HEAD_QK, SCALED_EMBEDDING),
        **_SANDWICHED,
    ),
    _zero_centred(
        "gemma3n",
        "Gemma 3n",
        (
            in_layer(LAYERS, "other", "altup.router_norm"),
            ATTENTION_IN,
            in_layer(LAYERS, "other", "laurel.post_laurel_norm", formula=r"W_r W_l\,\mathrm{N}(x)"),
            q_norm(),
            k_norm(layers="own_keys"),
            _V_NORM,
            ATTENTION_OUT,
            MLP_IN,
            MLP_OUT,
            _EXTRA_IN,
            _EXTRA_TABLE,
            FINAL,
        ),
        arithmetic="gemma3n",
        form="w",
        qk_norm="head",
        placement="sandwich_norm",
        attention=with_side_path,
        feed_forward=sandwich_norm,
        gate=N_("LAuReL, a narrow path beside attention: what it reads plus a norm of its product with two matrices"),
        traps=(
            NOT_ZERO_CENTRED,
            SANDWICH_NAME,
            V_NORM,
            SHARED_KEYS,
            N_(
                "Four streams run side by side (AltUp): a layer predicts all of them, runs on one and corrects the "
                "others; the router that does so and the extra input of each layer have norms of their own."
            ),
        ),
    ),
    _zero_centred(
        "gemma4",
        "Gemma 4",
        (
            ATTENTION_IN,
            q_norm(),
            k_norm(layers="own_keys"),
            _V_NORM,
            ATTENTION_OUT,
            MLP_IN,
            *(
                in_layer(LAYERS, "other", f"{name}_feedforward_layernorm_{number}", optional=True)
                for name, number in (("post", 1), ("pre", 2), ("post", 2))
            ),
            MLP_OUT,
            _EXTRA_IN,
            _EXTRA_TABLE,
            FINAL,
        ),
        arithmetic="gemma3n",
        form="w",
        qk_norm="head",
        placement="sandwich_norm",
        attention=sandwich_norm,
        feed_forward=scaled_layer,
        gate=N_("layer_scalar, one number per layer that is no parameter but a buffer; it starts at 1"),
        traps=(
            NOT_ZERO_CENTRED,
            SANDWICH_NAME,
            V_NORM,
            SHARED_KEYS,
            N_("The whole stream is multiplied by layer_scalar at the end of a layer, the identity path as well."),
            N_(
                "Layers with full attention have wider heads (global_head_dim), so that q_norm and k_norm are longer "
                "there."
            ),
        ),
    ),
)
