"""Is everything timed in turns, and does what cannot run here say why?"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from normviz.cost import BenchConfig, LayerSizes, bench, collect, from_bytes, slices, timing
from normviz.errors import InputError
from normviz.jobs.experiments import EXPERIMENTS, run_slice

TINY = BenchConfig(tokens=4, d=8, repeats=3, device="cpu", ways=("eager", "functional"))


def test_the_experiment_measures_every_variant() -> None:
    experiment = EXPERIMENTS["norms"]
    (key,) = experiment.keys(TINY)
    points = run_slice(experiment.measure, TINY, key)
    assert len(points) == experiment.total(TINY) == 1
    result = experiment.collect(TINY, points)
    assert result.measured == TINY.variants
    assert (result.point.rounds, result.point.device, result.point.why_not) == (3, "cpu", {})
    assert set(result.point.calls) == {*TINY.variants, "copy", "fresh", "matmul", "far"}
    assert result.point.threads == torch.get_num_threads()
    assert min(result.copies(name).low for name in result.measured) > 0
    assert result.point.far_bytes >= timing.FAR_BYTES
    assert result.roof_for(LayerSizes(dtype="float32")).bandwidth > 0
    again = experiment.from_bytes(experiment.to_bytes(result))
    assert (again.config, again.points[0].calls) == (TINY, result.point.calls)
    assert not experiment.resources(TINY)
    assert experiment.resources(BenchConfig(device="cuda")) == {"GPU": 1.0}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_other_formats_are_measured(dtype: str) -> None:
    config = BenchConfig(
        tokens=2, d=4, repeats=3, device="cpu", dtype=dtype, kinds=("add_layer_norm",), ways=("eager",)
    )
    assert collect(config, timing.measure(config, bench.WHOLE)).measured == ("add_layer_norm/eager",)


def test_a_missing_compiler_is_named_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise RuntimeError("No working C++ compiler found in torch._inductor.config.cpp.cxx\nmore lines")

    monkeypatch.setattr(torch, "compile", refuse)
    config = BenchConfig(tokens=4, d=8, repeats=3, device="cpu", kinds=("layer_norm", "rms_norm"))
    result = collect(config, timing.measure(config, bench.WHOLE))
    assert {name.split("/")[1] for name in result.measured} == {"eager", "functional"}
    reason = "RuntimeError: No working C++ compiler found in torch._inductor.config.cpp.cxx"
    assert from_bytes(result.to_bytes()).point.why_not == {"compiled": reason}


def test_compiled_computes_what_eager_does_or_the_host_says_why() -> None:
    """Dynamo without a code generator needs no compiler; what Inductor makes of it is the host's."""
    from normviz.cost.ways import compiled, eager

    torch.manual_seed(0)
    given = [torch.randn(4, 8), torch.randn(4, 8), torch.randn(8), torch.randn(8)]
    with pytest.MonkeyPatch.context() as patch:
        made = torch.compile
        patch.setattr(torch, "compile", lambda function, **options: made(function, backend="eager", **options))
        for kind in TINY.kinds:
            for own, other in zip(compiled(kind, *given)(), eager(kind, *given), strict=True):
                torch.testing.assert_close(own, other)
    torch.compiler.reset()


def test_a_format_that_the_device_lacks_is_said() -> None:
    config = BenchConfig(tokens=4, d=8, repeats=3, device="cpu", dtype="float8_e4m3fn")
    with pytest.raises(InputError, match="The device cpu cannot normalize in float8_e4m3fn") as caught:
        timing.measure(config, bench.WHOLE)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(InputError, match="device cuda needs a GPU"):
        timing.measure(BenchConfig(tokens=4, d=8, device="cuda"), bench.WHOLE)


def test_sizes_that_do_not_fit_are_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "available_memory", lambda: 2**20)
    with pytest.raises(InputError, match=re.escape("0.0 GiB are free")):
        timing.measure(BenchConfig(tokens=2**10, d=2**10, device="cpu"), bench.WHOLE)


def test_a_copy_beyond_the_caches_is_left_out_where_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "available_memory", lambda: timing.FAR_BYTES)
    result = collect(TINY, timing.measure(TINY, bench.WHOLE))
    assert (result.point.far, result.point.far_bytes) == (None, 0)
    assert result.measured == TINY.variants


def test_the_copy_is_larger_than_any_cache() -> None:
    assert timing.beyond_caches(0) == timing.FAR_BYTES
    assert timing.beyond_caches(2**30) == 2**32


def test_memory_that_runs_out_all_the_same_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(timing, "_works", full)
    with pytest.raises(InputError, match="The memory of the device cpu ran out: choose fewer tokens N"):
        timing.measure(TINY, bench.WHOLE)


def clocked(repeats: int, seconds: dict[str, float], **options: Any) -> tuple[Any, Any, list[tuple[str, int]]]:
    """What `in_turns` makes of works that take so long, and the calls of its clock."""
    log: list[tuple[str, int]] = []

    def clock(work: Any, calls: int) -> float:
        log.append((work(), calls))
        return seconds[work()] * calls

    works = {name: lambda name=name: name for name in seconds}
    return *timing.in_turns(works, repeats, clock, **options), log


def test_works_take_turns_and_short_ones_are_called_often() -> None:
    times, calls, log = clocked(4, {"a": 1e-4, "b": 1e-2, "c": 1.0}, sample=1e-3)
    assert calls == {"a": 10, "b": 1, "c": 1}
    for name, value in (("a", 1e-4), ("b", 1e-2), ("c", 1.0)):
        np.testing.assert_allclose(times[name], [value] * 4)
    turns = [entry for entry in log if entry not in (("a", 1), ("a", 2), ("b", 2), ("c", 2))][2:]
    one = [("a", 10)] * timing.TRIES, [("b", 1)] * timing.TRIES, [("c", 1)]
    expected = [one[(first + place) % 3] for first in (0, 1, 2, 0) for place in range(3)]
    assert turns == [entry for part in expected for entry in part]


def test_rounds_end_when_time_is_up_but_three_there_are() -> None:
    times, _, _ = clocked(50, {"a": 1e-2}, most=0.0)
    assert times["a"].size == 3


def test_the_time_of_a_round_is_the_shortest_try() -> None:
    noisy = iter([9.0, 1e-2, *([5e-2, 3e-2, 4e-2] * 3)])
    times, _ = timing.in_turns({"a": lambda: None}, 3, lambda work, calls: next(noisy), sample=1e-3)
    np.testing.assert_allclose(times["a"], [3e-2] * 3)


def test_a_gpus_time_lies_between_two_events_with_nothing_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU: the order of what is asked of it."""
    asked: list[str] = []

    class Event:
        def __init__(self, *, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            asked.append("event")

        def synchronize(self) -> None:
            asked.append("wait")

        def elapsed_time(self, end: Event) -> float:
            return 6.0  # milliseconds

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: asked.append("all done"))
    clock = timing._clock(torch.device("cuda"))
    assert clock(lambda: asked.append("work"), 2) == pytest.approx(6e-3)
    assert asked == ["all done", "event", "work", "work", "event", "wait"]


def test_there_is_one_slice_because_turns_need_one_worker() -> None:
    assert slices(TINY) == (bench.WHOLE,)
