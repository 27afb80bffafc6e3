"""Is every norm of every family's state dict named, and is what the names do not tell said?"""

from __future__ import annotations

import json
import re

import pytest

from normviz.families import FAMILIES, ROLES, Decoded, Names, decode, read_names
from tests.families.keys import model, names, norm_keys
from tests.families.tiny import LAYERS, VARIANTS, tiny

ALIKE = ({"llama", "mistral", "granite", "gemma"}, {"olmo2", "olmo3"}, {"cohere", "cohere2"})
"""Families whose state dicts have the same keys."""

FAMILY = pytest.mark.parametrize("family", sorted(FAMILIES))


def expected(family: str) -> set[str]:
    return next((alike for alike in ALIKE if family in alike), {family})


def given(*keys: str) -> Decoded:
    return decode(Names(keys=keys, shapes={}))


def without(source: Names, part: str) -> Names:
    keys = tuple(key for key in source.keys if not re.search(part, key))
    return Names(keys=keys, shapes={key: source.shapes[key] for key in keys if key in source.shapes})


def norms(family: str, prefix: str = "") -> tuple[str, ...]:
    return tuple(prefix + key for key in norm_keys(model(family)))


def sentences(decoded: Decoded) -> str:
    return "\n".join(map(str, (*decoded.why, *decoded.ambiguous)))


@FAMILY
def test_every_norm_key_is_decoded_and_the_family_is_named(family: str) -> None:
    built = model(family)
    decoded = decode(names(built))
    assert set(decoded.candidates) == expected(family)
    assert [norm.key for norm in decoded.found] == norm_keys(built)
    assert (decoded.missing, decoded.unexpected, decoded.unknown, decoded.elsewhere) == ((), (), (), ())
    assert decoded.n_layers == LAYERS
    assert decoded.other == len(built.state_dict()) - len(decoded.found)
    state = built.state_dict()
    assert decoded.parameters == sum(state[key].numel() for key in norm_keys(built))
    assert all(norm.shape == tuple(state[norm.key].shape) for norm in decoded.found)


@FAMILY
def test_role_of_each_key_is_that_of_the_familys_site(family: str) -> None:
    for norm in decode(names(model(family))).found:
        module = norm.key.rpartition(".")[0]
        sites = [
            site
            for site in FAMILIES[family].sites
            if re.fullmatch(re.escape(site.name).replace(r"\{i\}", str(norm.layer)), module)
        ]
        # Of two families that share their names the first one gives the roles; they are the same.
        assert norm.role in {site.role for site in sites}, norm.key
        assert norm.role in ROLES


@FAMILY
def test_look_alikes_are_said_with_a_reason(family: str) -> None:
    decoded = decode(names(model(family)))
    said = sentences(decoded)
    if len(decoded.candidates) > 1:
        assert all(FAMILIES[other].label in said for other in decoded.candidates)
    assert ("1 + w" in said) == (family in ALIKE[0])


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_variants_are_decoded_as_their_family(variant: str) -> None:
    family, changes = VARIANTS[variant]
    built = tiny(family, **changes)
    decoded = decode(names(built))
    assert family in decoded.candidates
    assert set(decoded.candidates) <= expected(family)
    assert [norm.key for norm in decoded.found] == norm_keys(built)
    assert (decoded.missing, decoded.unexpected, decoded.unknown) == ((), (), ())


@FAMILY
@pytest.mark.parametrize("prefix", ["language_model.", "model.language_model.", "module.", "_orig_mod.module."])
def test_what_stands_before_the_names_does_not_matter(family: str, prefix: str) -> None:
    plain = decode(names(model(family)))
    wrapped = decode(Names(keys=tuple(prefix + key for key in names(model(family)).keys), shapes={}))
    # Only lengths of q_norm and k_norm, left out here, tell OLMo 2 and EXAONE 4 apart.
    unshaped = decode(names(model(family), shapes=False))
    assert wrapped.candidates == unshaped.candidates
    assert set(plain.candidates) <= set(wrapped.candidates)
    assert [norm.role for norm in wrapped.found] == [norm.role for norm in unshaped.found]
    assert wrapped.missing == wrapped.unexpected == wrapped.unknown == ()


@FAMILY
def test_keys_of_the_base_model_alone_are_enough(family: str) -> None:
    built = model(family)
    base = built.base_model
    decoded = decode(names(base))
    assert family in decoded.candidates
    allowed = {"bert", "roberta"} if family in ("bert", "roberta") else expected(family)
    assert set(decoded.candidates) == allowed
    assert [norm.key for norm in decoded.found] == norm_keys(base)
    assert decoded.missing == decoded.unexpected == decoded.unknown == ()


@pytest.mark.parametrize("family", sorted({*FAMILIES} - {"olmo", "nanochat"}))
def test_norms_alone_still_name_the_family(family: str) -> None:
    decoded = given(*norms(family))
    assert family in decoded.candidates
    assert len(decoded.found) == len(norms(family))
    assert decoded.parameters is None
    assert decoded.other == 0


def test_norms_alone_leave_all_families_with_these_names() -> None:
    decoded = given(*norms("llama"))
    assert set(decoded.candidates) == {
        *("llama", "mistral", "qwen2", "granite", "gemma", "phi3", "gpt_oss", "llama4", "glm4_moe")
    }
    assert "Only norms were given" in sentences(decoded)
    assert set(given(*norms("olmo2")).candidates) == {"olmo2", "olmo3", "exaone4"}
    assert "shapes of q_norm and k_norm" in sentences(given(*norms("olmo2")))


def test_lengths_of_q_norm_tell_exaone_from_olmo() -> None:
    assert "the lengths of q_norm and k_norm leave EXAONE 4" in sentences(decode(names(model("exaone4"))))


@pytest.mark.parametrize("family", ["olmo", "nanochat"])
def test_families_without_stored_norms_are_named_with_the_other_possibility(family: str) -> None:
    decoded = decode(names(model(family)))
    assert decoded.candidates == (family,)
    assert decoded.parameters == 0
    assert "its norms were left out" in sentences(decoded)


def test_missing_final_norm_is_listed() -> None:
    for family, key in (
        ("llama", "model.norm.weight"),
        ("qwen3", "model.norm.weight"),
        ("t5", "decoder.final_layer_norm.weight"),
    ):
        decoded = decode(without(names(model(family)), rf"^{re.escape(key)}$"))
        assert family in decoded.candidates
        assert set(decoded.candidates) == expected(family)
        assert decoded.missing == (key,)
    both = decode(without(names(model("gpt2")), "ln_f"))
    assert both.candidates == ("gpt2",)
    assert both.missing == ("transformer.ln_f.weight", "transformer.ln_f.bias")


@pytest.mark.parametrize("family", ["qwen3", "gemma3", "olmo2", "glm4_moe"])
def test_q_norm_without_k_norm_is_listed(family: str) -> None:
    built = tiny(family, use_qk_norm=True) if family == "glm4_moe" else model(family)
    decoded = decode(without(names(built), "k_norm"))
    assert family in decoded.candidates
    assert decoded.missing == tuple(f"model.layers.{i}.self_attn.k_norm.weight" for i in range(LAYERS))


def test_layer_without_its_second_norm_is_listed() -> None:
    decoded = decode(without(names(model("gemma2")), r"layers\.1\.pre_feedforward"))
    assert decoded.candidates == ("gemma2",)
    assert decoded.missing == ("model.layers.1.pre_feedforward_layernorm.weight",)
    assert "comes closest" in sentences(decoded)


def test_missing_and_unexpected_bias_are_listed() -> None:
    lost = decode(without(names(model("bloom")), r"h\.2\.input_layernorm\.bias"))
    assert (lost.candidates, lost.missing) == (("bloom",), ("transformer.h.2.input_layernorm.bias",))
    extra = names(model("qwen3"))
    decoded = decode(Names(keys=(*extra.keys, "model.norm.bias"), shapes=extra.shapes))
    assert (decoded.candidates, decoded.unexpected) == (("qwen3",), ("model.norm.bias",))


def test_norms_of_another_family_are_unexpected_and_strange_ones_unknown() -> None:
    source = names(model("deepseek_v3"))
    more = ("model.layers.2.post_mlp_layernorm.weight", "model.layers.2.enorm.weight", "model.layers.2.hnorm.weight")
    decoded = decode(Names(keys=(*source.keys, *more), shapes=source.shapes))
    assert decoded.candidates == ("deepseek_v3",)
    assert decoded.unexpected == more[:1]
    assert decoded.unknown == more[1:]


def test_first_norm_of_modernbert_is_not_missing() -> None:
    decoded = decode(names(model("modernbert")))
    assert not any("layers.0.attn_norm" in key for key in (*decoded.missing, *(n.key for n in decoded.found)))


def test_opt_without_final_norm_may_be_opt_350m_or_a_damaged_opt() -> None:
    decoded = given(*norms("opt_350m"))
    assert decoded.candidates == ("opt_350m", "opt")
    assert "different places" in sentences(decoded)
    damaged = decode(without(names(model("opt")), r"decoder\.final_layer_norm"))
    assert damaged.candidates == ("opt",)
    assert damaged.missing == ("model.decoder.final_layer_norm.weight", "model.decoder.final_layer_norm.bias")


def test_what_the_config_decides_is_said() -> None:
    assert "use_parallel_residual" in sentences(decode(names(model("gpt_neox"))))
    assert "apply_residual_connection_post_layernorm" in sentences(decode(names(model("bloom"))))


def test_encoder_of_t5_alone_lacks_nothing() -> None:
    decoded = decode(without(names(model("t5")), "^decoder"))
    assert (decoded.candidates, decoded.missing, decoded.n_layers) == (("t5",), (), LAYERS)


def test_layers_that_take_over_keys_have_no_k_norm_but_a_gap_is_listed() -> None:
    source = names(model("gemma3n"))
    assert decode(without(source, r"layers\.2\.self_attn\.(k_norm|k_proj|v_proj)")).missing == ()
    gap = decode(without(source, r"layers\.1\.self_attn\.k_norm"))
    assert gap.missing == ("model.layers.1.self_attn.k_norm.weight",)


def test_one_file_of_several_says_which_layers_are_not_there() -> None:
    decoded = decode(without(names(model("qwen3")), r"layers\.[01]\.|embed_tokens"))
    assert decoded.candidates == ("qwen3",)
    assert decoded.n_layers == LAYERS
    assert decoded.missing == ()
    assert "Layers 0–1 have no key at all" in sentences(decoded)


def test_norms_of_vision_and_audio_parts_are_set_aside() -> None:
    tower = "vision_tower.vision_model.encoder.layers.0.layer_norm1"
    keys = (*(f"language_model.{key}" for key in names(model("gemma3")).keys), f"{tower}.weight", f"{tower}.bias")
    decoded = given(*keys)
    assert decoded.candidates == ("gemma3",)
    assert decoded.elsewhere == keys[-2:]
    assert decoded.unexpected == decoded.unknown == ()


def test_old_names_of_weight_and_bias_are_read() -> None:
    keys = [key.replace("LayerNorm.weight", "LayerNorm.gamma") for key in names(model("bert")).keys]
    keys = [key.replace("LayerNorm.bias", "LayerNorm.beta") for key in keys]
    decoded = given(*keys)
    assert (decoded.candidates, decoded.missing, decoded.unexpected) == (("bert",), (), ())


def test_names_of_modules_without_their_parameters_are_read() -> None:
    modules = dict.fromkeys(key.rpartition(".")[0] for key in norms("gpt2"))
    decoded = given(*modules)
    assert (decoded.candidates, decoded.missing) == (("gpt2",), ())


def test_family_outside_the_table_is_not_guessed_silently() -> None:
    mixtral = [key.replace("mlp.", "block_sparse_moe.experts.0.") for key in names(model("mistral")).keys]
    decoded = given(*mixtral)
    assert {"llama", "mistral"} <= set(decoded.candidates)
    assert "a model that is not in the table" in sentences(decoded)
    electra = [key.replace("bert.", "electra.") for key in without(names(model("bert")), "^cls").keys]
    assert '"electra"' in sentences(given(*electra))
    mamba = given(*(f"backbone.layers.{i}.norm.weight" for i in range(4)), "backbone.norm_f.weight")
    assert mamba.candidates == ()
    assert len(mamba.unknown) == 5
    assert "No family" in sentences(mamba)


def test_an_encoder_and_decoder_of_another_kind_is_no_opt() -> None:
    stack = ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm")
    keys = [f"model.decoder.layers.{i}.{name}.{p}" for i in range(2) for name in stack for p in ("weight", "bias")]
    keys += [f"model.encoder.layers.{i}.{stack[j]}.{p}" for i in range(2) for j in (0, 2) for p in ("weight", "bias")]
    keys += [f"model.{part}.layernorm_embedding.{p}" for part in ("encoder", "decoder") for p in ("weight", "bias")]
    assert given(*keys).candidates == ()


@pytest.mark.parametrize(
    "keys", [("fc.weight", "fc.bias"), ("layers.0.weight", "layers.1.weight"), ("normalizer.mean",)]
)
def test_keys_without_norms_name_no_family(keys: tuple[str, ...]) -> None:
    decoded = given(*keys)
    assert decoded.candidates == ()
    assert decoded.why
    assert decoded.found == ()


def test_an_adapter_is_no_model_without_norms() -> None:
    start = "base_model.model.model.layers.0"
    assert given(f"{start}.self_attn.q_proj.lora_A.weight", f"{start}.mlp.gate_proj.lora_A.weight").candidates == ()


@pytest.mark.parametrize("family", ["llama", "t5", "gemma3n"])
def test_order_of_keys_does_not_matter(family: str) -> None:
    source = names(model(family))
    turned = decode(Names(keys=source.keys[::-1], shapes=source.shapes))
    assert turned.candidates == decode(source).candidates
    assert sorted(n.key for n in turned.found) == sorted(n.key for n in decode(source).found)


def test_hostile_numbers_and_many_names_end_with_an_answer() -> None:
    assert given("model.layers.99999999999999999999.input_layernorm.weight").n_layers == 0
    assert len(given("model.layers.4000.input_layernorm.weight").missing) < 10
    many = Names(keys=tuple(f"layers.0.x{i}_norm.weight" for i in range(30_000)), shapes={})
    with pytest.raises(ValueError, match="different names"):
        decode(many)


def test_index_of_a_checkpoint_goes_all_the_way() -> None:
    keys = names(model("gemma2")).keys
    text = json.dumps(
        {"metadata": {"total_size": 1}, "weight_map": dict.fromkeys(keys, "model-00001-of-00002.safetensors")}
    )
    assert decode(read_names(text)).candidates == ("gemma2",)


@FAMILY
def test_a_printed_state_dict_goes_all_the_way(family: str) -> None:
    state = model(family).state_dict()
    printed = "\n".join(f"{key}\t{value.shape}" for key, value in state.items())
    assert decode(read_names(printed)) == decode(names(model(family)))
    ordered = str({key: value.shape for key, value in state.items()})
    assert decode(read_names(ordered)) == decode(names(model(family)))
