"""Does the house keep its own rules? Who imports whom, what the web process loads, how long a file may get."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from normviz.link import KNOBS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = sorted((ROOT / "normviz").rglob("*.py"))
PAGES = sorted((ROOT / "labs").glob("*.py"))
MODULES = [
    ROOT / "app.py",
    *PAGES,
    *PACKAGE,
    *sorted((ROOT / "scripts").glob("*.py")),
    *sorted((ROOT / "benchmarks").glob("*.py")),
]
WEB = (
    "normviz.jobs.board",
    "normviz.jobs.cluster",
    "normviz.figures",
    "normviz.link",
    "normviz.snippets",
    "normviz.cost",
    "normviz.families",
    "normviz.floats",
    "normviz.geometry",
    "normviz.grid",
    "normviz.invariances",
    "normviz.norms",
    "normviz.slips",
    "normviz.streams",
    "normviz.vectors",
    "normviz.depth.config",
    "normviz.depth.estimate",
    "normviz.depth.results",
    "normviz.placements",
)
"""What the web process imports beside `normviz.ui`; a name stands for everything below it."""

PREFIXED = ("plot", "diagrams")
"""What gives its keys a prefix of its own."""

MAX_LINES = 400
MAX_PAGE_LINES = 140


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file: Path) -> set[str]:
    """Names of all modules that a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def loaded_by(*modules: str) -> set[str]:
    """Top-level packages in memory after a fresh interpreter imported the modules."""
    code = f"import {', '.join(modules)}; import json, sys; print(json.dumps([m.split('.')[0] for m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_contracts_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True, no_logo=True) == EXIT_STATUS_SUCCESS


def test_only_ui_imports_streamlit() -> None:
    users = {module(file) for file in PACKAGE if any(name.split(".")[0] == "streamlit" for name in imports(file))}
    assert {user for user in users if not user.startswith("normviz.ui")} == set()


def test_web_process_loads_no_torch() -> None:
    web = [module(file) for file in PACKAGE if module(file).startswith(("normviz.ui", *WEB))]
    assert set(WEB) <= {*web}
    assert "torch" not in loaded_by(*web)


def test_import_normviz_loads_nothing_heavy() -> None:
    assert not loaded_by("normviz") & {"numpy", "pandas", "torch", "streamlit", "plotly", "distributed", "babel"}


@pytest.mark.parametrize("file", MODULES, ids=name)
def test_module_says_which_question_it_answers(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))], ids=name)
def test_file_is_short_enough_to_read(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("file", PAGES, ids=name)
def test_page_reads_top_to_bottom(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)] == []
    assert len(source.splitlines()) < MAX_PAGE_LINES


@pytest.mark.parametrize("file", PAGES, ids=name)
def test_page_leaves_the_heavy_work_to_the_package(file: Path) -> None:
    assert not {name.split(".")[0] for name in imports(file)} & {"torch", "distributed", "dask", "plotly"}


def test_no_widget_keeps_its_value_where_a_control_of_the_link_has_its_own() -> None:
    controls = {f"{page}.{knob.id}" for page, knobs in KNOBS.items() for knob in knobs}
    taken = []
    for file in [*PAGES, *sorted((ROOT / "normviz" / "ui").rglob("*.py"))]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in PREFIXED:
                keys = [word.value for word in node.keywords if word.arg == "key"]
                texts = [key.value for key in keys if isinstance(key, ast.Constant)]
                taken += [(name(file), text) for text in texts if text in controls]
    assert taken == []
