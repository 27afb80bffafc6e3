"""Does the estimate agree with what torch counts, and does a refusal name the knob that helps?"""

from __future__ import annotations

from typing import Any

import pytest
from torch.utils.flop_counter import FlopCounterMode

from normviz.depth.config import SweepConfig
from normviz.depth.estimate import Estimate, available_memory, check_limit, estimate
from normviz.depth.sweep import sweep
from normviz.errors import InputError
from normviz.placements import PLACEMENTS

SPEED = {"flops_per_second": 1e11, "seconds_per_op": 1e-5}
SHAPES: list[dict[str, Any]] = [
    {},
    {"placements": tuple(PLACEMENTS), "depths": (1, 3), "seq_len": 48},
    {"attention": "uniform", "output_projection": False, "loss": "one", "d_ff": 64},
    {"attention": "bidirectional", "loss": "one", "d_model": 32, "n_heads": 8, "vocab_size": 50},
    {"activation": "swiglu", "gradients": ("w2", "wq"), "placements": ("pre_norm", "sub_ln"), "init": "gpt2"},
]


@pytest.mark.parametrize("shape", SHAPES)
def test_flops_are_those_that_torch_counts(shape: dict[str, Any]) -> None:
    config = SweepConfig(**{"depths": (1, 2), "seeds": (0,), **shape})
    with FlopCounterMode(display=False) as counter:
        list(sweep(config))
    assert estimate(config, **SPEED).flops == pytest.approx(counter.get_total_flops(), rel=0.01)


def test_time_grows_with_every_knob() -> None:
    base = SweepConfig()
    seconds = estimate(base, **SPEED).seconds
    for more in (
        {"depths": (2, 4, 8, 16, 64)}, {"d_model": 128}, {"d_ff": 512}, {"batch": 8}, {"seq_len": 64},
        {"seeds": (0, 1, 2)}, {"placements": tuple(PLACEMENTS)}, {"vocab_size": 5000},
    ):  # fmt: skip
        assert estimate(SweepConfig(**{**base.to_dict(), **more}), **SPEED).seconds > seconds, more


def test_the_knob_that_helps_most_is_named() -> None:
    narrow = SweepConfig(seeds=tuple(range(40)), d_model=16, d_ff=16, batch=1, seq_len=1, vocab_size=100_000)
    assert estimate(narrow, **SPEED).time_knob == "seeds"
    wide = SweepConfig(d_model=4096, d_ff=4096, depths=(2,), seeds=(0,))
    assert estimate(wide, **SPEED).time_knob == estimate(wide, **SPEED).memory_knob == "d_model"
    long = SweepConfig(seq_len=4096, batch=1, depths=(2,), seeds=(0,), placements=("pre_norm",))
    assert estimate(long, **SPEED).time_knob == estimate(long, **SPEED).memory_knob == "seq_len"
    thin = SweepConfig(depths=(512,), seeds=(0,), d_model=2, n_heads=1, d_ff=2, batch=1, seq_len=1, vocab_size=2)
    assert estimate(thin, **SPEED).time_knob == estimate(thin, **SPEED).memory_knob == "depths"


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
