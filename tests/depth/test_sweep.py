"""Is a sweep repeatable, can it be continued, and what does it do when a model diverges or a device is missing?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from normviz.depth import probes
from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.probes import device_name, measure, resolve_device
from normviz.depth.results import QUANTITIES, collect, from_bytes
from normviz.depth.sweep import sweep
from normviz.errors import InputError
from normviz.placements import PLACEMENTS, trace

TINY: dict[str, Any] = {"d_model": 16, "n_heads": 2, "d_ff": 32, "batch": 2, "seq_len": 6, "vocab_size": 12}
CONFIG = SweepConfig(**TINY, placements=tuple(PLACEMENTS), depths=(1, 3), seeds=(0, 4))
MATRICES = ("grad_wq", "grad_wk", "grad_wv", "grad_wo", "grad_w1", "grad_w2")


def test_the_same_configuration_gives_the_same_numbers_to_the_last_bit() -> None:
    one, other = collect(CONFIG, sweep(CONFIG)), collect(CONFIG, sweep(CONFIG))
    for a, b in zip(one.points, other.points, strict=True):
        assert a.profiles == b.profiles


def test_a_point_does_not_depend_on_the_rest_of_the_sweep() -> None:
    key = PointKey("sandwich_norm", 3, 4)
    alone = SweepConfig(**TINY, placements=("sandwich_norm",), depths=(3,), seeds=(4,))
    assert measure(alone, key).profiles == measure(CONFIG, key).profiles


def test_points_arrive_in_the_order_of_the_keys_and_skip_leaves_out_what_is_there() -> None:
    keys = CONFIG.keys()
    assert [point.key for point in sweep(CONFIG)] == list(keys)
    assert [point.key for point in sweep(CONFIG, skip=keys[2:])] == list(keys[:2])


def test_quantities_stand_at_their_layers() -> None:
    depth = 3
    layers, sublayers = np.arange(1.0, depth + 1), np.arange(1, 2 * depth + 1) / 2
    for placement in PLACEMENTS.values():
        point = measure(CONFIG, PointKey(placement.id, depth, 0))
        at = {name: profile.layer.tolist() for name, profile in point.profiles.items()}
        assert at.pop("residual_mean_square") == at.pop("grad_residual") == [0, *layers]
        assert at.pop("branch_mean_square") == sublayers.tolist()
        assert at.pop("loss") == [0]
        assert all(at.pop(name) == layers.tolist() for name in MATRICES)
        on_path = [0.0] * placement.embedding_norm + [
            position for position in sublayers for _ in trace(placement).identity_norms
        ] + [depth + 0.5] * placement.final_norm  # fmt: skip
        assert at.pop("pre_norm_mean_square", []) == on_path
        assert not at
        assert all(profile.value.dtype == np.float64 for profile in point.profiles.values())
    assert set(point.profiles) <= set(QUANTITIES)


def test_matrices_that_a_model_has_not_are_absent() -> None:
    config = SweepConfig(**TINY, attention="uniform", output_projection=False, depths=(1,), seeds=(0,))
    profiles = measure(config, config.keys()[0]).profiles
    assert [name for name in MATRICES if name in profiles] == ["grad_wv", "grad_w1", "grad_w2"]


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
    assert probes._l2(x).square().item() / x.numel() == pytest.approx(60_000.0**2, rel=1e-3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_stays_near_float32(dtype: str) -> None:
    key = PointKey("pre_norm", 3, 0)
    exact, half = (measure(SweepConfig(**TINY, dtype=name), key).profiles for name in ("float32", dtype))
    for name in exact:
        np.testing.assert_allclose(half[name].value, exact[name].value, rtol=0.08, err_msg=name)


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
    monkeypatch.setattr(probes, "_mps_works", lambda: False)
    with pytest.raises(InputError, match="device cuda needs a GPU"):
        resolve_device("cuda")
    with pytest.raises(InputError, match="device mps needs an Apple GPU"):
        resolve_device("mps")


def test_running_out_of_device_memory_names_the_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(probes, "_profiles", full)
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
    def broken(*args: object) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(probes, "_profiles", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        measure(CONFIG, PointKey("pre_norm", 3, 0))


@pytest.mark.parametrize("config", [{}, None, CONFIG.to_dict()])
def test_only_a_configuration_is_swept_and_measured(config: Any) -> None:
    for call in (lambda: sweep(config), lambda: measure(config, PointKey("pre_norm", 3, 0))):
        with pytest.raises(InputError, match="config is a SweepConfig; got"):
            call()
