"""Does the doctor find what works and what does not?"""

from __future__ import annotations

from pathlib import Path

import pytest

from normviz.jobs.doctor import Check, report


def checks() -> dict[str, Check]:
    return {check.name: check for check in report()}


def test_everything_works_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NORMVIZ_STORE", str(tmp_path / "results"))
    monkeypatch.setenv("NORMVIZ_WORKERS", "1")
    found = checks()
    assert all(check.ok for check in found.values()), found
    assert {"normviz", "numpy", "torch", "distributed", "device", "threads", "store", "cluster"} <= found.keys()
    assert "at a time: 1" in found["cluster"].detail
    assert list((tmp_path / "results").iterdir()) == []


def test_what_does_not_work_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NORMVIZ_STORE", str(tmp_path / "file"))
    monkeypatch.setenv("NORMVIZ_SCHEDULER", "tcp://127.0.0.1:1")
    found = checks()
    assert (found["store"].ok, found["store"].needed) == (False, True)
    assert "cannot be written" in found["store"].detail
    assert (found["cluster"].ok, found["cluster"].needed) == (False, True)
    assert "No Dask scheduler answers" in found["cluster"].detail
