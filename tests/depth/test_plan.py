"""Is a sweep cut into slices that can be measured together, that are whole, and that arrive small depths first?"""

from __future__ import annotations

from typing import Any

import pytest

from normviz.depth.config import SweepConfig
from normviz.depth.cost import slice_cost
from normviz.depth.plan import BATCH_FLOPS, LIVE_FLOPS, SLICE_NUMBERS, slices
from normviz.placements import PLACEMENTS

CONFIGS: list[dict[str, Any]] = [
    {},
    {"placements": tuple(PLACEMENTS), "seeds": (3, 1, 8)},
    {"init": "gpt2"},
    {"d_model": 256, "d_ff": 1024, "batch": 8, "seq_len": 64},
    {"d_model": 512, "d_ff": 2048, "batch": 8, "seq_len": 64, "depths": (2, 64)},
    {"depths": (2, 16, 128, 1024), "seeds": (0,)},
]


@pytest.mark.parametrize("flops", [LIVE_FLOPS, BATCH_FLOPS])
@pytest.mark.parametrize("fields", CONFIGS, ids=str)
def test_slices_hold_every_model_once_and_small_depths_first(fields: dict[str, Any], flops: float) -> None:
    config = SweepConfig(**fields)
    found = slices(config, flops=flops)
    keys = [key for part in found for key in part]
    assert sorted(keys) == sorted(config.keys())
    deepest = [max(key.depth for key in part) for part in found]
    assert deepest == sorted(deepest)


@pytest.mark.parametrize("fields", CONFIGS, ids=str)
def test_a_slice_is_one_pass_over_shared_weights(fields: dict[str, Any]) -> None:
    config = SweepConfig(**fields)
    for part in slices(config):
        placements = [PLACEMENTS[name] for name in {key.placement for key in part}]
        depths = {key.depth for key in part}
        axes = len(placements) * len(depths) * len({key.seed for key in part})
        assert len(part) == axes  # every combination, so that one batch holds them
        assert len({(p.inner_norm, p.qkv_norm, p.init_scale) for p in placements}) == 1
        if config.init == "gpt2" or any(p.knows_depth for p in placements):
            assert len(depths) == 1


@pytest.mark.parametrize("fields", CONFIGS, ids=str)
def test_a_slice_is_small_or_cannot_be_smaller(fields: dict[str, Any]) -> None:
    config = SweepConfig(**fields)
    for part in slices(config):
        cost = slice_cost(config, part)
        assert (cost.flops <= LIVE_FLOPS and cost.kept <= SLICE_NUMBERS) or len(part) == 1


def test_the_classroom_is_one_slice_and_a_wide_sweep_arrives_in_many() -> None:
    assert len(slices(SweepConfig(seeds=(0, 1, 2, 3)))) == 1
    wide = SweepConfig(d_model=256, d_ff=1024, batch=8, seq_len=64)
    assert len(slices(wide)) >= 5
    assert len(slices(wide, flops=BATCH_FLOPS)) < 5


def test_a_forward_pass_is_shared_by_all_depths() -> None:
    config = SweepConfig()
    together = slice_cost(config, config.keys()).flops
    alone = sum(slice_cost(config, (key,)).flops for key in config.keys())  # noqa: SIM118
    assert 0.8 < together / alone < 0.9  # two thirds are backward, and the forward pass goes through 32 of 62 layers
