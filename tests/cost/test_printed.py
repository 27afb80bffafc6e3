"""Does the benchmark print the ratios that it measures?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import norms
from normviz.cost import KINDS, BenchConfig, collect, from_bytes
from tests.cost.benches import COPIES, bench


def test_ratios_come_first_and_are_those_of_the_result() -> None:
    result = bench(COPIES, why_not={"compiled": "said no"})
    lines = norms.lines(result)
    expected = f"{result.expected_copies('rms_norm/eager'):.2f}"
    assert f"| RMSNorm | operation by operation | **4.50** (4.50 to 4.50) | {expected} |" in "\n".join(lines)
    assert "- RMSNorm / LayerNorm, torch.compile: 0.80 (0.80 to 0.80)" in lines
    assert "- addition + RMSNorm in one kernel / in two: 0.38 (0.38 to 0.38)" in lines
    assert "- RMSNorm / LayerNorm in the paper's tables, whole steps: 0.59 to 0.93" in lines
    assert "- torch.compile is missing: said no" in lines
    assert not any("beyond the caches" in line for line in lines)
    far = norms.lines(bench(COPIES, far=np.full(5, 0.25), far_bytes=2**28))
    assert "- copy of 128 MiB, beyond the caches, 1.1 GB/s" in far
    assert norms.lines(collect(BenchConfig(), [])) == ["nothing was measured"]


def test_script_measures_and_keeps_its_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, values = tmp_path / "bench.npz", tmp_path / "ratios.json"
    arguments = ["--tokens=4", "--d=8", "--repeats=3", "--device=cpu", "--no-compile", f"--save={kept}"]
    monkeypatch.setattr(sys, "argv", ["norms", *arguments, f"--json={values}"])
    norms.main()
    result = from_bytes(kept.read_bytes())
    assert result.measured == tuple(f"{kind}/{way}" for kind in KINDS for way in ("eager", "functional"))
    copies = json.loads(values.read_text())["copies"]
    assert copies["rms_norm/eager"]["middle"] == pytest.approx(result.copies("rms_norm/eager").middle)
    assert capsys.readouterr().out.count("\n| ") == len(result.measured) + 1
