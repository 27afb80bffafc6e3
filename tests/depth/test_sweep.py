"""Is a sweep repeatable, can it be continued, and what does it do when a model diverges or a device is missing?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from normviz.depth import device
from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.device import device_name, resolve_device
from normviz.depth.engine import Pass
from normviz.depth.kernels import l2
from normviz.depth.plan import BATCH_FLOPS, slices
from normviz.depth.points import DepthPoint
from normviz.depth.results import collect, from_bytes
from normviz.depth.sweep import measure_slice, sweep
from normviz.errors import InputError
from normviz.placements import PLACEMENTS

TINY: dict[str, Any] = {"d_model": 16, "n_heads": 2, "d_ff": 32, "batch": 2, "seq_len": 6, "vocab_size": 12}
CONFIG = SweepConfig(**TINY, placements=tuple(PLACEMENTS), depths=(1, 3), seeds=(0, 4))


def measure(config: SweepConfig, key: PointKey) -> DepthPoint:
    """One model by itself."""
    (point,) = measure_slice(config, (key,))
    return point


def test_the_same_configuration_gives_the_same_numbers_to_the_last_bit() -> None:
    one, other = collect(CONFIG, sweep(CONFIG)), collect(CONFIG, sweep(CONFIG))
    for a, b in zip(one.points, other.points, strict=True):
        assert a.profiles == b.profiles


def test_a_point_does_not_depend_on_the_rest_of_the_sweep() -> None:
    together = {point.key: point.profiles for point in sweep(CONFIG)}
    for key in CONFIG.keys():  # noqa: SIM118
        alone = measure(CONFIG, key).profiles
        assert set(alone) == set(together[key])
        for name, profile in alone.items():
            assert profile.layer.tolist() == together[key][name].layer.tolist()
            np.testing.assert_allclose(profile.value, together[key][name].value, rtol=1e-4, atol=1e-9, err_msg=name)


def test_points_arrive_slice_by_slice_and_skip_leaves_out_what_is_there() -> None:
    planned = [key for keys in slices(CONFIG, flops=BATCH_FLOPS) for key in keys]
    assert [point.key for point in sweep(CONFIG)] == planned
    left = CONFIG.keys()[:2]
    assert {point.key for point in sweep(CONFIG, skip=CONFIG.keys()[2:])} == set(left)


def test_divergence_is_data() -> None:
    config = SweepConfig(
        placements=("no_norm",), depths=(24,), seeds=(0,), d_model=32, n_heads=2, d_ff=64, dtype="float16",
        batch=1, seq_len=8, vocab_size=10,
    )  # fmt: skip
    result = collect(config, sweep(config))
    assert result.complete
    stream = result.values("residual_mean_square", "no_norm", 24)[0]
    assert np.isfinite(stream[:4]).all()
    assert not np.isfinite(stream[-1])
    assert not np.isfinite(result.values("grad_w2", "no_norm", 24)).all()
    assert from_bytes(result.to_bytes()) == result


def test_a_stream_near_the_end_of_float16_is_measured_without_overflow() -> None:
    x = torch.full((4, 8), 60_000.0, dtype=torch.float16)
    assert l2(x, 0, 1).square().item() / x.numel() == pytest.approx(60_000.0**2, rel=1e-3)


def test_a_point_says_how_it_was_made() -> None:
    point = measure(CONFIG, CONFIG.keys()[0])
    assert point.device == device_name(resolve_device("auto"))
    assert point.torch_version == torch.__version__
    assert 0 < point.seconds < 60


@pytest.mark.parametrize("there", [True, False])
def test_auto_is_cuda_where_there_is_one_else_cpu(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert resolve_device("auto").type == ("cuda" if there else "cpu")
    assert resolve_device("cpu").type == "cpu"


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(device, "_mps_works", lambda: False)
    with pytest.raises(InputError, match="device cuda needs a GPU"):
        resolve_device("cuda")
    with pytest.raises(InputError, match="device mps needs an Apple GPU"):
        resolve_device("mps")


def test_norms_that_float32_cannot_square_are_right() -> None:
    for size in (1e-25, 1e25):
        assert l2(torch.full((3, 4), size), 0, 1).item() == pytest.approx(size * np.sqrt(12), rel=1e-6)
    assert l2(torch.tensor([[1.0, torch.inf]]), 0, 1).item() == np.inf
    assert np.isnan(l2(torch.tensor([[1.0, torch.nan]]), 0, 1).item())


def test_a_slice_that_is_too_large_is_halved_until_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Pass.run

    def small_only(self: Pass) -> Any:
        if len(self._names) * len(self._seeds) * len(self._depths) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return run(self)

    keys = next(keys for keys in slices(CONFIG) if len(keys) > 8)
    whole = {point.key: point for point in measure_slice(CONFIG, keys)}
    monkeypatch.setattr(Pass, "run", small_only)
    halved = {point.key: point for point in measure_slice(CONFIG, keys)}
    assert set(halved) == set(whole) == set(keys)
    assert all(point.halvings >= 3 for point in halved.values())
    assert all(point.halvings == 0 for point in whole.values())
    for key, point in halved.items():
        for name, profile in point.profiles.items():
            np.testing.assert_allclose(profile.value, whole[key].profiles[name].value, rtol=1e-4, atol=1e-9)


def test_running_out_of_device_memory_names_the_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Pass) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Pass, "run", full)
    with pytest.raises(
        InputError, match="memory of the device cpu ran out at depth 3: lower d_model, batch or seq_len"
    ):
        measure(CONFIG, PointKey("pre_norm", 3, 0))


def test_memory_of_the_cpu_that_runs_out_names_the_knobs() -> None:
    # A petabyte of tokens: no address space holds them, so that nothing is taken from this machine.
    config = SweepConfig(batch=65_536, seq_len=65_536, d_model=65_536, depths=(1,), seeds=(0,), device="cpu")
    with pytest.raises(InputError, match="memory of the device cpu ran out at depth 1"):
        measure(config, config.keys()[0])


def test_another_error_of_torch_is_not_called_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Pass) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(Pass, "run", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        measure(CONFIG, PointKey("pre_norm", 3, 0))


@pytest.mark.parametrize("config", [{}, None, CONFIG.to_dict()])
def test_only_a_configuration_is_swept_and_measured(config: Any) -> None:
    for call in (lambda: sweep(config), lambda: measure(config, PointKey("pre_norm", 3, 0))):
        with pytest.raises(InputError, match="config is a SweepConfig; got"):
            call()
