"""Which tiny transformers model stands for each family? Built from its config alone; nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers

LAYERS, D, HEADS, KV_HEADS, HEAD_DIM = 3, 32, 4, 2, 6
"""Sizes that no two roles share: d is not heads times head_dim, nor are the key heads the query heads."""

Q_RANK, KV_RANK = 10, 14

_COMMON: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": D,
    "intermediate_size": 24,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_GROUPED = {**_COMMON, "num_key_value_heads": KV_HEADS}
_HEAD = {**_GROUPED, "head_dim": HEAD_DIM}
_LINEAR = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 5,
    "linear_value_head_dim": 7,
    "layer_types": ["linear_attention", "full_attention", "full_attention"],
}
_EXPERTS = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 8,
    "shared_expert_intermediate_size": 8,
}
_ROUTED = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "n_group": 1, "topk_group": 1}

CASES: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", _HEAD),
    "mistral": ("MistralForCausalLM", "MistralConfig", _HEAD),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", _GROUPED),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", _HEAD),
    "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3NextConfig", {**_HEAD, **_LINEAR, **_EXPERTS}),
    "qwen3_5": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", {**_HEAD, **_LINEAR}),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", _HEAD),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", _HEAD),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", _HEAD),
    "gemma3n": (
        "Gemma3nForCausalLM",
        "Gemma3nTextConfig",
        {
            **_HEAD,
            "vocab_size_per_layer_input": 40,
            "hidden_size_per_layer_input": 8,
            "laurel_rank": 4,
            "num_kv_shared_layers": 0,
            "activation_sparsity_pattern": [0.0] * LAYERS,
            "layer_types": ["full_attention"] * LAYERS,
        },
    ),
    "gemma4": (
        "Gemma4ForCausalLM",
        "Gemma4TextConfig",
        {
            **_HEAD,
            "global_head_dim": HEAD_DIM,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": 40,
            "num_kv_shared_layers": 0,
        },
    ),
    "olmo": ("OlmoForCausalLM", "OlmoConfig", _GROUPED),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", _GROUPED),
    "olmo3": ("Olmo3ForCausalLM", "Olmo3Config", _GROUPED),
    "exaone4": ("Exaone4ForCausalLM", "Exaone4Config", _HEAD),
    "glm4": ("Glm4ForCausalLM", "Glm4Config", _HEAD),
    "glm4_moe": ("Glm4MoeForCausalLM", "Glm4MoeConfig", {**_HEAD, **_ROUTED, "first_k_dense_replace": 1}),
    "gpt_oss": (
        "GptOssForCausalLM",
        "GptOssConfig",
        {**_HEAD, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "llama4": (
        "Llama4ForCausalLM",
        "Llama4TextConfig",
        {**_HEAD, "intermediate_size_mlp": 24, "num_local_experts": 2, "attention_chunk_size": 16},
    ),
    "nanochat": ("NanoChatForCausalLM", "NanoChatConfig", _GROUPED),
    "deepseek_v3": (
        "DeepseekV3ForCausalLM",
        "DeepseekV3Config",
        {
            **_COMMON,
            **_ROUTED,
            "num_key_value_heads": HEADS,
            "q_lora_rank": Q_RANK,
            "kv_lora_rank": KV_RANK,
            "qk_rope_head_dim": 4,
            "qk_nope_head_dim": 6,
            "v_head_dim": 6,
            "first_k_dense_replace": 1,
        },
    ),
    "granite": ("GraniteForCausalLM", "GraniteConfig", _GROUPED),
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"vocab_size": 40, "n_embd": D, "n_layer": LAYERS, "n_head": HEADS, "n_positions": 32, "n_inner": 24},
    ),
    "bert": ("BertForMaskedLM", "BertConfig", _COMMON),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", _COMMON),
    "t5": (
        "T5ForConditionalGeneration",
        "T5Config",
        {"vocab_size": 40, "d_model": D, "d_kv": HEAD_DIM, "d_ff": 24, "num_layers": LAYERS, "num_heads": HEADS},
    ),
    "opt": (
        "OPTForCausalLM",
        "OPTConfig",
        {**_COMMON, "ffn_dim": 24, "word_embed_proj_dim": D},
    ),
    "opt_350m": (
        "OPTForCausalLM",
        "OPTConfig",
        {**_COMMON, "ffn_dim": 24, "word_embed_proj_dim": 20, "do_layer_norm_before": False},
    ),
    "bloom": (
        "BloomForCausalLM",
        "BloomConfig",
        {"vocab_size": 40, "hidden_size": D, "n_layer": LAYERS, "n_head": HEADS},
    ),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", _COMMON),
    "phi": ("PhiForCausalLM", "PhiConfig", _GROUPED),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", _GROUPED),
    "cohere": ("CohereForCausalLM", "CohereConfig", _GROUPED),
    "cohere2": ("Cohere2ForCausalLM", "Cohere2Config", _HEAD),
    "stablelm": ("StableLmForCausalLM", "StableLmConfig", _GROUPED),
    "stablelm_parallel": ("StableLmForCausalLM", "StableLmConfig", {**_GROUPED, "use_parallel_residual": True}),
    "modernbert": ("ModernBertForMaskedLM", "ModernBertConfig", _COMMON),
}
"""Family -> its model's class, its config's class and the config's arguments."""


def tiny(family: str, *, seed: int = 0, **changes: Any) -> Any:
    """A tiny model of the family in evaluation mode, float32; `changes` go into its config."""
    model_class, config_class, arguments = CASES[family]
    torch.manual_seed(seed)
    config = getattr(transformers, config_class)(**{**arguments, **changes})
    return getattr(transformers, model_class)(config).eval()


VARIANTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "glm4_moe with QK-norm": ("glm4_moe", {"use_qk_norm": True}),
    "cohere with QK-norm": ("cohere", {"use_qk_norm": True}),
    "phi with QK-norm": ("phi", {"qk_layernorm": True}),
    "stablelm with QK-norm": ("stablelm", {"qk_layernorm": True}),
    "gpt2 with cross-attention": ("gpt2", {"add_cross_attention": True}),
    "gemma3n with shared keys": ("gemma3n", {"num_kv_shared_layers": 1}),
    "gemma4 with experts": (
        "gemma4",
        {"enable_moe_block": True, "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 8},
    ),
    "gemma4 without extra embedding": ("gemma4", {"hidden_size_per_layer_input": 0}),
    "deepseek_v3 with whole queries": ("deepseek_v3", {"q_lora_rank": None}),
    "gpt_neox in sequence": ("gpt_neox", {"use_parallel_residual": False}),
    "bloom with the norms on the stream": ("bloom", {"apply_residual_connection_post_layernorm": True}),
    "llama with a wide head": ("llama", {"head_dim": 16}),
}
"""Description -> family and what its config changes."""
