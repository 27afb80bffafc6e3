"""Which families keep LayerNorm, or store no weight at all, or are T5?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from normviz.families.record import Family, NormSite
from normviz.families.table.sites import ATTENTION_IN, FINAL, LAYERS, MISNAMED_MLP_IN, in_layer, once
from normviz.families.table.traps import AFTER_ROPE, EMBEDDING_NORM, MISNAMED, OLD_NAMES, TINY_EPS
from normviz.families.wirings import first_unnormed
from normviz.placements.wirings import parallel_attention, parallel_feed_forward, post_norm, pre_norm
from normviz.text import N_


def _layer_norm(id: str, label: str, *sites: NormSite, **changes: Any) -> Family:
    return Family(
        **{
            "id": id,
            "label": label,
            "norm": "layer_norm",
            "arithmetic": "layer_norm",
            "form": "w",
            "eps": 1e-5,
            "placement": "pre_norm",
            "attention": pre_norm,
            "feed_forward": pre_norm,
            "sites": sites,
            "source": f"transformers.models.{id}.modeling_{id}",
            **changes,
        }
    )


_POST = {"placement": "post_norm", "attention": post_norm, "feed_forward": post_norm}
_OPT = "model.decoder.layers"
_STABLE_QK = tuple(
    in_layer(LAYERS, role, f"self_attn.{role}_layernorm.norms.{{j}}", width="head", optional=True) for role in "qk"
)
_PER_HEAD = N_("With qk_layernorm each head has a norm of its own, with a weight and without a bias.")


def _bert(id: str, label: str, prediction: str, **changes: Any) -> Family:
    """BERT and RoBERTa: a norm on the stream after each addition."""
    layers = f"{id}.encoder.layer"
    return _layer_norm(
        id,
        label,
        in_layer(layers, "post_attention", "attention.output.LayerNorm", bias=True),
        in_layer(layers, "post_mlp", "output.LayerNorm", bias=True),
        once("embedding", f"{id}.embeddings.LayerNorm", bias=True),
        once("prediction", prediction, bias=True, optional=True),
        eps=1e-12,
        traps=(TINY_EPS, EMBEDDING_NORM, OLD_NAMES),
        **_POST,
        **changes,
    )


CLASSIC: tuple[Family, ...] = (
    _layer_norm(
        "gpt2",
        "GPT-2",
        in_layer("transformer.h", "attention_in", "ln_1", bias=True),
        in_layer("transformer.h", "cross_in", "ln_cross_attn", bias=True, optional=True),
        in_layer("transformer.h", "mlp_in", "ln_2", bias=True),
        once("final", "transformer.ln_f", bias=True),
        traps=(
            N_("ln_f, the norm after the last layer, is outside the list of layers and is easily left behind."),
            N_("The matrices of GPT-2 are stored transposed (Conv1D); its norms are not affected."),
        ),
    ),
    _bert("bert", "BERT", "cls.predictions.transform.LayerNorm"),
    _bert(
        "roberta",
        "RoBERTa",
        "lm_head.layer_norm",
        released=N_("RoBERTa was released with eps 1e-5; the config's default is BERT's 1e-12."),
    ),
    Family(
        id="t5",
        label="T5",
        norm="rms_norm",
        arithmetic="t5",
        form="w",
        eps=1e-6,
        placement="pre_norm",
        attention=pre_norm,
        cross_attention=pre_norm,
        feed_forward=pre_norm,
        sites=(
            *(
                in_layer(f"{stack}.block", role, f"layer.{number}.layer_norm", stack=stack)
                for stack, roles in (
                    ("encoder", ("attention_in", "mlp_in")),
                    ("decoder", ("attention_in", "cross_in", "mlp_in")),
                )
                for number, role in enumerate(roles)
            ),
            *(once("final", f"{stack}.final_layer_norm", stack=stack) for stack in ("encoder", "decoder")),
        ),
        traps=(
            N_("It is called T5LayerNorm and is an RMSNorm: no mean is subtracted, there is no bias."),
            N_("layer.1 is the feed-forward sublayer in the encoder and cross-attention in the decoder."),
            N_("Encoder and decoder have a final norm each."),
        ),
        source="transformers.models.t5.modeling_t5",
    ),
    _layer_norm(
        "opt",
        "OPT",
        in_layer(_OPT, "attention_in", "self_attn_layer_norm", bias=True),
        in_layer(_OPT, "mlp_in", "final_layer_norm", bias=True),
        once("final", "model.decoder.final_layer_norm", bias=True),
        traps=(
            N_(
                "final_layer_norm names two things: in each layer the norm of the feed-forward sublayer, and outside "
                "the layers the norm after the last one."
            ),
            N_("OPT-350m is the one size with Post-Norm (do_layer_norm_before is false)."),
        ),
    ),
    _layer_norm(
        "opt_350m",
        "OPT-350m",
        in_layer(_OPT, "post_attention", "self_attn_layer_norm", bias=True),
        in_layer(_OPT, "post_mlp", "final_layer_norm", bias=True),
        source="transformers.models.opt.modeling_opt",
        traps=(
            N_("The same names as in the other sizes of OPT, wired as Post-Norm: only the final norm is not there."),
        ),
        **_POST,
    ),
    _layer_norm(
        "bloom",
        "BLOOM",
        in_layer("transformer.h", "attention_in", "input_layernorm", bias=True),
        in_layer("transformer.h", "mlp_in", "post_attention_layernorm", bias=True),
        once("embedding", "transformer.word_embeddings_layernorm", bias=True),
        once("final", "transformer.ln_f", bias=True),
        traps=(MISNAMED,),
        by_config=N_(
            "With apply_residual_connection_post_layernorm in the config the stream starts after each norm, not "
            "before it, under the same names: then both norms sit on the identity path."
        ),
    ),
    _layer_norm(
        "stablelm",
        "StableLM",
        in_layer(LAYERS, "attention_in", "input_layernorm", bias=True),
        *_STABLE_QK,
        in_layer(LAYERS, "mlp_in", "post_attention_layernorm", bias=True),
        once("final", "model.norm", bias=True),
        traps=(MISNAMED, _PER_HEAD),
    ),
    _layer_norm(
        "stablelm_parallel",
        "StableLM (parallel)",
        in_layer(LAYERS, "shared_in", "input_layernorm", bias=True),
        *_STABLE_QK,
        once("final", "model.norm", bias=True),
        placement="parallel",
        attention=parallel_attention,
        feed_forward=parallel_feed_forward,
        traps=(
            N_(
                "With use_parallel_residual in the config attention and feed-forward share input_layernorm, and "
                "post_attention_layernorm does not exist."
            ),
            _PER_HEAD,
        ),
        source="transformers.models.stablelm.modeling_stablelm",
    ),
    _layer_norm(
        "modernbert",
        "ModernBERT",
        in_layer(LAYERS, "attention_in", "attn_norm", layers="not_first"),
        in_layer(LAYERS, "mlp_in", "mlp_norm"),
        once("embedding", "model.embeddings.norm", formula="e"),
        once("final", "model.final_norm"),
        once("prediction", "head.norm", optional=True),
        attention=first_unnormed,
        traps=(
            N_("Layer 0 has no attn_norm (an Identity stands there), because the embedding is normalized already."),
            N_("Its LayerNorms have no bias, so that their keys look like those of RMSNorm."),
        ),
    ),
    _layer_norm(
        "olmo",
        "OLMo",
        *(replace(site, has_weight=False) for site in (ATTENTION_IN, MISNAMED_MLP_IN, FINAL)),
        arithmetic="olmo",
        form="none",
        traps=(
            MISNAMED,
            N_("Its LayerNorms have neither weight nor bias: no key of a checkpoint shows them."),
            N_("eps is written into the code as 1e-5; the config has none."),
        ),
    ),
    _layer_norm(
        "nanochat",
        "nanochat",
        replace(ATTENTION_IN, has_weight=False),
        *(
            in_layer(
                LAYERS,
                role,
                f"self_attn.{role}_norm",
                width="head",
                has_weight=False,
                formula=rf"\mathrm{{RoPE}}({role})",
            )
            for role in "qk"
        ),
        replace(MISNAMED_MLP_IN, has_weight=False),
        once("embedding", "model.norm", has_weight=False),
        once("final", "model.norm", has_weight=False),
        norm="rms_norm",
        arithmetic="no_weight",
        form="none",
        eps=1e-6,
        qk_norm="after_rope",
        traps=(
            MISNAMED,
            AFTER_ROPE,
            N_("No norm has a weight: no key of a checkpoint shows them."),
            N_("model.norm runs twice, on the embedding and after the last layer."),
        ),
    ),
)
