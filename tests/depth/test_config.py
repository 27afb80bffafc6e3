"""Does a configuration refuse what it cannot use, and does its digest name it?"""

from __future__ import annotations

import json
import math
import pickle
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.depth.config import ATTENTIONS, BOUNDS, CHOICES, INITS, MATRICES, PointKey, SweepConfig
from normviz.errors import InputError
from normviz.placements import PLACEMENTS

BAD = [
    ({"placements": ()}, "placements has at least one entry; got none"),
    ({"placements": "pre_norm"}, "placements is a list; got 'pre_norm'"),
    ({"placements": ["pre_norm", "pre_norm"]}, "placements holds each entry once; got 'pre_norm' twice"),
    (
        {"placements": ["prenorm"]},
        "placements can be post_norm, pre_norm, sandwich_norm, output_norm, no_norm, deep_norm, layer_norm_scaling, "
        "sub_ln, rezero, mix_ln, b2t, resi_dual, hybrid_norm, keel, peri_ln, parallel; got 'prenorm'",
    ),
    ({"norm": "batch_norm"}, "norm can be layer_norm, rms_norm, dyt, none; got 'batch_norm'"),
    ({"depths": []}, "depths has at least one entry; got none"),
    ({"depths": 4}, "depths is a list; got 4"),
    ({"depths": {4: 8}}, "depths is a list; got {4: 8}"),
    ({"depths": [0]}, "depths takes whole numbers from 1 to 10000; got 0"),
    ({"depths": [2.5]}, "depths takes whole numbers from 1 to 10000; got 2.5"),
    ({"depths": [4, 4]}, "depths holds each entry once; got 4 twice"),
    ({"d_model": 1}, "d_model takes whole numbers from 2 to 65536; got 1"),
    ({"d_model": "64"}, "d_model takes whole numbers from 2 to 65536; got '64'"),
    ({"d_model": 66}, "d_model is a multiple of n_heads; got d_model 66 and n_heads 4"),
    ({"n_heads": 0}, "n_heads takes whole numbers from 1 to 1024; got 0"),
    ({"n_heads": True}, "n_heads takes whole numbers from 1 to 1024; got True"),
    ({"d_ff": -1}, "d_ff takes whole numbers from 1 to 262144; got -1"),
    ({"batch": None}, "batch takes whole numbers from 1 to 65536; got None"),
    ({"seq_len": 10**9}, "seq_len takes whole numbers from 1 to 65536; got 1000000000"),
    ({"vocab_size": 1}, "vocab_size takes whole numbers from 2 to 1000000; got 1"),
    ({"seeds": [2**31]}, "seeds takes whole numbers from 0 to 2147483647; got 2147483648"),
    ({"seeds": [-1]}, "seeds takes whole numbers from 0 to 2147483647; got -1"),
    ({"init": "kaiming"}, "init can be xavier, gpt2, std02; got 'kaiming'"),
    ({"attention": 3}, "attention can be causal, bidirectional, uniform; got 3"),
    ({"activation": "tanh"}, "activation can be relu, gelu, swiglu; got 'tanh'"),
    ({"qk_norm": 1}, "qk_norm is true or false; got 1"),
    (
        {"qk_norm": True, "attention": "uniform"},
        "qk_norm needs queries and keys, which uniform attention has not; got qk_norm true",
    ),
    ({"output_projection": "no"}, "output_projection is true or false; got 'no'"),
    ({"loss": "sum"}, "loss can be mean, one; got 'sum'"),
    ({"eps": -1e-5}, "eps is a finite number, zero or above; got -1e-05"),
    ({"eps": math.nan}, "eps is a finite number, zero or above; got nan"),
    ({"eps": math.inf}, "eps is a finite number, zero or above; got inf"),
    ({"eps": 10**400}, "eps is a finite number, zero or above; got 1000"),
    ({"eps": "1e-5"}, "eps is a finite number, zero or above; got '1e-5'"),
    ({"eps": True}, "eps is a finite number, zero or above; got True"),
    ({"dtype": "float64"}, "dtype can be float32, mixed, bfloat16, float16; got 'float64'"),
    ({"dtype": "mixed", "device": "mps"}, "dtype mixed is for cpu and cuda; got device mps"),
    ({"gradients": ()}, "gradients has at least one entry; got none"),
    ({"gradients": "w2"}, "gradients is a list; got 'w2'"),
    ({"gradients": ["w3"]}, "gradients can be wq, wk, wv, wo, w1, w2, wg; got 'w3'"),
    ({"gradients": ["w2", "w2"]}, "gradients holds each entry once; got 'w2' twice"),
    ({"device": "tpu"}, "device can be auto, cpu, cuda, mps; got 'tpu'"),
]


@pytest.mark.parametrize(("fields", "sentence"), BAD, ids=[str(fields)[:40] for fields, _ in BAD])
def test_a_bad_field_gets_its_own_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        SweepConfig(**fields)
    assert str(caught.value).startswith(sentence)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_every_field_has_a_bad_example() -> None:
    assert {name for fields, _ in BAD for name in fields} == set(SweepConfig().to_dict())


def test_a_long_bad_value_is_shown_short() -> None:
    with pytest.raises(InputError) as caught:
        SweepConfig(depths=["x" * 10_000])  # type: ignore[arg-type]
    assert len(str(caught.value)) < 120


def test_numbers_of_numpy_become_plain_numbers() -> None:
    config = SweepConfig(
        depths=np.array([8, 2]), d_model=np.int64(32), seeds=range(2), eps=Fraction(1, 4)  # type: ignore[arg-type]
    )  # fmt: skip
    assert (config.depths, config.d_model, config.seeds, config.eps) == ((2, 8), 32, (0, 1), 0.25)
    json.dumps(config.to_dict())


def test_keys_go_from_small_depths_to_large_with_the_placements_of_a_seed_together() -> None:
    config = SweepConfig(placements=("pre_norm", "post_norm"), depths=(4, 2), seeds=(7, 3))
    assert config.keys() == tuple(
        PointKey(placement, depth, seed)
        for depth in (2, 4)
        for seed in (3, 7)
        for placement in ("post_norm", "pre_norm")
    )


def test_the_order_of_lists_does_not_change_a_configuration() -> None:
    one = SweepConfig(placements=("no_norm", "pre_norm"), depths=(8, 2, 4), seeds=(5, 1), gradients=("w2", "wq"))
    other = SweepConfig(
        placements=["pre_norm", "no_norm"], depths=[2, 4, 8], seeds=[1, 5], gradients=["wq", "w2"]  # type: ignore[arg-type]
    )  # fmt: skip
    assert one == other
    assert one.digest == other.digest


def test_the_digest_is_stable() -> None:
    # A result stored under this name must be found again: raise FORMAT when the numbers of a sweep change.
    assert SweepConfig().digest == "8291e26bfdaece2206b5511f1afb8b92e930f86826ee02341f322a55fcc9cb09"


OTHER: dict[str, Any] = {
    "placements": ("no_norm",), "norm": "rms_norm", "depths": (3,), "d_model": 128, "n_heads": 2, "d_ff": 64,
    "batch": 2, "seq_len": 8, "vocab_size": 10, "seeds": (9,), "init": "gpt2", "attention": "uniform",
    "activation": "gelu", "qk_norm": True, "output_projection": False, "loss": "one", "eps": 0.0,
    "dtype": "mixed", "device": "cpu", "gradients": ("w2",),
}  # fmt: skip


@pytest.mark.parametrize("field", SweepConfig().to_dict())
def test_every_field_is_part_of_the_digest(field: str) -> None:
    assert SweepConfig(**{field: OTHER[field]}).digest != SweepConfig().digest


def whole(name: str, most: int) -> st.SearchStrategy[int]:
    return st.integers(BOUNDS[name][0], min(BOUNDS[name][1], most))


configs = st.builds(
    lambda head, heads, **fields: SweepConfig(d_model=2 * head * heads, n_heads=heads, **fields),
    head=st.integers(1, 64),
    heads=st.integers(1, 16),
    placements=st.sets(st.sampled_from(tuple(PLACEMENTS)), min_size=1),
    depths=st.sets(whole("depths", 10_000), min_size=1, max_size=5),
    seeds=st.sets(whole("seeds", 2**31), min_size=1, max_size=5),
    d_ff=whole("d_ff", 10_000),
    batch=whole("batch", 100),
    eps=st.floats(0, 1e300),
    init=st.sampled_from(INITS),
    attention=st.sampled_from(ATTENTIONS),
    dtype=st.sampled_from(CHOICES["dtype"]),
    norm=st.sampled_from(CHOICES["norm"]),
    activation=st.sampled_from(CHOICES["activation"]),
    gradients=st.sets(st.sampled_from(MATRICES), min_size=1),
)


@given(configs)
def test_a_configuration_survives_json(config: SweepConfig) -> None:
    back = SweepConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert back == config
    assert back.digest == config.digest
    assert hash(back) == hash(config)


def test_from_dict_takes_defaults_for_what_is_left_out() -> None:
    assert SweepConfig.from_dict({"depths": [1]}) == SweepConfig(depths=(1,))


def test_from_dict_names_an_unknown_field() -> None:
    with pytest.raises(
        InputError, match=r"A sweep has no field 'width'; its fields are placements, norm, .*, gradients"
    ):
        SweepConfig.from_dict({"width": 3})


def test_minus_zero_is_zero() -> None:
    assert SweepConfig(eps=-0.0).digest == SweepConfig(eps=0.0).digest


@pytest.mark.parametrize("values", [3, None, ["depths"], "depths"])
def test_from_dict_takes_nothing_but_fields_and_values(values: Any) -> None:
    with pytest.raises(InputError, match="A sweep is given by its fields and their values; got"):
        SweepConfig.from_dict(values)


def test_thousands_of_entries_are_checked_at_once() -> None:
    start = time.perf_counter()
    assert len(SweepConfig(seeds=range(100_000)).seeds) == 100_000  # type: ignore[arg-type]
    assert time.perf_counter() - start < 5
