"""Which controls does the placement lab have?"""

from __future__ import annotations

from normviz.families import FAMILIES, MISTAKES, read_names
from normviz.link.knob import Knob
from normviz.placements import PLACEMENTS
from normviz.text import N_

VIEW_OPTIONS = {
    "wirings": N_("Wirings"),
    "families": N_("Families"),
    "names": N_("Name decoder"),
    "porting": N_("Porting bench"),
    "counts": N_("Counts"),
}
_EXAMPLE = (
    "model.embed_tokens.weight\n"
    "model.layers.0.input_layernorm.weight\n"
    "model.layers.0.self_attn.q_proj.weight\n"
    "model.layers.0.self_attn.k_proj.weight\n"
    "model.layers.0.self_attn.v_proj.weight\n"
    "model.layers.0.self_attn.o_proj.weight\n"
    "model.layers.0.post_attention_layernorm.weight\n"
    "model.layers.0.mlp.gate_proj.weight\n"
    "model.layers.0.mlp.up_proj.weight\n"
    "model.layers.0.mlp.down_proj.weight\n"
    "model.layers.0.pre_feedforward_layernorm.weight\n"
    "model.layers.0.post_feedforward_layernorm.weight\n"
    "model.norm.weight"
)
_SEED_LIMIT = 2**31 - 1

_FAMILY = {name: family.label for name, family in FAMILIES.items()}
_LOWEST = {"n_layers": 1, "d_model": 1}
_HIGHEST = {"n_layers": 10_000, "attention_layers": 10_000, "shared_key_layers": 10_000}
_SIZES = {
    "n_layers": (N_("Layers L"), 32),
    "d_model": (N_("Width d"), 4096),
    "n_heads": (N_("Heads"), 32),
    "n_kv_heads": (N_("Key-value heads"), 8),
    "head_dim": (N_("Width of a head"), 128),
    "q_rank": (N_("Rank of the queries"), 1536),
    "kv_rank": (N_("Rank of keys and values"), 512),
    "value_head": (N_("Width of a value head"), 128),
    "per_layer_input": (N_("Width of the extra embedding"), 256),
    "attention_layers": (N_("Layers with full attention"), 8),
    "shared_key_layers": (N_("Layers that share keys"), 0),
}

PLACEMENT_LAB = (
    Knob(id="view", label=N_("View"), kind="choice", default="wirings", options=VIEW_OPTIONS),
    Knob(
        id="placements",
        label=N_("Placements"),
        kind="choices",
        default=["post_norm", "pre_norm", "sandwich_norm", "output_norm"],
        options={name: placement.label for name, placement in PLACEMENTS.items()},
    ),
    Knob(
        id="search",
        label=N_("Search"),
        kind="text",
        default="",
        help=N_("A family, a module name, a norm or a placement, such as gemma, ln_f, RMSNorm or sandwich."),
    ),
    Knob(id="family", label=N_("Family"), kind="choice", default="llama", options=_FAMILY),
    Knob(
        id="names",
        label=N_("Names of a checkpoint"),
        kind="text",
        default=_EXAMPLE,
        check=read_names,
        help=N_("One name a line, a printed state_dict with or without shapes, or a safetensors index (JSON)."),
    ),
    Knob(id="layers", label=N_("Layers"), kind="int", default=4, low=1, high=24),
    Knob(
        id="seed",
        label=N_("Seed"),
        kind="int",
        default=0,
        low=0,
        high=_SEED_LIMIT,
        help=N_("Another seed draws other values."),
    ),
    Knob(
        id="dtype",
        label=N_("Format"),
        kind="choice",
        default="float32",
        options={name: name for name in ("float32", "bfloat16", "float16")},
    ),
    *(
        Knob(id=f"mistake_{name}", label=label, kind="bool", default=name == "w_for_scale")
        for name, label in MISTAKES.items()
    ),
    *(
        Knob(
            id=name, label=label, kind="int", default=default, low=_LOWEST.get(name, 0), high=_HIGHEST.get(name, 2**20)
        )
        for name, (label, default) in _SIZES.items()
    ),
)
