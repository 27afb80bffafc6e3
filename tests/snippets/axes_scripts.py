"""How does a test run both scripts of the axes lab, and make the page's data for itself?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from normviz import grid
from normviz.snippets import AxesGiven, axes_script, axes_torch_script
from tests.snippets.scripts import run, same

TEXT = """\
The cat "sat" on {the} mat\\n, didn't it?
%s \\ \N{SNOWMAN} <b>$x$</b> #"""
MIXED = f"{TEXT}\n\n  \nנעשה שלום\n你好 世界\n不用空格 abc\n'''\"\"\"\nYes"


@contextmanager
def torch_as_it_is() -> Iterator[None]:
    """A script may set PyTorch's defaults; afterwards they are as before."""
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)


def both(given: AxesGiven) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the names of both scripts stand for after they ran."""
    with torch_as_it_is():
        plain = axes_torch_script(given)
        assert "normviz" not in plain
        return run(axes_script(given)), run(plain)


def page(given: AxesGiven) -> grid.Batch:
    """The page's batch."""
    if given.source == "words":
        return grid.sentences_batch(given.text, given.d, seed=given.seed, pads=given.pads)
    if given.source == "file":
        part = grid.window(grid.read_grid_file(given.file, Path(given.file).read_bytes()), *given.window)
        return grid.batch(list(part), pads=given.pads, seed=given.seed)
    return grid.synthetic_batch(
        given.kind, given.batch, given.tokens, given.d, seed=given.seed, rho=given.rho, padded=given.padded,
        pads=given.pads,
    )  # fmt: skip


def alike(found: Any, expected: Any) -> None:
    """Two results of the package, equal bit for bit through all of their parts."""
    if is_dataclass(expected):
        assert type(found) is type(expected)
        for field in fields(expected):
            alike(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(expected, Mapping):
        assert list(found) == list(expected)
        for key in expected:
            alike(found[key], expected[key])
    elif isinstance(expected, tuple):
        assert found == expected
    else:
        same(found, expected)


def saved(folder: Path, name: str, x: np.ndarray) -> str:
    """The name of a file that holds x, in a folder."""
    with (folder / name).open("wb") as file:
        np.save(file, x)
    return name
