"""What would a person type to decode a checkpoint's names, to count its norms, or to see them in transformers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from reprlib import repr as shown
from types import MappingProxyType

from normviz.errors import InputError
from normviz.families import FAMILIES, Sizes
from normviz.families.names import Names

MODELS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "llama": ("LlamaForCausalLM", "LlamaConfig()"),
        "mistral": ("MistralForCausalLM", "MistralConfig()"),
        "qwen2": ("Qwen2ForCausalLM", "Qwen2Config()"),
        "qwen3": ("Qwen3ForCausalLM", "Qwen3Config()"),
        "glm4_moe": ("Glm4MoeForCausalLM", "Glm4MoeConfig()"),
        "gpt_oss": ("GptOssForCausalLM", "GptOssConfig()"),
        "llama4": ("Llama4ForCausalLM", "Llama4TextConfig()"),
        "deepseek_v3": ("DeepseekV3ForCausalLM", "DeepseekV3Config()"),
        "granite": ("GraniteForCausalLM", "GraniteConfig()"),
        "phi3": ("Phi3ForCausalLM", "Phi3Config()"),
        "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3NextConfig()"),
        "qwen3_5": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig()"),
        "gemma": ("GemmaForCausalLM", "GemmaConfig()"),
        "gemma2": ("Gemma2ForCausalLM", "Gemma2Config()"),
        "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig()"),
        "gemma3n": ("Gemma3nForCausalLM", "Gemma3nTextConfig()"),
        "gemma4": ("Gemma4ForCausalLM", "Gemma4TextConfig()"),
        "olmo2": ("Olmo2ForCausalLM", "Olmo2Config()"),
        "olmo3": ("Olmo3ForCausalLM", "Olmo3Config()"),
        "exaone4": ("Exaone4ForCausalLM", "Exaone4Config()"),
        "glm4": ("Glm4ForCausalLM", "Glm4Config()"),
        "gpt2": ("GPT2LMHeadModel", "GPT2Config()"),
        "bert": ("BertForMaskedLM", "BertConfig()"),
        "roberta": ("RobertaForMaskedLM", "RobertaConfig()"),
        "t5": ("T5ForConditionalGeneration", "T5Config()"),
        "opt": ("OPTForCausalLM", "OPTConfig()"),
        "opt_350m": ("OPTForCausalLM", "OPTConfig(do_layer_norm_before=False, word_embed_proj_dim=512)"),
        "bloom": ("BloomForCausalLM", "BloomConfig()"),
        "stablelm": ("StableLmForCausalLM", "StableLmConfig()"),
        "stablelm_parallel": ("StableLmForCausalLM", "StableLmConfig(use_parallel_residual=True)"),
        "modernbert": ("ModernBertForMaskedLM", "ModernBertConfig()"),
        "olmo": ("OlmoForCausalLM", "OlmoConfig()"),
        "nanochat": ("NanoChatForCausalLM", "NanoChatConfig()"),
        "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig()"),
        "phi": ("PhiForCausalLM", "PhiConfig()"),
        "cohere": ("CohereForCausalLM", "CohereConfig()"),
        "cohere2": ("Cohere2ForCausalLM", "Cohere2Config()"),
    }
)
"""Family -> class of its model in transformers, and its config."""

LISTED = 400
"""The most names that stand in a script; more are read from a file, so that the script can be read."""


def decoder_script(names: Names) -> str:
    """The name decoder as a script with normviz.

    Parameters
    ----------
    names
        What was pasted; beyond 400 names the script reads them from names.txt.
    """
    if len(names.keys) > LISTED:
        given = f'text = Path("names.txt").read_text(encoding="utf-8")  # save the {len(names.keys)} names there\n'
        imports = "from pathlib import Path\n\n"
    else:
        given = 'text = """\n' + "".join(_line(key, names.shapes.get(key)) for key in names.keys) + '"""\n'
        imports = ""
    return f"{_DECODER_HEAD}{imports}from normviz import families\n\n{given}{_DECODER}"


def counts_script(family: str, sizes: Sizes) -> str:
    """The count of a model's norm parameters as a script with normviz.

    Parameters
    ----------
    family
        An id of `normviz.families.FAMILIES`.
    sizes
        The model's sizes.

    Raises
    ------
    InputError
        If there is no such family.
    """
    _known(family)
    given = ", ".join(f"{field.name}={value}" for field in fields(sizes) if (value := getattr(sizes, field.name)))
    return _COUNTS.format(family=family, sizes=given)


def family_script(family: str) -> str:
    """The norms of a family as transformers builds them from its default config, without normviz.

    The model is built on the device "meta", which holds no numbers: nothing is downloaded, no memory is needed.

    Parameters
    ----------
    family
        An id of `normviz.families.FAMILIES`.

    Raises
    ------
    InputError
        If there is no such family.
    """
    _known(family)
    model, config = MODELS[family]
    return _FAMILY.format(label=FAMILIES[family].label, model=model, config=config, imported=config.partition("(")[0])


def _line(key: str, shape: tuple[int, ...] | None) -> str:
    return f"{key}\n" if shape is None else f"{key} {list(shape)}\n"


def _known(family: str) -> None:
    if family not in FAMILIES:
        raise InputError(
            "{field} can be {allowed}; got {got}", field="family", allowed=", ".join(FAMILIES), got=shown(family)
        )


_DECODER_HEAD = '''\
"""Whose checkpoint is it, and what is each of its norms for?"""

'''

_DECODER = """\
decoded = families.decode(families.read_names(text))  # read_names also takes an open .safetensors file

print("family:", " or ".join(families.FAMILIES[name].label for name in decoded.candidates) or "not in the table")
for sentence in (*decoded.why, *decoded.ambiguous):
    print(" ", sentence)
print(f"{decoded.n_layers} layers, {len(decoded.found)} keys of norms, parameters: {decoded.parameters}")
for norm in decoded.found:
    print(f"  {norm.key}: {families.ROLES[norm.role]}")
for word in ("missing", "unexpected", "unknown", "elsewhere"):
    print(f"{word}:", ", ".join(getattr(decoded, word)) or "none")
"""

_COUNTS = '''\
"""How many parameters do all the norms of a model have?"""

from normviz import families

family = families.FAMILIES["{family}"]
sizes = families.Sizes({sizes})
count = families.norm_parameters(family, sizes)
print(f"{{family.label}}: {{count.norms}} norms, {{count.total:,}} parameters")
print(f"per layer {{count.per_layer:,}}, outside the layers {{count.outside:,}}")
print("LaTeX:", count.formula)
'''

_FAMILY = '''\
"""The norms of {label} as transformers 5 builds them from the default config; nothing is downloaded."""

import torch
from transformers import {imported}, {model}

with torch.device("meta"):  # no numbers, no memory
    model = {model}({config})

norms = {{name: module for name, module in model.named_modules() if "Norm" in type(module).__name__}}
for name, module in norms.items():
    shapes = {{key: tuple(value.shape) for key, value in module.named_parameters()}}
    eps = getattr(module, "eps", getattr(module, "variance_epsilon", None))
    print(name, type(module).__name__, shapes or "no parameters", "eps", eps)
total = sum(p.numel() for module in norms.values() for p in module.parameters())
print(f"{{len(norms)}} norms, {{total:,}} parameters of {{sum(p.numel() for p in model.parameters()):,}}")
'''
