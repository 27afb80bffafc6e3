"""How does a person take a view of the axes lab along? As a script with normviz, and as one in plain PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from normviz.snippets import AxesGiven, axes_script, axes_torch_script
from normviz.text import Text
from normviz.ui.axes.data import PAGE
from normviz.ui.axes.grid import EPS
from normviz.ui.export import two_scripts


def export(view: str, spec: Mapping[str, Any], t: Text) -> None:
    """Offer the view, made from `spec`, as two scripts."""
    given = AxesGiven(view=view, **{"eps": EPS, **spec})
    two_scripts(PAGE, lambda: axes_script(given), lambda: axes_torch_script(given), t)
