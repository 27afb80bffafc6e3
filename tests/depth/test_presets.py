"""Is each preset the published setting, small enough for a class, and changed where one asks?"""

from __future__ import annotations

import json
from typing import Any

import pytest

import normviz as nv
from normviz.depth.config import SweepConfig
from normviz.depth.presets import PRESETS, preset
from normviz.errors import InputError

# From the papers and released configurations, written without looking at the presets.
PUBLISHED: dict[str, dict[str, Any]] = {
    "classroom": {
        "placements": ("post_norm", "pre_norm"), "norm": "layer_norm", "attention": "causal", "activation": "relu",
        "init": "xavier", "eps": 1e-5, "depths": (2, 4, 8, 16, 32), "n_heads": 4, "d_model": 64, "d_ff": 256,
        "batch": 4, "seq_len": 32,
    },
    "xiong_2020": {
        "placements": ("post_norm", "pre_norm"), "norm": "layer_norm", "attention": "uniform", "activation": "relu",
        "init": "xavier", "eps": 0.0, "depths": (2, 4, 8, 16, 32), "n_heads": 1, "output_projection": False,
        "batch": 8, "seq_len": 16, "d_model": 128, "d_ff": 128, "seeds": (0, 1), "loss": "mean",
    },
    "gpt2": {
        "placements": ("pre_norm",), "norm": "layer_norm", "attention": "causal", "activation": "gelu",
        "init": "gpt2", "eps": 1e-5, "output_projection": True, "qk_norm": False,
    },
    "bert": {
        "placements": ("post_norm",), "norm": "layer_norm", "attention": "bidirectional", "activation": "gelu",
        "init": "std02", "eps": 1e-12, "output_projection": True, "qk_norm": False,
    },
    "llama": {
        "placements": ("pre_norm",), "norm": "rms_norm", "attention": "causal", "activation": "swiglu",
        "init": "std02", "eps": 1e-5, "output_projection": True, "qk_norm": False,
    },
    "gemma2": {
        "placements": ("sandwich_norm",), "norm": "rms_norm", "attention": "causal", "activation": "swiglu",
        "init": "std02", "eps": 1e-6, "output_projection": True, "qk_norm": False,
    },
    "olmo2": {
        "placements": ("output_norm",), "norm": "rms_norm", "attention": "causal", "activation": "swiglu",
        "init": "std02", "eps": 1e-6, "output_projection": True, "qk_norm": True,
    },
}  # fmt: skip
RATIO = {"classroom": 4, "xiong_2020": 1, "gpt2": 4, "bert": 4, "llama": 3, "gemma2": 4, "olmo2": 3}


def test_every_preset_is_compared_with_what_was_published() -> None:
    assert list(PRESETS) == list(PUBLISHED) == list(RATIO)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_published_setting(name: str) -> None:
    config = preset(name)
    assert {field: getattr(config, field) for field in PUBLISHED[name]} == PUBLISHED[name]
    assert config.d_ff == RATIO[name] * config.d_model
    assert config.dtype == "float32"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_what_it_reproduces_and_what_it_leaves_out(name: str) -> None:
    entry = PRESETS[name]
    assert entry.id == name
    assert entry.label
    assert entry.reproduces.endswith(".")
    assert entry.leaves_out.endswith(".")
    assert bool(entry.source) == (name != "classroom")
    with pytest.raises(TypeError):
        entry.fields["d_model"] = 2  # type: ignore[index]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_small_enough_for_a_class(name: str) -> None:
    config = preset(name)
    matrices = 4 * config.d_model**2 + (3 if config.activation == "swiglu" else 2) * config.d_model * config.d_ff
    models = sum(config.depths) * len(config.seeds) * len(config.placements)
    # Six operations for each weight and token; two quiet cores do about 100e9 a second.
    assert 6 * matrices * models * config.batch * config.seq_len < 100e9
    assert 64 <= config.d_model <= 128


def test_the_classroom_preset_is_the_default() -> None:
    assert preset("classroom") == SweepConfig()


def test_presets_differ_and_survive_json() -> None:
    configs = [preset(name) for name in PRESETS]
    assert len({config.digest for config in configs}) == len(configs)
    for config in configs:
        assert SweepConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_changes_apply() -> None:
    config = nv.preset("gpt2", depths=[64], seeds=range(3), eps=0)
    assert (config.depths, config.seeds, config.eps) == ((64,), (0, 1, 2), 0.0)
    assert (config.init, config.activation) == ("gpt2", "gelu")


@pytest.mark.parametrize("name", PRESETS)
def test_another_width_keeps_the_ratio_of_d_ff(name: str) -> None:
    assert preset(name, d_model=256).d_ff == RATIO[name] * 256
    assert preset(name, d_model=256, d_ff=64).d_ff == 64
    assert preset(name, d_ff=64).d_ff == 64


@pytest.mark.parametrize("name", ["gpt3", "", None, 3])
def test_an_unknown_preset_gets_the_names_there_are(name: Any) -> None:
    with pytest.raises(InputError, match="preset can be classroom, xiong_2020, gpt2, bert, llama, gemma2, olmo2; got"):
        preset(name)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"width": 3}, "A sweep has no field 'width'"),
        ({"d_model": "wide"}, "d_model takes whole numbers from 2 to 65536; got 'wide'"),
        ({"d_model": 129}, "d_model is a multiple of n_heads"),
        ({"attention": "uniform"}, "qk_norm needs queries and keys"),
    ],
)
def test_a_change_that_cannot_be_used_gets_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        preset("olmo2", **changes)
