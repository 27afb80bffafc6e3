"""How are the lines of a depth figure put together: axes, spread, theory, legends, and words if it is empty?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from normviz.figures import theme
from normviz.figures.depth.curves import Curve
from normviz.figures.depth.laws import Dashed
from normviz.figures.depth.marks import band, dashed_line, edge_markers, key, line, theory_key
from normviz.figures.depth.places import WHERE
from normviz.figures.depth.scale import linear_axis, log_axis
from normviz.figures.picture import Spec
from normviz.text import Text

HEIGHT = 420
# So many entries of the legend fit under a drawing of that height; each further one takes this many pixels more, and
# so does the second legend.
_ENTRIES = 4
_ENTRY_HEIGHT = 16
_KEYS_HEIGHT = 24
# So many characters fit next to one another on a phone.
_LINE = 38


def lines_spec(
    curves: Sequence[Curve],
    xaxis: dict[str, Any],
    label: str,
    empty: str,
    t: Text,
    mode: str,
    *,
    whiskers: bool,
    dashed: Sequence[Dashed] = (),
    notes: Mapping[tuple[str, str], str] | None = None,
    span: tuple[float, float] | None = None,
    link: str | None = None,
) -> Spec:
    """The spec of a figure of lines: their spread, theory, and markers at the edges.

    Parameters
    ----------
    curves
        What is drawn; the same placement may come with several places.
    xaxis
        The finished axis of positions.
    label
        Title of the axis of values.
    empty
        What stands in a figure without a single value.
    t, mode
        The reader's language, and "light" or "dark".
    whiskers
        Whether the spread over the seeds is drawn as whiskers (few positions) or as a band (many).
    dashed
        What theory says.
    notes
        (placement, place) -> one more line of the label that a pointer brings up.
    span
        For a linear axis of values: what it holds at least. Without it the axis is a log axis.
    link
        Name of the figures in which a pointed place is marked too.
    """
    order = list(WHERE)
    drawn = [curve for curve in curves if curve.drawn.any()]
    lost = [curve for curve in curves if curve.diverged.any() or curve.vanished.any()]
    if span is None:
        yaxis, edges = log_axis(drawn, dashed, label, mode, lost=bool(lost))
    else:
        yaxis, edges = linear_axis(drawn, span, label, mode, lost=bool(lost))
    places = sorted({curve.where for curve in curves if curve.where}, key=order.index)
    main = places[0] if places else ""
    upward = sorted(drawn, key=lambda curve: order.index(curve.where) if curve.where else 0)
    extra = notes or {}
    data = [band(curve, mode) for curve in drawn if not whiskers and curve.seeds.max() > 1]
    data += [
        line(curve, extra.get((curve.placement, curve.where), ""), t, mode, whiskers=whiskers, main=main)
        for curve in upward
    ]
    data += [dashed_line(law, t, mode, depths=whiskers) for law in dashed]
    data += [trace for curve in lost for trace in edge_markers(curve, edges, t, mode, main=main)]
    keys = [key(place, t, mode) for place in places] if len(places) > 1 and drawn else []
    keys += [theory_key(t, mode)] if dashed else []
    entries = sum(bool(trace["showlegend"]) for trace in data)
    height = HEIGHT + _ENTRY_HEIGHT * max(0, entries - _ENTRIES) + (_KEYS_HEIGHT if keys else 0)
    layout = theme.layout(mode, link=link, height=height, xaxis=xaxis, yaxis=yaxis, showlegend=True)
    if entries > _ENTRIES:
        layout["legend"]["font"]["size"] = theme.FONT_SIZE - 3
    if keys:
        layout["legend2"] = {
            **layout["legend"],
            "yref": "paper",
            "y": 1.02,
            "itemclick": False,
            "itemdoubleclick": False,
        }
    if not drawn and not lost:
        note(layout, empty, mode)
        layout["yaxis"]["showticklabels"] = False
    return {"data": [*data, *keys], "layout": layout}


def note(layout: dict[str, Any], words: str, mode: str) -> None:
    """Say in the middle of an empty drawing why it is empty; a long sentence is broken, a Chinese one anywhere."""
    lines = [""]
    for part in re.findall(r"[一-鿿][，。：；]?|[^\s一-鿿]+\s*|\s+", words):
        if sum(2 if letter >= "一" else 1 for letter in lines[-1] + part.rstrip()) > _LINE:
            lines.append(part.lstrip())
        else:
            lines[-1] += part
    place = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    layout["annotations"] = [
        {**place, "text": "<br>".join(line.rstrip() for line in lines), "font": {"color": theme.MUTED[mode]}}
    ]
