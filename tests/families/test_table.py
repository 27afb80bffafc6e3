"""Does the table say what transformers builds: names, shapes, eps, classes of norms?"""

from __future__ import annotations

import re

import pytest
import torch

from normviz.families import FAMILIES, KNOWN, ROLES, NormSite, Sizes, find, norm_parameters, sizes_needed
from normviz.families.counts import occurrences
from normviz.placements import PLACEMENTS
from tests.families.keys import model, norm_modules
from tests.families.tiny import CASES, HEAD_DIM, HEADS, KV_HEADS, KV_RANK, LAYERS, Q_RANK, D, tiny

FAMILY = pytest.mark.parametrize("family", sorted(FAMILIES))


def sizes(family: str) -> Sizes:
    """The tiny model's sizes; where its config has no head_dim, d is split over the heads."""
    config = model(family).config
    head = getattr(config, "head_dim", None) or D // HEADS
    values = {
        "n_layers": LAYERS,
        "d_model": D,
        "n_heads": HEADS,
        "n_kv_heads": getattr(config, "num_key_value_heads", HEADS),
        "head_dim": head,
        "q_rank": Q_RANK,
        "kv_rank": KV_RANK,
        "value_head": getattr(config, "linear_value_head_dim", 0),
        "per_layer_input": getattr(config, "hidden_size_per_layer_input", 0),
        "attention_layers": 2,
    }
    return Sizes(**values)


def pattern(site: NormSite) -> re.Pattern[str]:
    return re.compile(re.escape(site.name).replace(r"\{i\}", r"(\d+)").replace(r"\{j\}", r"\d+"))


def test_every_family_has_a_tiny_model() -> None:
    assert set(CASES) == set(FAMILIES)


@FAMILY
def test_sites_are_the_norm_modules_of_the_model(family: str) -> None:
    record, modules = FAMILIES[family], norm_modules(model(family))
    for name in modules:
        assert [site.role for site in record.sites if pattern(site).fullmatch(name)], name
    for site in record.sites:
        there = [name for name in modules if pattern(site).fullmatch(name)]
        expected = occurrences(site, sizes(family))
        # The head that predicts masked tokens belongs to the tiny models of encoders.
        assert len(there) == expected if not site.optional else len(there) in (0, 1), site.name
        assert all(modules[name].state_dict().keys() == parameters(site) for name in there), site.name


def parameters(site: NormSite) -> set[str]:
    return ({"weight"} if site.has_weight else set()) | ({"bias"} if site.bias else set())


@FAMILY
def test_eps_is_the_one_of_the_default_config(family: str) -> None:
    record = FAMILIES[family]
    for site in record.sites:
        for name, module in norm_modules(model(family)).items():
            if pattern(site).fullmatch(name) and record.arithmetic != "olmo":
                eps = next(getattr(module, field) for field in ("eps", "variance_epsilon") if hasattr(module, field))
                assert eps == (record.eps if site.eps is None else site.eps), name


def test_olmo_has_eps_in_its_code() -> None:
    x = torch.linspace(-1e-3, 2e-3, D)
    norm = norm_modules(model("olmo"))["model.norm"]
    ours = torch.nn.functional.layer_norm(x, (D,), eps=FAMILIES["olmo"].eps)
    assert torch.equal(norm(x), ours)


@FAMILY
def test_norm_subtracts_the_mean_or_not_and_starts_at_scale_one(family: str) -> None:
    record = FAMILIES[family]
    x = torch.linspace(1, 3, D)
    for site in record.sites:
        for name, module in norm_modules(model(family)).items():
            if pattern(site).fullmatch(name) and site.width == "d":
                y = module(x)
                assert torch.isclose(y.mean(), torch.tensor(0.0), atol=1e-5) == (record.norm == "layer_norm"), name
                assert torch.isclose(y.square().mean(), torch.tensor(1.0), atol=1e-4), name
                if site.has_weight:
                    starts_at_zero = bool((module.weight == 0).all())
                    assert starts_at_zero == ((site.form or record.form) == "1+w"), name


@FAMILY
def test_widths_are_the_shapes_of_the_weights(family: str) -> None:
    state = model(family).state_dict()
    for site in FAMILIES[family].sites:
        for key, value in state.items():
            if pattern(site).fullmatch(key.removesuffix(".weight")):
                assert value.numel() == width(family, site), key


def width(family: str, site: NormSite) -> int:
    given = sizes(family)
    return {
        "d": given.d_model,
        "head": given.head_dim,
        "heads": given.n_heads * given.head_dim,
        "kv_heads": given.n_kv_heads * given.head_dim,
        "q_rank": given.q_rank,
        "kv_rank": given.kv_rank,
        "value_head": given.value_head,
        "per_layer_input": given.per_layer_input,
    }[site.width]


@FAMILY
def test_count_is_the_sum_over_the_models_norms(family: str) -> None:
    modules = norm_modules(model(family))
    optional = [site for site in FAMILIES[family].sites if site.optional]
    counted = {n: m for n, m in modules.items() if not any(pattern(site).fullmatch(n) for site in optional)}
    count = norm_parameters(FAMILIES[family], sizes(family))
    assert count.total == sum(p.numel() for m in counted.values() for p in m.parameters())
    assert count.norms == len(counted) + (family == "nanochat")  # its last norm runs on the embedding too


@FAMILY
def test_records_are_complete(family: str) -> None:
    record = FAMILIES[family]
    assert record.id == family
    assert record.placement in {*PLACEMENTS, "parallel_two"}
    if record.placement in PLACEMENTS and record.placement != "sandwich_norm" and not record.gate:
        placement = PLACEMENTS[record.placement]
        assert record.feed_forward is placement.feed_forward
    assert record.traps
    for site in record.sites:
        assert site.role in ROLES
        assert ("{i}" in site.name) == (site.layers != "once")
        assert site.formula
    assert {"d_model", "n_layers"} <= set(sizes_needed(record))


@FAMILY
def test_qk_norm_is_what_the_sites_say(family: str) -> None:
    record = FAMILIES[family]
    widths = {site.width for site in record.sites if site.role in ("q", "k") and not site.optional}
    expected = {None: set(), "head": {"head"}, "after_rope": {"head"}, "projection": {"heads", "kv_heads"}}
    assert widths == expected[record.qk_norm]


def test_variants_build_what_their_family_leaves_out_by_default() -> None:
    optional = {site.name for family in FAMILIES.values() for site in family.sites if site.optional}
    assert {"transformer.h.{i}.ln_cross_attn", "model.layers.{i}.self_attn.q_layernorm.norms.{j}"} <= optional
    assert HEAD_DIM * HEADS != D
    assert KV_HEADS != HEADS


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("Gemma sandwich", {"gemma2", "gemma3"}, {"gemma", "glm4"}),
        ("ln_f", {"gpt2", "bloom"}, {"llama"}),
        ("LayerNorm parallel", {"gpt_neox", "phi", "cohere"}, {"gpt2", "llama"}),
        ("1e-12", {"bert"}, {"gpt2"}),
        ("post norm opt", {"opt_350m"}, {"opt"}),
        ("  ", set(FAMILIES), set()),
        ("no such family", set(), set(FAMILIES)),
    ],
)
def test_search_finds_families_by_name_norm_and_placement(text: str, some: set[str], none: set[str]) -> None:
    found = set(find(text))
    assert some <= found
    assert not none & found


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("gemma", "gemma"),
        ("GEMMA 2", "gemma2"),
        ("gemma-2", "gemma2"),
        ("Gemma-2-9b", "gemma2"),
        ("llama 3", "llama"),
        ("llama3", "llama"),
        ("Llama-3.1-8B", "llama"),
        ("llama 4", "llama4"),
        ("qwen 2.5", "qwen2"),
        ("Qwen3.5", "qwen3_5"),
        ("opt 350m", "opt_350m"),
        ("phi", "phi"),
        ("t5", "t5"),
        ("cohere", "cohere"),
    ],
)
def test_search_puts_the_family_of_that_name_first(text: str, first: str) -> None:
    assert find(text)[0] == first


@pytest.mark.parametrize("name", ["gemma", "qwen", "olmo", "gpt", "cohere"])
def test_search_for_a_name_finds_no_family_by_its_arithmetic(name: str) -> None:
    assert set(find(name)) == {id for id in FAMILIES if name in id.replace("_", "")}


@FAMILY
def test_every_family_is_first_under_its_own_id_and_found_under_its_label(family: str) -> None:
    assert find(family)[0] == family
    assert family in find(FAMILIES[family].label)


def test_versions_tell_families_apart_and_unknown_ones_are_ignored() -> None:
    assert set(find("gemma 3")) == {"gemma3", "gemma3n"}
    assert find("gemma 77") == find("gemma")
    assert find("77") == ()


def test_search_takes_further_words_last() -> None:
    assert find("前置归一化") == ()
    words = {"gpt2": "前置归一化 注意力之前", "bert": "后置归一化 gemma", "gemma": "前置归一化"}
    assert find("前置归一化", words) == ("gemma", "gpt2")
    assert find("GPT 前置", words) == ("gpt2",)
    assert find("gemma", words)[-1] == "bert"


def test_known_models_name_a_family() -> None:
    assert {model.family for model in KNOWN.values()} <= set(FAMILIES)


def test_names_show_what_a_diagram_wears() -> None:
    assert FAMILIES["llama"].names["mlp_in"] == "model.layers.{i}.post_attention_layernorm"
    assert FAMILIES["gemma2"].names["attention_out"] == "model.layers.{i}.post_attention_layernorm"
    assert FAMILIES["gpt2"].names["final"] == "transformer.ln_f"
    assert [site.role for site in FAMILIES["t5"].stream_sites] == ["attention_in", "cross_in", "mlp_in"]
    assert (FAMILIES["bert"].embedding_norm, FAMILIES["bert"].final_norm) == (True, False)


def test_opt_350m_is_post_norm_where_other_sizes_are_pre_norm() -> None:
    seen = {}
    for family in ("opt", "opt_350m"):
        built = tiny(family)
        order = []
        layer = built.model.decoder.layers[0]
        for name in ("self_attn_layer_norm", "self_attn"):
            getattr(layer, name).register_forward_hook(lambda *_, name=name, order=order: order.append(name))
        built(input_ids=torch.tensor([[3, 4, 5]]))
        seen[family] = order
    assert seen == {"opt": ["self_attn_layer_norm", "self_attn"], "opt_350m": ["self_attn", "self_attn_layer_norm"]}
