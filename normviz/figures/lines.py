"""How are the lines of a depth figure drawn, with their spread and with the seeds that have no place on a log axis?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from normviz.figures import theme
from normviz.figures.curves import WHERE, Curve
from normviz.figures.picture import Spec
from normviz.figures.ticks import log_ticks
from normviz.placements import PLACEMENTS
from normviz.text import Text

# More layers than this are drawn without a marker each.
_MARKED = 33
# Room between the edges, where markers stand, and the ends of the axis of values.
_RIM = 0.05


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
    edges = np.clip([logs.min() - margin, logs.max() + margin], -700, 700)
    low, high = np.exp(edges).tolist()
    tickvals, ticktext = log_ticks(low, high)
    bands = [] if whiskers else [_band(curve, mode) for curve in drawn if curve.seeds.max() > 1]
    both = {curve.where for curve in curves} == {"last", "first"}
    # The open markers of first layers lie on top of the filled ones of last layers.
    upward = sorted(drawn, key=lambda curve: curve.where == "first")
    lines = [_line(curve, t, mode, whiskers=whiskers, both=both) for curve in upward]
    lost = [trace for curve in curves for trace in _edge_markers(curve, (low, high), t, mode, both=both)]
    rim = _RIM * np.ptp(edges) if lost else 0.0
    ends = ((edges + np.array([-rim, rim])) / np.log(10)).tolist()
    keys = [_key(where, t, mode) for where in WHERE] if both and lines else []
    yaxis = theme.axis(mode, label, type="log", range=ends, tickvals=tickvals, ticktext=ticktext)
    layout = theme.layout(mode, xaxis=xaxis, yaxis=yaxis, showlegend=True)
    if keys:
        layout["legend2"] = {
            **layout["legend"],
            "yref": "paper",
            "y": 1.02,
            "itemclick": False,
            "itemdoubleclick": False,
        }
    if not lines and not lost:
        note = {"text": empty, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
        layout["annotations"] = [{**note, "font": {"color": theme.MUTED[mode]}}]
        layout["yaxis"]["showticklabels"] = False
    return {"data": [*bands, *lines, *lost, *keys], "layout": layout}


def _line(curve: Curve, t: Text, mode: str, *, whiskers: bool, both: bool) -> dict[str, Any]:
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
        "showlegend": not (both and first),
        "x": curve.x[keep],
        "y": center,
        "customdata": np.stack([low, high], axis=1),
        "line": {"color": color, "width": _width(first), "dash": theme.DASHES["measured"]},
        "marker": _marker(theme.SYMBOLS[curve.placement], theme.MARKER_SIZE if whiskers else 6, color, first=first),
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


def _width(first: bool) -> float:
    return 1.2 if first else theme.LINE_WIDTH


def _marker(symbol: str, size: float, color: str, *, first: bool) -> dict[str, Any]:
    """Filled for the last layer; for the first open, and so much larger that a filled one shows inside."""
    if not first:
        return {"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": 0}}
    return {"symbol": symbol + "-open", "size": size + 6, "color": color, "line": {"color": color, "width": 2}}


def _key(where: str, t: Text, mode: str) -> dict[str, Any]:
    """A grey entry of the second legend, which says what filled and open markers are."""
    color, first = theme.MUTED[mode], where == "first"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": t(WHERE[where]),
        "legend": "legend2",
        "legendgroup": where,
        "x": [None],
        "y": [None],
        "line": {"color": color, "width": _width(first)},
        "marker": _marker("circle", theme.MARKER_SIZE, color, first=first),
        "hoverinfo": "skip",
    }


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


def _edge_markers(curve: Curve, edges: tuple[float, float], t: Text, mode: str, *, both: bool) -> list[dict[str, Any]]:
    """Seeds without a place on a log axis: inf or nan at the top edge, exact zeros at the bottom edge."""
    color = theme.PLACEMENT_COLORS[mode][curve.placement]
    first = curve.where == "first"
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
                "showlegend": not (both and first),
                "x": curve.x[hit],
                "y": np.full(np.count_nonzero(hit), y),
                "customdata": np.stack([counts[hit], curve.seeds[hit]], axis=1),
                "marker": _marker(symbol, theme.MARKER_SIZE + 4, color, first=first),
                "hovertemplate": f"<b>%{{fullData.name}}</b><br>{seeds}<extra></extra>",
            }
        )
    return traces
