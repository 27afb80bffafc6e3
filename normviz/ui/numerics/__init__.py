"""What does the numerics lab draw? One view at a time, offered as scripts."""

from __future__ import annotations

from collections.abc import Callable

from normviz.snippets import FloatsGiven, floats_script, floats_torch_script
from normviz.text import Text
from normviz.ui.export import two_scripts
from normviz.ui.numerics.orders import decay, orders
from normviz.ui.numerics.steps import PAGE, incidents, steps

__all__ = ["draw"]

_VIEWS: dict[str, Callable[[Text], FloatsGiven]] = {
    "steps": steps,
    "incidents": incidents,
    "arithmetic": orders,
    "decay": decay,
}


def draw(view: str, t: Text) -> None:
    """Draw the chosen view and offer it as scripts."""
    given = _VIEWS[view](t)
    two_scripts(PAGE, lambda: floats_script(given), lambda: floats_torch_script(given), t)
