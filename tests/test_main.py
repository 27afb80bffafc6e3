"""Does the command line run a sweep, show its file and say what is wrong?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from normviz.__main__ import main
from normviz.depth.config import SweepConfig
from normviz.depth.presets import preset
from normviz.depth.results import DepthPoint, Profile, collect, load
from normviz.errors import InputError

SMALL = ["--depths", "1", "2", "--seeds", "0", "--d-model", "8", "--n-heads", "2", "--d-ff", "8", "--seq-len", "4"]


def test_sweep_writes_the_file_that_show_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.npz"
    assert main(["sweep", *SMALL, "--placements", "no_norm", "--no-output-projection", "-o", str(file), "--json"]) == 0
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    result = load(file)
    assert result.config == SweepConfig(
        placements=("no_norm",), depths=(1, 2), seeds=(0,), d_model=8, n_heads=2, d_ff=8, seq_len=4,
        output_projection=False,
    )  # fmt: skip
    assert result.complete
    assert (summary["digest"], summary["measured"], summary["planned"]) == (result.config.digest, 2, 2)
    assert [row["depth"] for row in summary["summary"]] == [1, 2]
    assert summary["summary"][1]["grad_w2_last"] == result.values("grad_w2", "no_norm", 2)[0, -1]
    assert "2/2" in captured.err  # the progress bar

    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "d_model=8" in shown[0]
    assert shown[1].startswith("2 of 2 models in ")
    assert shown[2].split() == ["placement", "depth", *list(summary["summary"][0])[2:]]
    assert [line.split()[:2] for line in shown[3:]] == [["no_norm", "1"], ["no_norm", "2"]]


def test_a_preset_is_swept_with_the_changes_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    swept = []
    monkeypatch.setattr("normviz.depth.sweep.sweep", lambda config: swept.append(config) or iter(()))
    changes = ["--depths", "1", "3", "--no-qk-norm", "--eps", "0", "--device", "cpu", "--dtype", "mixed"]
    assert main(["sweep", "--preset", "olmo2", *changes, "-o", str(tmp_path / "a.npz")]) == 0
    assert main(["sweep", *changes, "--gradients", "w2", "w1", "-o", str(tmp_path / "b.npz")]) == 0
    common = {"depths": (1, 3), "eps": 0.0, "device": "cpu", "dtype": "mixed"}
    assert swept == [preset("olmo2", qk_norm=False, **common), SweepConfig(gradients=("w1", "w2"), **common)]


def test_show_says_when_a_sweep_was_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    point = replace(diverged(1), finished=1_800_000_000.5)
    collect(CONFIG, [point]).save(tmp_path / "a.npz")
    assert main(["show", str(tmp_path / "a.npz")]) == 0
    assert "in 1.00 s on cpu, finished 2027-01-15T08:00:00+00:00" in capsys.readouterr().out
    assert main(["show", str(tmp_path / "a.npz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"] == "2027-01-15T08:00:00+00:00"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--depths", "2.5"], "depths takes whole numbers from 1 to 10000; got 2.5"),
        (["--eps", "nan"], "eps is a finite number, zero or above; got nan"),
        (["--eps", "tiny"], "eps is a finite number, zero or above; got 'tiny'"),
        (["--norm", "batch_norm"], "norm can be layer_norm, rms_norm, dyt, none; got 'batch_norm'"),
        (["--preset", "gpt3"], "preset can be classroom, xiong_2020, gpt2, bert, llama, gemma2, olmo2; got 'gpt3'"),
        (
            ["--preset", "olmo2", "--attention", "uniform"],
            "qk_norm needs queries and keys, which uniform attention has not; got qk_norm true",
        ),
        (["--gradients", "w3"], "gradients can be wq, wk, wv, wo, w1, w2, wg; got 'w3'"),
        (["--d-model", "66"], "d_model is a multiple of n_heads; got d_model 66 and n_heads 4"),
    ],
)
def test_a_bad_value_ends_with_its_sentence_and_status_2(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", *arguments, "-o", str(tmp_path / "run.npz")]) == 2
    assert capsys.readouterr().err == f"normviz: {sentence}\n"
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_said_before_anything_is_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "-o", str(tmp_path / "no" / "run.npz")]) == 2
    assert capsys.readouterr().err == f"normviz: There is no folder {tmp_path / 'no'} to write the result to\n"


def measured(*args: object) -> None:
    pytest.fail("the sweep has started")


def test_a_folder_or_a_locked_file_is_said_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("normviz.depth.sweep.sweep", measured)
    assert main(["sweep", "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"normviz: {tmp_path} is a folder; name a file to write the result to\n"
    monkeypatch.setattr("os.access", lambda place, mode: False)  # root may write anywhere
    assert main(["sweep", "-o", str(tmp_path / "a.npz")]) == 2
    assert capsys.readouterr().err == f"normviz: {tmp_path} is not writable, and the result could not be kept\n"


def test_a_sweep_larger_than_the_memory_is_refused_with_the_knob_to_lower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("normviz.depth.sweep.sweep", measured)
    monkeypatch.setattr("normviz.__main__.available_memory", lambda: 2**20)
    assert main(["sweep", *SMALL, "--device", "cpu", "--vocab-size", "1000000", "-o", str(tmp_path / "a.npz")]) == 2
    assert "here at most 1 MiB are allowed. Lower " in capsys.readouterr().err
    monkeypatch.setattr("normviz.__main__.available_memory", lambda: None)
    monkeypatch.setattr("normviz.depth.sweep.sweep", lambda config: iter(()))
    assert main(["sweep", *SMALL, "--device", "cpu", "--vocab-size", "1000000", "-o", str(tmp_path / "a.npz")]) == 0


def test_show_refuses_a_foreign_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.npz").write_text("hello")
    assert main(["show", str(tmp_path / "a.npz")]) == 2
    assert "The file is damaged or is not a result of a depth sweep" in capsys.readouterr().err


CONFIG = SweepConfig(placements=("no_norm",), depths=(1, 2), seeds=(0,))


def diverged(depth: int) -> DepthPoint:
    names = ("residual_mean_square", "grad_residual", "grad_w2", "loss")
    profiles = {name: Profile(layer=np.zeros(1), value=np.array([np.inf])) for name in names}
    return DepthPoint(
        placement="no_norm", depth=depth, seed=0, profiles=profiles, seconds=1.0, device="cpu", torch_version="2"
    )


def test_show_prints_strict_json_for_a_diverged_and_partial_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect(CONFIG, [diverged(1)]).save(tmp_path / "a.npz")
    assert main(["show", str(tmp_path / "a.npz"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (summary["measured"], summary["planned"]) == (1, 2)
    assert summary["summary"][0]["grad_w2_last"] == "inf"
    assert summary["finished"] is None


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt(), 130), (InputError("no memory"), 2)])
def test_what_was_measured_is_kept_when_a_sweep_ends_early(
    error: BaseException, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(config: SweepConfig) -> Iterator[DepthPoint]:
        yield diverged(1)
        raise error

    monkeypatch.setattr("normviz.depth.sweep.sweep", ending)
    arguments = ["--placements", "no_norm", "--depths", "1", "2", "--seeds", "0"]
    assert main(["sweep", *arguments, "-o", str(tmp_path / "a.npz")]) == status
    assert load(tmp_path / "a.npz") == collect(CONFIG, [diverged(1)])


@pytest.mark.parametrize(("needed", "status"), [(True, 1), (False, 0)])
def test_doctor_prints_a_line_for_each_check_and_fails_with_a_needed_one(
    needed: bool, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = SimpleNamespace(name="store", ok=True, needed=True, mark="ok", detail="/tmp/store")
    bad = SimpleNamespace(name="cuda", ok=False, needed=needed, mark="FAILED", detail="none here")
    module = ModuleType("normviz.jobs.doctor")
    monkeypatch.setattr(module, "report", lambda: [good, bad], raising=False)
    monkeypatch.setitem(sys.modules, "normviz.jobs.doctor", module)
    assert main(["doctor"]) == status
    assert capsys.readouterr().out.splitlines() == [
        "ok      store  /tmp/store",
        "FAILED  cuda   none here",
    ]


def test_the_module_runs_and_its_help_names_every_field() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "normviz", "sweep", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    for name in SweepConfig().to_dict():
        assert f"--{name.replace('_', '-')}" in run.stdout


def test_showing_a_file_does_not_import_torch(tmp_path: Path) -> None:
    collect(CONFIG, [diverged(1)]).save(tmp_path / "a.npz")
    code = "import sys; from normviz.__main__ import main; main(['show', sys.argv[1]]); print('torch' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "a.npz")]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.splitlines()[-1] == "False"
