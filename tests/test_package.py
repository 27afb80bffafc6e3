"""Does the installed package hold what a clone holds?"""

from __future__ import annotations

import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

import normviz

ROOT = Path(__file__).resolve().parent.parent


def test_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("normviz/")}
    files = (file for file in (ROOT / "normviz").rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    assert packed == {file.relative_to(ROOT).as_posix() for file in files}
    assert {"normviz/py.typed", "normviz/locale/zh/messages.po", "normviz/ui/frontend/plot.js"} <= packed
    assert Path(wheel).name == f"normviz-{normviz.__version__}-py3-none-any.whl"
