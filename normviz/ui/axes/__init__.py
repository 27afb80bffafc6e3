"""What does the axes lab draw? One view at a time, each computed from what was given."""

from __future__ import annotations

from collections.abc import Callable

from normviz.text import Text
from normviz.ui.axes.batches import batches
from normviz.ui.axes.grid import grid
from normviz.ui.axes.padding import padding
from normviz.ui.axes.running import power, running
from normviz.ui.axes.scripts import export
from normviz.ui.axes.tokens import tokens

__all__ = ["draw"]

_VIEWS: dict[str, Callable[[Text], dict[str, object]]] = {
    "grid": grid,
    "padding": padding,
    "batches": batches,
    "running": running,
    "power": power,
    "tokens": tokens,
}


def draw(view: str, t: Text) -> None:
    """Draw the chosen view and offer it as scripts."""
    export(view, _VIEWS[view](t), t)
