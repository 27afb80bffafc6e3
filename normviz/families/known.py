"""How many of a published model's parameters are in its norms?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from normviz.families.counts import Sizes


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """A published model.

    Attributes
    ----------
    label
        Its proper name.
    family
        An id of `FAMILIES`.
    sizes
        What its norms depend on.
    total_params
        All parameters of the model, the embedding counted once where the output matrix is the same.
    source
        Where the sizes were read.
    """

    label: str
    family: str
    sizes: Sizes
    total_params: int
    source: str


def _model(
    label: str, family: str, layers: int, d: int, heads: tuple[int, int, int], total: int, source: str
) -> KnownModel:
    n_heads, n_kv_heads, head_dim = heads
    sizes = Sizes(n_layers=layers, d_model=d, n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim)
    return KnownModel(label=label, family=family, sizes=sizes, total_params=total, source=source)


_LITGPT = "litgpt/config.py"

KNOWN: Mapping[str, KnownModel] = MappingProxyType(
    {
        "gpt3": _model("GPT-3 175B", "gpt2", 96, 12288, (96, 96, 128), 174_604_259_328, "arXiv:2005.14165"),
        "gpt2": _model("GPT-2 small", "gpt2", 12, 768, (12, 12, 64), 124_439_808, "openai-community/gpt2"),
        "bert_base": _model("BERT-base", "bert", 12, 768, (12, 12, 64), 109_482_240, "arXiv:1810.04805"),
        "llama2_7b": _model("Llama 2 7B", "llama", 32, 4096, (32, 32, 128), 6_738_415_616, _LITGPT),
        "llama3_8b": _model("Llama 3 8B", "llama", 32, 4096, (32, 8, 128), 8_030_261_248, _LITGPT),
        "llama3_70b": _model("Llama 3 70B", "llama", 80, 8192, (64, 8, 128), 70_553_706_496, _LITGPT),
        "gemma2_9b": _model("Gemma 2 9B", "gemma2", 42, 3584, (16, 8, 256), 9_241_705_984, _LITGPT),
        "gemma3_12b": _model("Gemma 3 12B", "gemma3", 48, 3840, (16, 8, 256), 11_766_034_176, _LITGPT),
        "olmo_7b": _model("OLMo 7B", "olmo", 32, 4096, (32, 32, 128), 6_888_095_744, _LITGPT),
        "olmo2_7b": _model("OLMo 2 7B", "olmo2", 32, 4096, (32, 32, 128), 7_298_617_344, _LITGPT),
        "olmo2_13b": _model("OLMo 2 13B", "olmo2", 40, 5120, (40, 40, 128), 13_716_198_400, _LITGPT),
        "olmo2_32b": _model("OLMo 2 32B", "olmo2", 64, 5120, (40, 8, 128), 32_234_279_936, _LITGPT),
        "qwen3_8b": _model("Qwen3 8B", "qwen3", 36, 4096, (32, 8, 128), 8_190_735_360, _LITGPT),
    }
)
"""Id -> published model."""
