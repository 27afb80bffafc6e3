"""What does the cost lab draw? One view at a time, offered as scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from normviz.snippets import cost_script, cost_torch_script
from normviz.text import Text
from normviz.ui.cost.bench import PAGE, bench, paper
from normviz.ui.cost.counts import counts, layer
from normviz.ui.export import two_scripts

__all__ = ["draw"]

_VIEWS: dict[str, Callable[[Text], dict[str, Any]]] = {
    "counts": counts,
    "layer": layer,
    "bench": bench,
    "paper": paper,
}


def draw(view: str, t: Text) -> None:
    """Draw the chosen view and offer it as scripts."""
    given = _VIEWS[view](t)
    two_scripts(PAGE, lambda: cost_script(view, **given), lambda: cost_torch_script(view, **given), t)
