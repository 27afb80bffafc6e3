"""Which keys beside the norms' own tell families apart whose norms have the same names?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_GATED = ("mlp.gate_proj.", "self_attn.q_proj.")
_GEMMA_OWN = ("layer_scalar", "altup.")
_EXPERTS = ("mlp.experts.", "e_score_correction_bias", "self_attn.sinks", "feed_forward.")
_WHOLE_LAYER = tuple(f"self_attn.{part}_proj." for part in "qkvo") + tuple(
    f"mlp.{part}_proj." for part in ("gate", "up", "down")
)
_CROSS = ("encoder_attn.",)
_ADAPTER = ("lora_",)  # an adapter's file has no norms, whatever it adapts

SIGNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "llama": (_GATED, ("self_attn.q_proj.bias", *_EXPERTS)),
        "mistral": (_GATED, ("self_attn.q_proj.bias", *_EXPERTS)),
        "qwen2": (("self_attn.q_proj.bias", "mlp.gate_proj."), ("self_attn.o_proj.bias", *_EXPERTS)),
        "qwen3": (_GATED, ("linear_attn.", *_EXPERTS)),
        "glm4_moe": (("e_score_correction_bias", "self_attn.q_proj."), ()),
        "gpt_oss": (("self_attn.sinks",), ()),
        "llama4": (("feed_forward.", "self_attn.q_proj."), ()),
        "deepseek_v3": (("self_attn.kv_b_proj.",), ()),
        "granite": (_GATED, ("self_attn.q_proj.bias", *_EXPERTS)),
        "phi3": (("self_attn.qkv_proj.",), ()),
        "qwen3_next": (("linear_attn.in_proj_qkvz.",), ()),
        "qwen3_5": (("linear_attn.in_proj_qkv.",), ()),
        "gemma": (_GATED, ("self_attn.q_proj.bias", *_EXPERTS)),
        "gemma2": (_GATED, _GEMMA_OWN),
        "gemma3": (_GATED, _GEMMA_OWN),
        "gemma3n": (("altup.",), ()),
        "gemma4": (("layer_scalar",), ()),
        "olmo2": (_GATED, _EXPERTS),
        "olmo3": (_GATED, _EXPERTS),
        "exaone4": (_GATED, _EXPERTS),
        "glm4": (("mlp.gate_up_proj.", "self_attn.q_proj."), ()),
        "gpt2": (("attn.c_attn.",), ()),
        "bert": (("intermediate.dense.",), ("lm_head.dense.", "roberta.")),
        "roberta": (("intermediate.dense.",), ("cls.predictions.", "|bert.")),
        "t5": (("SelfAttention.",), ()),
        "opt": (("fc1.", "self_attn.out_proj."), ("decoder.project_in.", *_CROSS)),
        "opt_350m": (("decoder.project_in.", "self_attn.out_proj."), _CROSS),
        "bloom": (("self_attention.query_key_value.",), ()),
        "gpt_neox": (("attention.query_key_value.",), ()),
        "stablelm": (_GATED, ()),
        "stablelm_parallel": (_GATED, ()),
        "modernbert": (("attn.Wqkv.",), ()),
        "olmo": (_WHOLE_LAYER, ("self_attn.q_proj.bias", *_EXPERTS, *_ADAPTER)),
        "nanochat": ((*_WHOLE_LAYER[:4], "mlp.fc1.", "mlp.fc2."), ("mlp.fc1.bias", *_ADAPTER)),
        "phi": (("self_attn.dense.", "mlp.fc1."), ()),
        "cohere": (_GATED, _EXPERTS),
        "cohere2": (_GATED, _EXPERTS),
    }
)
"""Family -> parts of keys that its checkpoints have, and parts that they do not have; "|" stands for a key's start."""
