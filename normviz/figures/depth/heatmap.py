"""How does a quantity of one placement change with depth and with the layer at once?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from normviz.depth.results import DepthSweep
from normviz.figures import theme
from normviz.figures.depth.curves import Curve, summarize
from normviz.figures.depth.lines import HEIGHT, note
from normviz.figures.depth.places import FROM_INPUT, WHERE
from normviz.figures.depth.story import arrived, heading, nothing, slug, story
from normviz.figures.picture import Picture, Spec
from normviz.figures.ticks import log_ticks, sparse
from normviz.figures.words import paragraph, spaced
from normviz.placements import PLACEMENTS
from normviz.text import N_, Text

# Half the width of a column; the rest is the gap to its neighbour.
_HALF = 0.47
# So many marks in one column say that all of it is inf, nan or zero.
_MARKS = 8
# Plotly places the title of the axis before the bar of colours has moved it: px below the axis that it needs then.
_BELOW = 72
# An axis of values spans at least this factor.
_SPAN = 1.5


@dataclass(frozen=True)
class _Column:
    place: int
    depth: int
    curve: Curve


def heatmap_picture(result: DepthSweep, *, quantity: str, placement: str, t: Text, mode: str) -> Picture:
    """A quantity of one placement: a column for each depth, from its first layer at the bottom to its last at the top.

    Columns have one height, so that the same place in the network lies on the same level. Colour is the geometric mean
    over the seeds on a log scale; a cell in which every seed is inf, nan or zero has no colour and, like one in which
    some are, a mark.

    Parameters
    ----------
    result
        A sweep, complete or not; depths that have not arrived stay blank.
    quantity
        A key of `QUANTITIES`.
    placement
        One of the sweep's placements.
    t, mode
        The reader's language, and "light" or "dark".
    """
    columns = []
    for place, depth in enumerate(result.config.depths):
        values = result.values(quantity, placement, depth)
        if values.size:
            x = result.layers(quantity, placement, depth)
            columns.append(_Column(place, depth, summarize(placement, "", x, values)))
    label = heading(quantity, t)
    name = t(PLACEMENTS[placement].label)
    title = spaced(t("{quantity} of {name}: each layer at each depth", quantity=label, name=name))
    told = [
        t("{depth} layers: {course}", depth=column.depth, course=sentence)
        for column in columns
        for sentence in story([column.curve], t, N_("layer {n}"))
    ]
    return Picture(
        name=f"normviz-{slug(quantity)}-heatmap",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told, arrived(result, t)]),
        spec=_spec(result, columns, quantity, t, mode),
        table=_table(columns, t),
    )


def _spec(result: DepthSweep, columns: list[_Column], quantity: str, t: Text, mode: str) -> Spec:
    seen = [column.curve.center[column.curve.drawn] for column in columns]
    logs = np.log10(np.concatenate([part for part in seen if part.size] or [np.ones(1)]))
    room = max(0.0, np.log10(_SPAN) - np.ptp(logs)) / 2
    low, high = float(logs.min() - room), float(logs.max() + room)
    tickvals, ticktext = log_ticks(10**low, 10**high)
    data = [_cells(column, t, mode) for column in columns]
    data += _marks(columns, "diverged", "triangle-up", t("diverged (inf or nan)"), t, mode)
    data += _marks(columns, "vanished", "triangle-down", t("exactly zero"), t, mode)
    depths = result.config.depths
    places = np.arange(len(depths), dtype=np.float64)
    start = "input" if quantity in FROM_INPUT else "first"
    still = {"showgrid": False, "tickangle": 0}
    layout = theme.layout(
        mode,
        height=HEIGHT + 40,
        margin={"l": 16, "r": 16, "t": 16, "b": _BELOW},
        xaxis=theme.axis(
            mode, t("number of layers L"), tickvals=places,
            ticktext=sparse([str(depth) for depth in depths], places), range=[-0.55, len(depths) - 0.45], **still,
        ),
        yaxis=theme.axis(
            mode, "", tickvals=[0.0, 0.5, 1.0],
            ticktext=[_stacked(t(WHERE[where])) for where in (start, "middle", "last")],
            range=[-0.02, 1.02], **still,
        ),
        coloraxis={
            "colorscale": [[place / (len(theme.SEQUENTIAL) - 1), c] for place, c in enumerate(theme.SEQUENTIAL)],
            "cmin": low,
            "cmax": high,
            "colorbar": {
                "orientation": "h", "x": 0.5, "xanchor": "center", "y": 1.02, "yanchor": "bottom", "len": 1.0,
                "thickness": 14, "outlinewidth": 0,
                "title": {"text": heading(quantity, t), "side": "top", "font": {"size": theme.FONT_SIZE - 2}},
                "tickvals": np.log10(tickvals), "ticktext": ticktext, "tickcolor": theme.MUTED[mode],
                "tickfont": {"color": theme.MUTED[mode]},
            },
        },
        showlegend=True,
    )  # fmt: skip
    if not columns:
        note(layout, nothing(result, quantity, t), mode)
    return {"data": data, "layout": layout}


def _stacked(words: str) -> str:
    """Two short lines take less of a phone's width than one long one."""
    return words.replace(" ", "<br>", 1)


def _cells(column: _Column, t: Text, mode: str) -> dict[str, Any]:
    curve = column.curve
    usable = np.where(curve.drawn, curve.center, 1.0)
    z: list[list[float | None]] = [
        [value] if drawn else [None]
        for value, drawn in zip(np.log10(usable).tolist(), curve.drawn.tolist(), strict=True)
    ]
    spread = t("seeds from {low} to {high}", low="%{customdata[2]:.4~g}", high="%{customdata[3]:.4~g}")
    shown = np.stack([curve.x, *(np.where(curve.drawn, part, 0.0) for part in (usable, curve.low, curve.high))], axis=1)
    return {
        "type": "heatmap",
        "x": [column.place - _HALF, column.place + _HALF],
        "y": np.linspace(0.0, 1.0, curve.x.size + 1),
        "z": z,
        "customdata": shown[:, None, :],
        "coloraxis": "coloraxis",
        "showlegend": False,
        "hoverongaps": False,
        "hovertemplate": f"L = {column.depth}, l = %{{customdata[0]}}: %{{customdata[1]:.4~g}}<br>{spread}"
        "<extra></extra>",
    }


def _marks(columns: list[_Column], what: str, symbol: str, name: str, t: Text, mode: str) -> list[dict[str, Any]]:
    """Marks on the cells that have a lost seed: few in a column, its first and its last one among them."""
    x, y, shown = [], [], []
    for column in columns:
        counts = getattr(column.curve, what)
        hits = np.flatnonzero(counts)
        if not hits.size:
            continue
        few = np.unique(np.linspace(0, hits.size - 1, min(hits.size, _MARKS)).round().astype(int))
        for cell in hits[few].tolist():
            x.append(float(column.place))
            y.append((cell + 0.5) / counts.size)
            shown.append([column.depth, float(column.curve.x[cell]), int(counts[cell]), int(column.curve.seeds[cell])])
    if not x:
        return []
    seeds = t("{part} of {all} seeds", part="%{customdata[2]}", all="%{customdata[3]}")
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": x,
            "y": y,
            "customdata": shown,
            "marker": {
                "symbol": symbol, "size": theme.MARKER_SIZE, "color": theme.INK[mode],
                "line": {"color": theme.BACKGROUND[mode], "width": 1.5},
            },
            "hovertemplate": f"<b>{name}</b><br>L = %{{customdata[0]}}, l = %{{customdata[1]}}<br>{seeds}"
            "<extra></extra>",
        }
    ]  # fmt: skip


def _table(columns: list[_Column], t: Text) -> pd.DataFrame:
    curves = [column.curve for column in columns]

    def cells(name: str) -> Any:
        return np.concatenate([getattr(curve, name) for curve in curves] or [np.zeros(0)])

    return pd.DataFrame(
        {
            t("layers L"): np.repeat([column.depth for column in columns], [curve.x.size for curve in curves]),
            t("layer l"): cells("x"),
            t("geometric mean"): cells("center"),
            t("smallest seed"): cells("low"),
            t("largest seed"): cells("high"),
            t("seeds"): cells("seeds"),
            t("diverged seeds"): cells("diverged"),
            t("zero seeds"): cells("vanished"),
        }
    )
