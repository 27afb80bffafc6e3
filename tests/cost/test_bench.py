"""Are ratios taken round by round, and does a result survive its file?"""

from __future__ import annotations

import io
import json
import pickle
import re
from typing import Any

import numpy as np
import pytest

from normviz.cost import (
    KINDS,
    WAYS,
    BenchConfig,
    LayerSizes,
    NormBench,
    check_memory,
    collect,
    from_bytes,
    norm_cost,
)
from normviz.cost.files import LARGEST_FILE
from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from tests.cost.benches import COPIES, ROUNDS, bench, point

FULL = bench(COPIES, why_not={"compiled": "said no"}, finished=7.0)
DAMAGED = "The file is damaged or is not a result of a norm benchmark"


def archive(header: Any, **arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)
    return file.getvalue()


def header() -> dict[str, Any]:
    with np.load(io.BytesIO(FULL.to_bytes()), allow_pickle=False) as opened:
        return dict(json.loads(opened["header"].tobytes()))


def same(one: NormBench, other: NormBench) -> bool:
    return one.config == other.config and one.to_bytes() == other.to_bytes()


def test_ratios_do_not_see_what_slows_a_whole_round_down() -> None:
    for name, copies in COPIES.items():
        assert FULL.copies(name) == pytest.approx((copies,) * 3)
    assert FULL.ratio("rms_norm/compiled", "layer_norm/compiled") == pytest.approx((0.8,) * 3)
    spread = FULL.spread("layer_norm/eager")
    assert spread == pytest.approx((9 * 4e-3, 9 * 6e-3, 9 * 8e-3))  # median and quartiles of 1 to 5 times 2 ms


def test_bandwidth_counts_what_one_kernel_would_move() -> None:
    x = 8 * 16 * 4
    roof, fresh = FULL.roof(), FULL.roof(into="fresh")
    assert roof.bandwidth == pytest.approx(2 * x / 1.5e-3)
    assert fresh.bandwidth == pytest.approx(2 * x / 6e-3)
    assert roof.rate == pytest.approx(2 * 100**3 / 1e-3)
    for name in FULL.measured:
        useful = norm_cost(name.split("/")[0], 8, 16).bytes
        reached = useful / FULL.spread(name).middle
        assert FULL.copy_share(name) == pytest.approx(reached / fresh.bandwidth)
        assert FULL.copy_share(name, into="copy") == pytest.approx(reached / roof.bandwidth)
        assert FULL.expected_copies(name) == FULL.cost(name).bytes / (2 * x)


def test_a_roof_over_other_sizes_is_that_of_memory_in_the_format_that_was_timed() -> None:
    far = bench(COPIES, far=np.array([1.0, 2.0, 2.0, 2.0, 9.0]), far_bytes=2**30)
    roof = far.roof_for(LayerSizes(dtype="float32"))
    assert (roof.bandwidth, roof.rate) == (2**30 / 2, pytest.approx(2 * 100**3 / 1e-3))
    assert far.roof_for(LayerSizes(dtype="bfloat16")) is None
    # A tensor of half a kilobyte that is copied in the caches says nothing of a layer.
    assert FULL.roof_for(LayerSizes(dtype="float32")) is None
    assert collect(BenchConfig(), []).roof_for(LayerSizes(dtype="float32")) is None
    again = from_bytes(far.to_bytes())
    assert again.to_bytes() == far.to_bytes()
    assert again.roof_for(LayerSizes(dtype="float32")) == roof


@pytest.mark.parametrize("changes", [{"far": np.ones(5)}, {"far_bytes": 8}, {"far": np.ones(4), "far_bytes": 8}])
def test_a_copy_beyond_the_caches_has_bytes_and_a_time_in_each_round(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"each round|or neither"):
        bench(COPIES, **changes)


def test_what_did_not_run_is_missing_and_nothing_is_a_result_too() -> None:
    part = bench({name: value for name, value in COPIES.items() if "compiled" not in name})
    assert [name.split("/")[1] for name in part.measured] == ["eager", "functional"] * 3
    empty = collect(BenchConfig(), [])
    assert (empty.point, empty.measured) == (None, ())
    assert same(from_bytes(empty.to_bytes()), empty)


def test_a_result_survives_its_file_and_a_pickle() -> None:
    read = from_bytes(FULL.to_bytes())
    assert same(read, FULL)
    assert (read.point.why_not, read.point.finished, read.point.rounds) == ({"compiled": "said no"}, 7.0, ROUNDS)
    for result in (read, pickle.loads(pickle.dumps(FULL))):
        assert same(result, FULL)
        with pytest.raises(ValueError, match="read-only"):
            result.point.copy[0] = 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", DAMAGED),
        (b"PK\x03\x04", DAMAGED),
        (pickle.dumps({"a": 1}), DAMAGED),
        (FULL.to_bytes()[:-40], DAMAGED),
        (archive({"kind": "normviz depth sweep", "format": 1}), "The file holds normviz depth sweep, not a norm"),
        (archive({**header(), "format": 99}), "newer version of normviz: it has format 99"),
        (archive({**header(), "format": "1"}), DAMAGED),
        (archive(header()), DAMAGED),
        (archive(header(), seconds_0=np.ones((3, 5))), DAMAGED),
        (archive(header(), seconds_0=-np.ones((12, 5))), DAMAGED),
        (archive(header(), seconds_0=np.full((12, 5), np.nan)), DAMAGED),
        (archive(header(), seconds_0=np.ones((12, LARGEST_FILE // 8))), "larger than 4 MiB"),
        (archive({**header(), "config": {"tokens": -1}}, seconds_0=np.ones((12, 5))), "tokens is a whole number"),
        (archive({**header(), "config": {"oops": 1}}, seconds_0=np.ones((12, 5))), DAMAGED),
    ],
)
def test_a_foreign_or_damaged_file_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        from_bytes(data)


def test_a_file_that_unpacks_to_too_much_is_refused() -> None:
    file = io.BytesIO()
    np.savez_compressed(file, header=np.zeros(LARGEST_FILE + 1, dtype=np.uint8))
    with pytest.raises(InputError, match="unpacks to more than 4 MiB"):
        from_bytes(file.getvalue())


def test_equal_configurations_have_one_digest_and_a_run_has_its_own() -> None:
    config = BenchConfig(kinds=["rms_norm", "layer_norm"], ways=["compiled", "eager"])
    assert config == BenchConfig(kinds=("layer_norm", "rms_norm"), ways=("eager", "compiled"))
    assert config.digest == BenchConfig(**config.to_dict()).digest
    assert len({config.digest, BenchConfig().digest, BenchConfig(run=1).digest, SweepConfig().digest}) == 4
    assert BenchConfig(kinds=tuple(KINDS)).variants[:3] == tuple(f"layer_norm/{way}" for way in WAYS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"tokens": 0}, "tokens is a whole number from 1"),
        ({"d": -1}, "d is a whole number from 1"),
        ({"repeats": 2}, "repeats is a whole number from 3 to 500; got 2"),
        ({"kinds": ()}, "kinds has at least one entry"),
        ({"kinds": "rms_norm"}, "kinds is a list"),
        ({"ways": ("eager", "eager")}, "ways holds each entry once"),
        ({"ways": ("triton",)}, "ways can be eager, functional, compiled"),
        ({"dtype": "int8"}, "dtype can be float32"),
        ({"device": "tpu"}, "device can be auto, cpu, cuda; got 'tpu'"),
        ({"tokens": 2**30, "d": 2**20}, "These sizes make a tensor of"),
    ],
)
def test_what_is_no_benchmark_is_said(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        BenchConfig(**changes)


def test_a_benchmark_that_does_not_fit_is_refused_before_it_runs() -> None:
    config = BenchConfig(tokens=2**14, d=2**14)
    with pytest.raises(
        InputError, match=r"would need about 9\.0 GiB of memory; 0\.5 GiB are free\. Choose fewer tokens N"
    ):
        check_memory(config, 2**29)
    check_memory(config, None)
    check_memory(config, config.memory_bytes)


def test_points_of_another_benchmark_are_refused() -> None:
    with pytest.raises(InputError, match="The benchmark has no variant 'rms_norm/eager'"):
        collect(BenchConfig(kinds=("layer_norm",)), [point(BenchConfig(), COPIES)])
    with pytest.raises(ValueError, match="once in each round"):
        point(BenchConfig(), COPIES, matmul=[1.0])
