"""Do the counts match the published models, built at full size on a device that holds no numbers?"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
import transformers

from normviz.errors import InputError
from normviz.families import FAMILIES, KNOWN, Sizes, norm_parameters, sizes_needed
from tests.families.keys import norm_modules

FACTS = {
    "gpt3": (193, 4_743_168),
    "gpt2": (25, 38_400),
    "bert_base": (25, 38_400),
    "llama2_7b": (65, 266_240),
    "llama3_8b": (65, 266_240),
    "llama3_70b": (161, 1_318_912),
    "gemma2_9b": (169, 605_696),
    "gemma3_12b": (193 + 96, 765_696),
    "olmo2_7b": (129, 528_384),
    "olmo2_13b": (161, 824_320),
    "olmo2_32b": (257, 1_053_696),
    "qwen3_8b": (73 + 72, 308_224),
    "olmo_7b": (65, 0),
}
"""Known model -> its norms and their parameters, as counted in the published configs."""

UNTIED: dict[str, Any] = {"tie_word_embeddings": False}
CONFIGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt3": ("GPT2LMHeadModel", "GPT2Config", {"n_positions": 2048, "vocab_size": 50257}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {}),
    "bert_base": ("BertModel", "BertConfig", {}),
    "llama2_7b": ("LlamaForCausalLM", "LlamaConfig", {"intermediate_size": 11008, "vocab_size": 32000}),
    "llama3_8b": ("LlamaForCausalLM", "LlamaConfig", {"intermediate_size": 14336, "vocab_size": 128256}),
    "llama3_70b": ("LlamaForCausalLM", "LlamaConfig", {"intermediate_size": 28672, "vocab_size": 128256}),
    "gemma2_9b": ("Gemma2ForCausalLM", "Gemma2Config", {"intermediate_size": 14336, "vocab_size": 256000}),
    "gemma3_12b": ("Gemma3ForCausalLM", "Gemma3TextConfig", {"intermediate_size": 15360, "vocab_size": 262208}),
    "olmo_7b": ("OlmoForCausalLM", "OlmoConfig", {"intermediate_size": 11008, "vocab_size": 50304, **UNTIED}),
    "olmo2_7b": ("Olmo2ForCausalLM", "Olmo2Config", {"intermediate_size": 11008, "vocab_size": 100352}),
    "olmo2_13b": ("Olmo2ForCausalLM", "Olmo2Config", {"intermediate_size": 13824, "vocab_size": 100352}),
    "olmo2_32b": ("Olmo2ForCausalLM", "Olmo2Config", {"intermediate_size": 27648, "vocab_size": 100352}),
    "qwen3_8b": ("Qwen3ForCausalLM", "Qwen3Config", {"intermediate_size": 12288, "vocab_size": 151936, **UNTIED}),
}


@cache
def full(known: str) -> Any:
    """The published model at full size, on a device that holds no numbers."""
    model_class, config_class, changes = CONFIGS[known]
    sizes = KNOWN[known].sizes
    given = {
        "hidden_size": sizes.d_model,
        "num_hidden_layers": sizes.n_layers,
        "num_attention_heads": sizes.n_heads,
        "num_key_value_heads": sizes.n_kv_heads,
        "head_dim": sizes.head_dim,
    }
    if config_class in ("GPT2Config", "BertConfig"):
        del given["num_key_value_heads"], given["head_dim"]
    if config_class.startswith("Olmo"):
        del given["head_dim"]
    with torch.device("meta"):
        return getattr(transformers, model_class)(getattr(transformers, config_class)(**given, **changes))


def test_every_known_model_has_its_facts() -> None:
    assert set(KNOWN) == set(FACTS) == set(CONFIGS)


@pytest.mark.parametrize("known", sorted(FACTS))
def test_known_counts_are_exact(known: str) -> None:
    model = KNOWN[known]
    count = norm_parameters(FAMILIES[model.family], model.sizes)
    assert (count.norms, count.total) == FACTS[known]


@pytest.mark.parametrize("known", sorted(CONFIGS))
def test_known_counts_are_those_of_the_model_at_full_size(known: str) -> None:
    built, model = full(known), KNOWN[known]
    modules = norm_modules(built)
    count = norm_parameters(FAMILIES[model.family], model.sizes)
    assert count.norms == len(modules)
    assert count.total == sum(p.numel() for m in modules.values() for p in m.parameters())
    assert model.total_params == sum(p.numel() for p in built.parameters())


def test_gpt3_has_27_millionths_of_its_parameters_in_norms() -> None:
    count = norm_parameters(FAMILIES["gpt2"], KNOWN["gpt3"].sizes)
    assert round(100 * count.total / 1.75e11, 4) == 0.0027


@pytest.mark.parametrize("known", sorted(KNOWN))
def test_formula_says_the_count_and_computes_to_it(known: str) -> None:
    model = KNOWN[known]
    count = norm_parameters(FAMILIES[model.family], model.sizes)
    terms, _, said = count.formula.replace("{,}", "").partition("=")
    computed = eval(terms.replace(r"\cdot", "*"))  # its numbers, products and sums
    assert re.fullmatch(r"[\d()+*]+", terms.replace(r"\cdot", "*"))
    assert computed == count.total == int(said or computed)


def test_formula_of_two_norms_a_layer_reads_as_in_the_chapter() -> None:
    count = norm_parameters(FAMILIES["gpt2"], KNOWN["gpt3"].sizes)
    assert count.formula == r"(2\cdot96+1)\cdot12288\cdot2=4{,}743{,}168"


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_layers_and_outside_add_up(family: str) -> None:
    record = FAMILIES[family]
    given = dict.fromkeys(sizes_needed(record), 12)
    sizes = Sizes(**{**given, "n_layers": 8, "attention_layers": 8, "shared_key_layers": 0})
    count = norm_parameters(record, sizes)
    first = sum(12 for site in record.sites if site.layers == "not_first")
    assert count.total == 8 * count.per_layer + count.outside - first


def test_one_layer_more_adds_the_parameters_of_a_layer() -> None:
    for model in KNOWN.values():
        family = FAMILIES[model.family]
        more = replace(model.sizes, n_layers=model.sizes.n_layers + 1)
        one = norm_parameters(family, model.sizes)
        assert norm_parameters(family, more).total - one.total == one.per_layer


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_layers", 0),
        ("n_layers", -3),
        ("n_layers", 10**9),
        ("n_layers", 2.5),
        ("n_layers", True),
        ("d_model", 0),
        ("d_model", 10**12),
        ("head_dim", -1),
        ("attention_layers", 5),
        ("shared_key_layers", 5),
    ],
)
def test_impossible_sizes_are_refused_with_their_name(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"{field} is a whole number from \d+ to \d+; got"):
        Sizes(**{"n_layers": 4, "d_model": 8, field: value})


def test_a_size_that_the_family_needs_is_asked_for() -> None:
    sizes = Sizes(n_layers=4, d_model=8)
    assert norm_parameters(FAMILIES["llama"], sizes).total == 72
    for family, field in (("qwen3", "head_dim"), ("olmo2", "n_heads"), ("deepseek_v3", "q_rank")):
        with pytest.raises(InputError, match=f"{field} is a whole number from 1"):
            norm_parameters(FAMILIES[family], sizes)
