"""What does the placement lab draw? One view at a time, offered as a script."""

from __future__ import annotations

from collections.abc import Callable

from normviz.text import Text
from normviz.ui.export import script_export
from normviz.ui.placements.counts import counts
from normviz.ui.placements.families import families
from normviz.ui.placements.names import names
from normviz.ui.placements.porting import porting
from normviz.ui.placements.wirings import wirings

__all__ = ["draw"]

_VIEWS: dict[str, Callable[[Text], str | None]] = {
    "wirings": wirings,
    "families": families,
    "names": names,
    "porting": porting,
    "counts": counts,
}


def draw(view: str, t: Text) -> None:
    """Draw the chosen view and offer it as a script."""
    code = _VIEWS[view](t)
    if code is not None:
        script_export(code, "placement_lab", t)
