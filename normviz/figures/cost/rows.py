"""How do rows with words above and marks below stand in a figure that also fits a phone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from normviz.figures import theme

ROW = 48  # px: a line of words, and the marks under it
HEAD = 34  # px: a heading
NOTE = 22  # px: each line below a heading
_AXIS = 62  # px: ticks and title of the axis


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: its words on the left and on the right, and whether it is a heading.

    A heading has no marks, but perhaps a note below it.
    """

    left: str
    right: str = ""
    heading: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Where rows stand.

    Attributes
    ----------
    places
        The y of each row's marks, in px above the axis.
    annotations
        The words.
    shapes
        A band behind every other row, so that words and marks of a row are seen as one.
    height
        Of the whole drawing in px, with room for a legend of `legend` lines.
    yaxis
        The axis that makes a unit one px.
    """

    places: tuple[float, ...]
    annotations: list[dict[str, Any]]
    shapes: list[dict[str, Any]]
    height: int
    yaxis: dict[str, Any]


def arrange(rows: Sequence[Row], mode: str, *, legend: int = 1) -> Rows:
    """Put rows under one another, the first one on top."""
    total = sum(map(_tall, rows)) + 6
    places, words, bands, top = [], [], [], float(total)
    striped = False
    for row in rows:
        tall = _tall(row)
        places.append(top - tall + 14)
        color = theme.INK[mode]
        line = top - HEAD / 2 - 4 if row.heading else top - 14
        striped = not row.heading and not striped
        if striped:
            bands.append(_band(top - tall, top, mode))
        if row.note:
            words.append(_words(row.note, 0.0, "left", line - 21 - 9 * row.note.count("<br>"), theme.MUTED[mode]))
        text = f"<b>{row.left}</b>" if row.heading else row.left
        words.append(_words(text, 0.0, "left", line, color))
        if row.right:
            words.append(_words(row.right, 1.0, "right", line, color))
        top -= tall
    return Rows(
        places=tuple(places),
        annotations=words,
        shapes=bands,
        height=int(total + _AXIS + 26 * legend + 16),
        yaxis={"range": [0, total], "visible": False, "fixedrange": True},
    )


def _tall(row: Row) -> int:
    return HEAD + (NOTE * (1 + row.note.count("<br>")) if row.note else 0) if row.heading else ROW


def _band(low: float, high: float, mode: str) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": low,
        "y1": high,
        "layer": "below",
        "line": {"width": 0},
        "fillcolor": theme.fade(theme.INK[mode], 0.06),
    }


def _words(text: str, x: float, side: str, y: float, color: str) -> dict[str, Any]:
    return {
        "text": text,
        "xref": "paper",
        "x": x,
        "xanchor": side,
        "y": y,
        "yanchor": "middle",
        "showarrow": False,
        "align": side,
        "font": {"color": color, "size": theme.FONT_SIZE - 1},
        "borderpad": 0,
    }
