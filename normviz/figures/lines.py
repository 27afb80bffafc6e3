"""How are the lines of a depth figure drawn, with their spread and with the seeds that have no place on a log axis?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.curves import WHERE, Curve
from normviz.figures.picture import Spec
from normviz.placements import PLACEMENTS
from normviz.text import Text

# More layers than this are drawn without a marker each.
_MARKED = 33


def lines_spec(
    curves: Sequence[Curve], xaxis: dict[str, Any], label: str, empty: str, t: Text, mode: str, *, whiskers: bool
) -> Spec:
    """The spec of a figure with a log axis for the values: lines, their spread, and markers at the edges.

    Parameters
    ----------
    curves
        What is drawn; the same placement may come with "last" and with "first".
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
    """
    drawn = [curve for curve in curves if curve.drawn.any()]
    logs = np.log([value for curve in drawn for value in (*curve.low[curve.drawn], *curve.high[curve.drawn])] or [1.0])
    margin = 0.22 + 0.06 * np.ptp(logs)
    # Up to the largest and smallest powers of e that float64 holds.
    low, high = np.exp(np.clip([logs.min() - margin, logs.max() + margin], -700, 700)).tolist()
    bands = [] if whiskers else [_band(curve, mode) for curve in drawn if curve.seeds.max() > 1]
    lines = [_line(curve, t, mode, whiskers=whiskers) for curve in drawn]
    lost = [trace for curve in curves for trace in _edge_markers(curve, (low, high), t, mode)]
    layout = theme.layout(
        mode, xaxis=xaxis, yaxis=theme.axis(mode, label, type="log", **_log_ticks(logs)), showlegend=True
    )
    if not lines and not lost:
        note = {"text": empty, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
        layout["annotations"] = [{**note, "font": {"color": theme.MUTED[mode]}}]
        layout["yaxis"]["showticklabels"] = False
    return {"data": [*bands, *lines, *lost], "layout": layout}


def _line(curve: Curve, t: Text, mode: str, *, whiskers: bool) -> dict[str, Any]:
    keep, color = curve.drawn, theme.PLACEMENT_COLORS[mode][curve.placement]
    first = curve.where == "first"
    name = t(PLACEMENTS[curve.placement].label)
    center, low, high = curve.center[keep], curve.low[keep], curve.high[keep]
    heading = f"<b>{name}</b>" + (f", {t(WHERE[curve.where])}" if curve.where else "")
    place = "L = %{x}: %{y:.4~g}" if whiskers else "l = %{x}: %{y:.4~g}"
    spread = t("seeds from {low} to {high}", low="%{customdata[0]:.4~g}", high="%{customdata[1]:.4~g}")
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers" if whiskers or center.size <= _MARKED else "lines",
        "name": name,
        "legendgroup": curve.placement,
        "showlegend": not first,
        "x": curve.x[keep],
        "y": center,
        "customdata": np.stack([low, high], axis=1),
        "line": {"color": color, "width": 1.5 if first else theme.LINE_WIDTH, "dash": theme.DASHES["measured"]},
        "marker": {
            "symbol": theme.SYMBOLS[curve.placement] + ("-open" if first else ""),
            "size": theme.MARKER_SIZE if whiskers else 6,
            "color": color,
            "line": {"color": color, "width": 2 if first else 0},
        },
        "hovertemplate": f"{heading}<br>{place}<br>{spread}<extra></extra>",
    }
    if whiskers and np.any(high > low):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": high - center,
            "arrayminus": center - low,
            "color": theme.fade(color, 0.55),
            "thickness": 1.5,
            "width": 5,
        }
    return trace


def _band(curve: Curve, mode: str) -> dict[str, Any]:
    keep = curve.drawn
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([curve.x[keep], curve.x[keep][::-1]]),
        "y": np.concatenate([curve.high[keep], curve.low[keep][::-1]]),
        "fill": "toself",
        "fillcolor": theme.fade(theme.PLACEMENT_COLORS[mode][curve.placement], 0.16),
        "line": {"width": 0, "color": theme.CLEAR},
        "legendgroup": curve.placement,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _edge_markers(curve: Curve, edges: tuple[float, float], t: Text, mode: str) -> list[dict[str, Any]]:
    """Seeds without a place on a log axis: inf or nan at the top edge, exact zeros at the bottom edge."""
    color = theme.PLACEMENT_COLORS[mode][curve.placement]
    first = "-open" if curve.where == "first" else ""
    traces = []
    for counts, symbol, y, word in (
        (curve.diverged, "triangle-up", edges[1], t("diverged (inf or nan)")),
        (curve.vanished, "triangle-down", edges[0], t("exactly zero")),
    ):
        hit = counts > 0
        if not hit.any():
            continue
        seeds = t("{part} of {all} seeds", part="%{customdata[0]}", all="%{customdata[1]}")
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": t("{name}: {what}", name=t(PLACEMENTS[curve.placement].label), what=word),
                "legendgroup": curve.placement,
                "showlegend": not first,
                "x": curve.x[hit],
                "y": np.full(np.count_nonzero(hit), y),
                "customdata": np.stack([counts[hit], curve.seeds[hit]], axis=1),
                "marker": {
                    "symbol": symbol + first,
                    "size": theme.MARKER_SIZE + 4,
                    "color": color,
                    "line": {"color": color, "width": 2},
                },
                "hovertemplate": f"<b>%{{fullData.name}}</b><br>{seeds}<extra></extra>",
            }
        )
    return traces


def _log_ticks(logs: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Whole powers of ten for values that span decades, plain numbers otherwise."""
    decades = float(np.ptp(logs)) / np.log(10)
    return {"dtick": int(np.ceil(decades / 7)), "exponentformat": "power"} if decades > 3 else {"tickformat": "~g"}
