"""Does the doctor find what works and what does not?"""

from __future__ import annotations

from pathlib import Path

import pytest

from normviz.jobs import doctor
from normviz.jobs.child import Child
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
    assert (found["store"].mark, found["cluster"].mark) == ("FAILED", "FAILED")
    assert "No Dask scheduler answers" in found["cluster"].detail


def test_a_store_that_is_there_and_fails_is_not_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("NORMVIZ_STORE", raising=False)
    for name in ("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    monkeypatch.setattr(doctor, "_APP", ("no-such-package",))
    monkeypatch.setattr(doctor, "_cluster", lambda: "ready")
    monkeypatch.setenv("NORMVIZ_WORKERS", " ")
    found = checks()
    assert (found["store"].needed, found["store"].mark) == (False, "failed")
    assert (found["no-such-package"].needed, found["no-such-package"].mark) == (False, "absent")
    assert (found["cluster"].mark, found["numpy"].mark) == ("ok", "ok")
    assert "workers: one per core, at most 4" in found["threads"].detail


def test_the_settings_of_an_existing_scheduler_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(1)
    try:
        monkeypatch.setenv("NORMVIZ_SCHEDULER", child.wait_for_address(60)[0])
        assert "allowed-failures and memory limits are that scheduler's own" in doctor._cluster()
    finally:
        child.stop()
