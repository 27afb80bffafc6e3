"""How does a test turn the package's arrays into PyTorch's, and find a class of transformers?"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import torch

TYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float8_e4m3": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
}

MODELS = {
    "LlamaRMSNorm": "llama",
    "MistralRMSNorm": "mistral",
    "Qwen2RMSNorm": "qwen2",
    "Qwen3RMSNorm": "qwen3",
    "Phi3RMSNorm": "phi3",
    "Glm4RMSNorm": "glm4",
    "Glm4MoeRMSNorm": "glm4_moe",
    "DeepseekV3RMSNorm": "deepseek_v3",
    "GraniteRMSNorm": "granite",
    "Exaone4RMSNorm": "exaone4",
    "Llama4TextRMSNorm": "llama4",
    "T5LayerNorm": "t5",
    "Olmo2RMSNorm": "olmo2",
    "Olmo3RMSNorm": "olmo3",
    "GptOssRMSNorm": "gpt_oss",
    "GemmaRMSNorm": "gemma",
    "Gemma2RMSNorm": "gemma2",
    "Gemma3RMSNorm": "gemma3",
    "Qwen3NextRMSNorm": "qwen3_next",
    "Qwen3_5RMSNorm": "qwen3_5",
    "Gemma3nRMSNorm": "gemma3n",
    "Gemma4RMSNorm": "gemma4",
    "Llama4TextL2Norm": "llama4",
    "NanoChatRMSNorm": "nanochat",
}
"""Class -> the model of transformers that it belongs to."""


def norm_class(name: str) -> Any:
    """The class of transformers."""
    model = MODELS[name]
    return getattr(importlib.import_module(f"transformers.models.{model}.modeling_{model}"), name)


def norm_module(name: str, d: int, eps: float) -> Any:
    """A module of that class; those without a weight take no size."""
    try:
        return norm_class(name)(d, eps=eps)
    except TypeError:
        return norm_class(name)(eps=eps)


def tensor(x: np.ndarray, format: str) -> torch.Tensor:
    """x as PyTorch holds it in a format, rounded once."""
    return torch.from_numpy(np.asarray(x, dtype=np.float32)).to(TYPES[format])


def array(x: torch.Tensor) -> np.ndarray:
    """What a tensor holds, as float64."""
    return x.detach().double().numpy()
