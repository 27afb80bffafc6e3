"""How do wirings reach the reader's browser as drawings to point at, to set in motion and to take away?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from streamlit.runtime import Runtime

from normviz.figures import theme
from normviz.figures.placements.diagram import Diagram
from normviz.text import Text
from normviz.ui.assets import renderer

_PLACE = '<div class="normviz-diagram-place" style="height: 720px"></div>'


def diagrams(drawn: Sequence[Diagram], *, key: str, t: Text, mode: str) -> None:
    """Draw wirings side by side, as many in a row as fit, with one switch that sends a signal up or down all of them.

    Pointing at a box, focusing it or tapping it shows what it computes, the module's name and the gradient's way. Each
    drawing has a list view of the same and can be saved. Nothing reaches Python.

    Parameters
    ----------
    drawn
        At least one diagram of `normviz.figures.placements.diagram`.
    key
        Unique on the page, constant over updates.
    t, mode
        The reader's language, and "light" or "dark".
    """
    if not Runtime.exists():  # a page run as a plain script has no browser to draw in
        return
    on_path = any(one.counts.on_path for one in drawn)
    data = {
        "diagrams": [asdict(one) | {"words": _tools(one.title, t)} for one in drawn],
        "colours": {
            "ink": theme.INK[mode],
            "muted": theme.MUTED[mode],
            "grid": theme.GRID[mode],
            "panel": theme.PANEL[mode],
            "paper": theme.BACKGROUND[mode],
        },
        "font": theme.FONT,
        "words": {
            "motion": t("Send a signal through the wires"),
            "forward": t("Forward pass"),
            "backward": t("Backward pass"),
            "step": t("One step"),
            "at": t("{pass}: step {step} of {steps}"),
            "key": t("The thick line is the identity path.")
            + (" " if t.lang == "en" else "") * on_path
            + (t("A norm in full colour sits on it, in every layer.") if on_path else ""),
            "hint": t("Point at a box, tap it, or go from box to box with the arrow keys. Escape closes the card."),
            "module": t("Module:"),
        },
    }
    renderer("diagram", _PLACE)(key=f"diagram.{key}", data=data)


def _tools(title: str, t: Text) -> dict[str, str]:
    return {
        "tools": t("Tools of the figure: {title}", title=title),
        "list": t("List"),
        "listed": t("Boxes of the figure, from below: {title}", title=title),
        "png": t("Save the figure as PNG"),
        "svg": t("Save the figure as SVG"),
    }
