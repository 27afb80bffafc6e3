"""Which mistakes wait in several families alike?"""

from __future__ import annotations

from normviz.text import N_

MISNAMED = N_(
    "post_attention_layernorm is the norm before the feed-forward sublayer: it is applied after attention was added, "
    "on the way into the next sublayer, and not to attention's output."
)
ZERO_CENTRED = N_(
    "The stored weight is w, starting at 0, and what multiplies is 1 + w: code that loads it as the scale itself is "
    "off by 1 in every entry. Weight decay pulls the scale toward 1."
)
NOT_ZERO_CENTRED = N_(
    "Unlike Gemma, Gemma 2 and Gemma 3, the stored weight is the scale itself and starts at 1: adding 1 doubles it."
)
SCALED_EMBEDDING = N_("The embedding is multiplied by the root of d before the first norm.")
HEAD_QK = N_("q_norm and k_norm have one weight of the size of a head, shared by all heads, and come before RoPE.")
PROJECTION_QK = N_(
    "q_norm and k_norm run over the whole projection before it is split into heads: their mean square mixes the heads, "
    "and with fewer key heads than query heads the two weights have different lengths."
)
PRE_CAST = N_(
    "The product with the weight is computed in float32 and cast afterwards; Llama's order, cast first, gives other "
    "bits in bfloat16."
)
NO_INPUT_NORM = N_(
    "There is no input_layernorm: attention and feed-forward read the raw stream, and post_attention_layernorm and "
    "post_feedforward_layernorm act on their outputs."
)
SANDWICH_NAME = N_(
    "post_attention_layernorm acts on attention's output, before the addition. In Llama the same name stands for the "
    "norm before the feed-forward sublayer, which is pre_feedforward_layernorm here."
)
V_NORM = N_("The values are normalized too, by a norm without a weight: v_norm has no key in the checkpoint.")
SHARED_KEYS = N_(
    "Layers that take over keys and values of a lower layer (num_kv_shared_layers) have a q_norm and no k_norm."
)
TINY_EPS = N_(
    "eps is 1e-12, which is 0 in float16: a norm computed in float16 throughout divides a constant vector by 0."
)
EMBEDDING_NORM = N_("A norm follows the embedding, and none the last layer, whose own last step is a norm.")
OLD_NAMES = N_("Old checkpoints call weight and bias of a LayerNorm gamma and beta.")
LINEAR_ATTENTION = N_(
    "Most layers have linear attention, whose own norm (linear_attn.norm) multiplies with a gate and by its weight "
    "itself, starting at 1, not by 1 + w; q_norm and k_norm are only in the other layers."
)
LATENT_EPS = N_("q_a_layernorm and kv_a_layernorm always use eps 1e-6, whatever rms_norm_eps of the config says.")
AFTER_ROPE = N_("Queries and keys are normalized after RoPE, not before, and without a weight.")
FLOAT32_OUT = N_("Weights kept in float32 make this norm's output float32, even where the stream is bfloat16.")
