"""How does a picture reach the reader's browser, and a click on it come back?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime import Runtime

from normviz.text import Text
from normviz.ui.assets import renderer
from normviz.ui.payload import parted

if TYPE_CHECKING:
    from normviz.figures.picture import Picture

HEIGHT = 420
"""Height of a drawing in CSS pixels when neither the page nor the picture asks for another."""

ROWS = 200
"""Rows of the table view: more would slow the page down; the CSV file has them all."""

_PLACE = f'<div class="normviz-plot-place" style="height: {HEIGHT}px"></div>'


def plot(
    picture: Picture,
    *,
    key: str,
    t: Text,
    on_click: Callable[[list[int]], None] | None = None,
    height: int | None = None,
) -> None:
    """Draw a picture with its table, exports and text alternative.

    Zoom, 3-D camera and legend choices of a person outlive every update of the same picture (`picture.name`). An
    update that arrives while a pointer is down on the drawing is applied on release. Data that did not change is not
    drawn again. A long table and the traces that stay the same while a person clicks (`theme.STILL`) travel in a
    message of their own, which Streamlit sends once.

    Parameters
    ----------
    picture
        What is drawn, said, tabulated and exported.
    key
        Unique on the page, constant over updates; the drawing lives as long as it.
    t
        Words of the reader's language.
    on_click
        Called before the script runs, with the `customdata` of the point that was clicked. A point without
        customdata cannot be clicked.
    height
        Of the drawing in CSS pixels; default `picture.spec["layout"]["height"]`, else `HEIGHT`. In a narrow column it
        is at most `picture.spec["layout"]["meta"]["tallest"]` times the width, if the picture says so.
    """
    if not Runtime.exists():  # a page run as a plain script has no browser to draw in
        return
    rows, layout = len(picture.table), picture.spec["layout"]
    spec, table, part = parted(picture.spec, picture.table)
    data = {
        "name": picture.name,
        "title": picture.title,
        "alt": picture.alt,
        "spec": spec,
        "height": height or layout.get("height", HEIGHT),
        "tallest": layout.get("meta", {}).get("tallest"),
        "table": {"columns": table, "rows": rows, "shown": min(rows, ROWS)},
        "part": part and part.name,
        "clickable": on_click is not None,
        "plotly": _plotly_version(),
        "words": _words(t, picture.title, rows),
    }
    key = f"figure.{key}"  # what the component remembers must not stand where a control of that name keeps its value
    # One block, so that what comes and goes in it moves nothing else on the page.
    with st.container(gap=None):
        if on_click is None:
            renderer("plot", _PLACE)(key=key, data=data)
        else:
            renderer("plot", _PLACE)(key=key, data=data, on_click_change=lambda: _clicked(key, on_click))
        if part is not None:
            renderer("part", "")(key=f"{key}.part", data=part.content)


def _clicked(key: str, on_click: Callable[[list[int]], None]) -> None:
    point = st.session_state[key].get("click")
    # It comes from a browser: anything may be in it.
    if isinstance(point, list) and all(isinstance(index, int) for index in point):
        on_click(point)


def _words(t: Text, title: str, rows: int) -> dict[str, str]:
    return {
        "reset": t("Reset view"),
        "table": t("Table"),
        "png": t("Save the figure as PNG"),
        "svg": t("Save the figure as SVG"),
        "csv": t("Save the numbers as CSV"),
        "tools": t("Tools of the figure: {title}", title=title),
        "numbers": t("Numbers of the figure: {title}", title=title),
        "part": t("The first {shown} of {total} rows. The CSV file has all of them.", shown=ROWS, total=rows)
        if rows > ROWS
        else "",
        "keys": t("Arrow keys turn the figure, + and - change the distance."),
        "failed": t("The figure could not be drawn. Reload the page; its numbers are in the table."),
        "crowded": t("A page draws four 3-D figures at most. The numbers of this one are in the table."),
    }


@cache
def _plotly_version() -> str:
    return version("plotly")  # reads the wheel's metadata: 1.7 ms, at each plot of each click
