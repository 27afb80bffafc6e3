"""Does the estimate agree with what torch counts, and does a refusal name the knob that helps?"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.estimate import Estimate, available_memory, check_limit, estimate
from normviz.depth.model import cross_entropy, draw, stack
from normviz.errors import InputError
from normviz.norms import NORMS
from normviz.placements import PLACEMENTS

SPEED = {"flops_per_second": 1e11, "seconds_per_op": 1e-5}
SHAPES: list[dict[str, Any]] = [
    {},
    {"placements": tuple(PLACEMENTS), "depths": (1, 3), "seq_len": 48},
    {"attention": "uniform", "output_projection": False, "loss": "one", "d_ff": 64},
    {"attention": "bidirectional", "loss": "one", "d_model": 32, "n_heads": 8, "vocab_size": 50},
]


def loss_of(config: SweepConfig, key: PointKey) -> torch.Tensor:
    model = draw(config, key.depth, key.seed, torch.device("cpu"))
    norm = NORMS[config.norm].module(config.d_model, config.eps)
    out = stack(config, model, PLACEMENTS[key.placement], norm, lambda what, position, x: None)
    return cross_entropy(config, model, out)


@pytest.mark.parametrize("shape", SHAPES)
def test_flops_are_those_that_torch_counts(shape: dict[str, Any]) -> None:
    config = SweepConfig(**{"depths": (1, 2), "seeds": (0,), **shape})
    with FlopCounterMode(display=False) as counter:
        for key in config.keys():  # noqa: SIM118
            loss_of(config, key).backward()
    assert estimate(config, **SPEED).flops == pytest.approx(counter.get_total_flops(), rel=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_is_about_what_the_backward_pass_keeps(shape: dict[str, Any]) -> None:
    config = SweepConfig(**{"depths": (6,), "seeds": (0,), **shape})
    key = config.keys()[-1]
    kept: dict[int, int] = {}

    def pack(x: torch.Tensor) -> torch.Tensor:
        storage = x.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        loss = loss_of(config, key)
    model = draw(config, key.depth, 0, torch.device("cpu"))
    gradients = sum(w.nbytes for ws in model.layers for w in ws.values())
    assert loss.isfinite()
    assert 0.5 < (sum(kept.values()) + gradients) / estimate(config, **SPEED).memory_bytes < 1.5


def test_time_grows_with_every_knob() -> None:
    base = SweepConfig()
    seconds = estimate(base, **SPEED).seconds
    for more in (
        {"depths": (2, 4, 8, 16, 64)}, {"d_model": 128}, {"d_ff": 512}, {"batch": 8}, {"seq_len": 64},
        {"seeds": (0, 1, 2)}, {"placements": tuple(PLACEMENTS)}, {"vocab_size": 5000},
    ):  # fmt: skip
        assert estimate(SweepConfig(**{**base.to_dict(), **more}), **SPEED).seconds > seconds, more


def test_the_knob_that_helps_most_is_named() -> None:
    assert estimate(SweepConfig(seeds=range(40)), **SPEED).time_knob == "seeds"  # type: ignore[arg-type]
    wide = SweepConfig(d_model=4096, d_ff=4096, depths=(2,), seeds=(0,))
    assert estimate(wide, **SPEED).time_knob == estimate(wide, **SPEED).memory_knob == "d_model"
    long = SweepConfig(seq_len=4096, batch=1, depths=(2,), seeds=(0,))
    assert estimate(long, **SPEED).time_knob == estimate(long, **SPEED).memory_knob == "seq_len"
    assert estimate(SweepConfig(), **SPEED).memory_knob == "depths"


def test_a_knob_at_its_lowest_is_not_named() -> None:
    config = SweepConfig(depths=(1,), seeds=(0,), batch=1, seq_len=1, d_model=64)
    assert estimate(config, **SPEED).time_knob == "d_model"


def test_a_sweep_above_the_limit_is_refused_with_both_numbers_and_the_knob() -> None:
    cost = Estimate(flops=1e12, memory_bytes=3 * 2**30, seconds=90.0, time_knob="depths", memory_knob="seq_len")
    check_limit(cost, max_seconds=100, max_bytes=4 * 2**30)
    with pytest.raises(InputError, match=r"about 90 s; here at most 60 s are allowed\. Lower depths first"):
        check_limit(cost, max_seconds=60, max_bytes=4 * 2**30)
    with pytest.raises(InputError, match=r"about 3072 MiB of memory; here at most 2048 MiB .*Lower seq_len first"):
        check_limit(cost, max_seconds=100, max_bytes=2 * 2**30)


def test_the_available_memory_is_read_where_the_system_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = available_memory()
    assert found is None or 2**20 < found < 2**50
    monkeypatch.setattr("pathlib.Path.read_text", lambda path: "nothing")
    sizes = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr("os.sysconf", sizes.get, raising=False)
    assert available_memory() == 4_096_000
    monkeypatch.delattr("os.sysconf")
    assert available_memory() is None
