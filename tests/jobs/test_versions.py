"""Are versions that do not work together told from those that do?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from normviz.errors import InputError
from normviz.jobs import versions
from normviz.jobs.versions import check, summary, versions_here

HERE = {"Python": "3.12.4", "distributed": "2026.8.0", "numpy": "2.4.6", "torch": "2.13.0+cpu", "normviz": "0.1.0"}
SCHEDULER, WORKER = "tcp://10.0.0.1:8786", "tcp://10.0.0.2:4000"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "versions_here", lambda: HERE)


@pytest.mark.parametrize(
    "there",
    [
        {},
        {"Python": "3.12.11"},
        {"distributed": "2026.8.1"},
        {"numpy": "2.1.0"},
        {"torch": "2.13.0+cu130"},
        {"torch": "2.11.0"},
        {"normviz": "0.1.0"},
    ],
)
def test_what_works_together(there: dict[str, str]) -> None:
    check({SCHEDULER: {}, WORKER: {**HERE, **there}}, SCHEDULER)


@pytest.mark.parametrize(
    ("package", "there"),
    [("Python", "3.11.4"), ("distributed", "2026.7.0"), ("numpy", "1.26.4"), ("torch", "3.0"), ("normviz", "0.1.1")],
)
def test_what_does_not(package: str, there: str) -> None:
    for address, who in ((WORKER, "worker"), (SCHEDULER, "scheduler")):
        with pytest.raises(InputError) as caught:
            check({address: {**HERE, package: there}}, SCHEDULER)
        for words in (f"The {who} {address}", f"has {package} {there}", HERE[package], "Install the same version"):
            assert words in str(caught.value)
        with pytest.raises(InputError, match=f"The {who} {address} .* has no {package}; this process has"):
            check({address: {**HERE, package: ""}}, SCHEDULER)


def test_what_this_process_lacks_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "versions_here", lambda: {"normviz": "0.1.0"})
    check({WORKER: HERE}, SCHEDULER)


def test_all_versions_are_told_side_by_side() -> None:
    other = {**HERE, "torch": "2.13.0+cu130"}
    assert summary({SCHEDULER: {"Python": "3.12.4"}, WORKER: HERE, "tcp://10.0.0.3:4000": other}) == (
        "Python 3.12.4, distributed 2026.8.0, numpy 2.4.6, torch 2.13.0+cpu and 2.13.0+cu130, normviz 0.1.0"
    )


def test_telling_the_own_versions_imports_no_torch() -> None:
    assert versions_here().keys() == HERE.keys()
    code = "import sys; from normviz.jobs.versions import versions_here; versions_here(); print('torch' in sys.modules)"
    root = Path(__file__).parents[2]
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert found.stdout.strip() == "False"
