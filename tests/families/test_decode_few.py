"""Are parts of lists, models outside the table and models with other parts called what the names can tell?"""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import transformers

from normviz.families import FAMILIES, Decoded, Names, decode
from tests.families.keys import model, names

_TEXT: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_VISION = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}
_SIGLIP = {**_VISION, "model_type": "siglip_vision_model"}
_CLIP = {**_VISION, "model_type": "clip_vision_model"}
MULTIMODAL: dict[str, tuple[str, dict[str, Any], str]] = {
    "PaliGemma of Gemma": ("PaliGemma", _SIGLIP, "gemma"),
    "PaliGemma of Gemma 2": ("PaliGemma", _SIGLIP, "gemma2"),
    "LLaVA of Llama": ("Llava", _CLIP, "llama"),
    "LLaVA of Qwen2": ("Llava", _SIGLIP, "qwen2"),
    "Idefics3 of Llama": ("Idefics3", _VISION, "llama"),
}


def built(name: str, config: Any) -> Any:
    torch.manual_seed(0)
    return getattr(transformers, name)(config).eval()


def given(*keys: str) -> Decoded:
    return decode(Names(keys=keys, shapes={}))


def said(decoded: Decoded) -> str:
    return "\n".join(map(str, (*decoded.why, *decoded.ambiguous)))


@pytest.mark.parametrize("which", sorted(MULTIMODAL))
def test_keys_of_a_vision_tower_do_not_vote_on_the_text_family(which: str) -> None:
    name, vision, text = MULTIMODAL[which]
    config = getattr(transformers, f"{name}Config")(vision_config=vision, text_config={**_TEXT, "model_type": text})
    whole = built(f"{name}ForConditionalGeneration", config)
    state = whole.state_dict()
    assert any("vision" in key and "self_attn.q_proj.bias" in key for key in state)
    decoded = decode(names(whole))
    assert decoded.candidates == decode(names(model(text))).candidates
    assert (decoded.missing, decoded.unexpected, decoded.unknown) == ((), (), ())
    assert decoded.elsewhere
    assert decoded.other == len(state) - len(decoded.found) - len(decoded.elsewhere)
    assert f"{name} " not in said(decoded)


def test_old_names_of_a_tower_do_not_vote_either() -> None:
    tower = "vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.bias"
    for family in ("llama", "gemma"):
        keys = [f"language_model.{key}" for key in names(model(family)).keys]
        decoded = given(*keys, tower)
        assert decoded.candidates == given(*keys).candidates
        assert decoded.other == given(*keys).other + 1


FEW = {
    "one norm": (("model.layers.0.input_layernorm.weight",), {"llama", "gemma2", "phi", "cohere"}, {"bert", "olmo2"}),
    "the last norm": (("lm_head.weight", "model.norm.weight"), {"llama", "olmo2", "cohere"}, {"phi", "gpt2", "bert"}),
    "the last norm alone": (("norm.weight",), {"llama", "gemma3n"}, {"opt"}),
    "the last norm, wrapped": (("module.transformer.ln_f.weight",), {"gpt2", "bloom"}, {"llama"}),
    "one and the last": (
        ("model.layers.0.input_layernorm.weight", "model.norm.weight"),
        {"llama", "cohere", "glm4"},
        {"olmo2"},
    ),
    "a sandwich's": (("model.layers.3.post_feedforward_layernorm.weight",), {"gemma2", "olmo2"}, {"llama"}),
    "a norm and matrices": (
        ("model.layers.0.input_layernorm.weight", "model.layers.0.self_attn.q_proj.bias"),
        {"qwen2", "gemma2"},
        {"llama", "gemma"},
    ),
    "BERT's": (("bert.encoder.layer.0.output.LayerNorm.weight",), {"bert", "roberta"}, {"llama"}),
}


@pytest.mark.parametrize("which", sorted(FEW))
def test_too_few_names_name_no_family_but_say_which_have_them(which: str) -> None:
    keys, some, none = FEW[which]
    decoded = given(*keys)
    assert decoded.candidates == ()
    assert some <= set(decoded.possible)
    assert not none & set(decoded.possible)
    assert f"Too few names to tell: {len(decoded.possible)} families" in said(decoded)
    assert all(FAMILIES[family].label in said(decoded) for family in decoded.possible)
    assert "No family" not in said(decoded)
    assert (decoded.missing, decoded.unexpected, decoded.unknown, decoded.parameters) == ((), (), (), None)


def test_every_possible_family_has_a_norm_of_that_name_and_no_other_has() -> None:
    for leaf in ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "self_attn.q_norm"):
        have = {
            id
            for id, f in FAMILIES.items()
            if any(s.has_weight and s.name.endswith(f".layers.{{i}}.{leaf}") for s in f.sites)
        }
        assert set(given(f"model.layers.0.{leaf}.weight").possible) == have


def test_role_is_told_where_all_possible_families_agree() -> None:
    assert [one.role for one in given("model.norm.weight").found] == ["final"]
    assert given("model.layers.0.input_layernorm.weight").found == ()


def test_few_names_of_one_family_name_it_and_list_what_is_missing() -> None:
    decoded = given("transformer.h.0.ln_1.weight", "transformer.h.0.ln_2.weight")
    assert decoded.candidates == ("gpt2",)
    assert decoded.missing == (
        "transformer.h.0.ln_1.bias",
        "transformer.h.0.ln_2.bias",
        "transformer.ln_f.weight",
        "transformer.ln_f.bias",
    )
    assert "Only GPT-2 in the table" in said(decoded)
    assert given("model.final_layernorm.weight").candidates == ("phi",)
    assert "many of its names are missing" in said(given("model.final_layernorm.weight"))


def test_some_matrices_without_norms_name_no_family() -> None:
    start = "model.layers.0"
    decoded = given(f"{start}.self_attn.q_proj.weight", f"{start}.mlp.gate_proj.weight")
    assert (decoded.candidates, decoded.possible) == ((), ())
    assert given(f"{start}.self_attn.q_proj.weight", f"{start}.mlp.fc1.weight").candidates == ()


def test_a_norm_of_another_name_beside_a_single_one_names_no_family() -> None:
    decoded = given("model.layers.0.input_layernorm.weight", "model.layers.0.strange_norm.weight")
    assert decoded.candidates == ()
    assert "not understood" in said(decoded)


def test_glm_is_not_taken_for_glm4_because_of_its_matrices() -> None:
    decoded = decode(names(built("GlmForCausalLM", transformers.GlmConfig(**_TEXT))))
    assert "glm4" not in decoded.candidates
    assert {FAMILIES[family].placement for family in decoded.candidates} == {"pre_norm"}
    assert decoded.missing == ()
    assert "GLM-4," not in said(decoded)
    assert "a model that is not in the table" in said(decoded)


@pytest.mark.parametrize("which", ["Bart", "Pegasus", "Blenderbot"])
@pytest.mark.parametrize("task", ["ForCausalLM", "ForConditionalGeneration"])
def test_encoders_and_decoders_outside_the_table_are_no_opt(which: str, task: str) -> None:
    sizes = {
        f"{part}_{what}": 4 for part in ("encoder", "decoder") for what in ("layers", "attention_heads", "ffn_dim")
    }
    config = getattr(transformers, f"{which}Config")(
        vocab_size=40, d_model=32, pad_token_id=0, bos_token_id=1, eos_token_id=2, **sizes
    )
    decoded = decode(names(built(which + task, config)))
    assert decoded.candidates == ()
    assert f"Names of norms that are not understood: {len(decoded.unknown)}." in said(decoded)


SMALL = {"vocab_size": 40, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
OUTSIDE: dict[str, tuple[str, dict[str, int], str]] = {
    "Falcon": (
        "BLOOM",
        {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4},
        "post_attention_layernorm",
    ),
    "GPTJ": ("GPT-2", {"n_embd": 32, "n_layer": 3, "n_head": 4, "rotary_dim": 4}, "ln_2"),
    "Apertus": ("Command R", {key: value for key, value in _TEXT.items() if key != "head_dim"}, "input_layernorm"),
}


@pytest.mark.parametrize("which", sorted(OUTSIDE))
def test_a_model_that_lacks_a_norm_in_all_layers_is_not_the_family_that_has_it(which: str) -> None:
    label, sizes, absent = OUTSIDE[which]
    decoded = decode(names(built(f"{which}ForCausalLM", getattr(transformers, f"{which}Config")(**{**SMALL, **sizes}))))
    assert (decoded.candidates, decoded.possible) == ((), ())
    assert label in said(decoded)
    assert f"none of the layers has its {absent}" in said(decoded)
    assert ("not understood" in said(decoded)) == bool(decoded.unknown)


def test_strange_norms_beside_known_ones_are_said() -> None:
    decoded = decode(names(built("BitNetForCausalLM", transformers.BitNetConfig(**_TEXT))))
    assert {"llama", "mistral"} <= set(decoded.candidates)
    assert len(decoded.unknown) == 4
    assert "Names of norms that are not understood: 4. It may be a model that is not in the table." in said(decoded)


@pytest.mark.parametrize("family", ["gemma2", "qwen3", "llama", "bloom", "olmo2", "opt"])
def test_no_sentence_is_said_of_what_is_missing_or_strange_in_a_whole_list(family: str) -> None:
    text = said(decode(names(model(family))))
    assert "missing" not in text
    assert "not understood" not in text


def test_sentences_are_right_for_one_and_for_many() -> None:
    for family, last in (
        ("llama", "model.norm.weight"),
        ("gemma2", "model.norm.weight"),
        ("qwen3", "model.norm.weight"),
    ):
        keys = [key for key in names(model(family)).keys if key != last]
        decoded = decode(Names(keys=tuple(keys), shapes={}, repeated=tuple(keys[:1])))
        assert decoded.missing == (last,)
        text = said(decoded)
        assert "Names that were given more than once: 1." in text
        assert re.search(r"missing: 1\b", text)
        assert not re.search(r"\b1 (?:of \w+ )?(?:names|norms)\b", text)
