"""Do the benchmarks run, and does their plain script measure what the engine measures?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import checks, gpu_sweep, long_stack
from benchmarks.engine import drawn, sweep_config, sweep_flops
from benchmarks.plain import Sizes, measure
from normviz.depth.sweep import sweep
from normviz.placements import PLACEMENTS

ROOT = Path(__file__).parents[1]
SIZES = Sizes(d_model=16, n_heads=2, batch=2, seq_len=8, depths=(1, 3), seeds=(0, 1), vocab_size=20)


def test_plain_script_with_the_engines_weights_measures_the_same() -> None:
    config = sweep_config(SIZES)
    points = {point.key: point.profiles for point in sweep(config)}
    records = list(measure(SIZES, given=drawn(config)))
    assert [(r.placement, r.depth, r.seed) for r in records] == list(config.keys())
    for record in records:
        profiles = points[record.placement, record.depth, record.seed]
        assert profiles["loss"].value == pytest.approx([record.loss], rel=1e-4)
        assert profiles["residual_mean_square"].value == pytest.approx(record.stream, rel=1e-4)
        assert len(record.gradients) == 6
        for name, norms in record.gradients.items():
            assert profiles[f"grad_{name}"].value == pytest.approx(norms, rel=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "mixed", "bfloat16"])
def test_plain_script_draws_its_own_weights(dtype: str) -> None:
    records = list(measure(SIZES, dtype=dtype))
    assert len(records) == 8
    assert all(len(r.stream) == r.depth + 1 and min(r.stream) > 0 for r in records)
    assert all(len(norms) == r.depth and min(norms) >= 0 for r in records for norms in r.gradients.values())


def test_fewer_gradients_take_fewer_operations() -> None:
    assert sweep_flops(sweep_config(SIZES, gradients=("w2",))) < sweep_flops(sweep_config(SIZES))


def test_exponent_of_a_power_law_is_found() -> None:
    assert long_stack.exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]) == pytest.approx(2)


def test_long_stack_doubles_its_depths() -> None:
    assert long_stack.config(8).depths == (2, 4, 8)


def test_gpu_script_runs_without_a_gpu(tmp_path: Path) -> None:
    """In a process of its own, as it is started by hand."""
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.gpu_sweep", "--device=cpu", "--tiny", "--repeats=1", f"--json={file}"]
    ran = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"engine on cpu and on the CPU, {len(PLACEMENTS)} placements" in ran.stdout
    assert "out of memory" in ran.stdout
    lines = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(gpu_sweep.MODES["cpu"])
    assert len({line.count("|") for line in lines}) == 1
    values = json.loads(file.read_text())
    assert [speed["arithmetic"] for speed in values["speeds"]] == ["float32", "mixed", "bfloat16"]


def test_a_difference_stops_the_gpu_script() -> None:
    points = list(sweep(sweep_config(SIZES)))
    others = list(sweep(sweep_config(SIZES, eps=1e-2)))
    assert checks.difference(points, points)[0] == 0
    assert checks.difference(points, others)[0] > checks.TOLERANCE
    with pytest.raises(SystemExit, match="more than 1e-04"):
        checks._verdict("this and that", (2e-4, "loss"))


@pytest.mark.browser
def test_drags_are_counted_and_send_nothing() -> None:
    command = [sys.executable, "-m", "benchmarks.drag", "--rounds=1", "--seconds=0.4"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    head, *lines = ran.stdout.splitlines()
    assert head.split()[0] == "frames/s"
    assert [line[:9] for line in lines] == ["bare page", "bar, 4 en", "tip of x,", "bar, 24 e", "tip of x,"]
    assert all(float(line.split()[-7]) > 0 and line.split()[-1] == "0" for line in lines)


@pytest.mark.browser
def test_clicks_on_cells_are_timed_on_both_views() -> None:
    command = [sys.executable, "-m", "benchmarks.cells", "--rounds=1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    head, bare, *lines = ran.stdout.splitlines()
    assert head.split()[0] == "milliseconds"
    assert bare.startswith("bare page, slider")
    assert [line.split("  ")[0] for line in lines] == [
        f"{sizes}, {view}" for sizes in ("2x3x4", "8x32x64") for view in ("table", "blocks")
    ]
    for line in lines:
        shown, worst, _, script, blocks, table, _ = map(float, line.split()[-7:])
        assert 0 < max(script, blocks, table) <= shown <= worst
