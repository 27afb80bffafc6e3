"""How does each mark of a depth figure look: line, band, theory, edge marker, entry of the legend?"""

from __future__ import annotations

from typing import Any

import numpy as np

from normviz.figures import theme
from normviz.figures.depth.curves import Curve
from normviz.figures.depth.laws import Dashed
from normviz.figures.depth.places import WHERE
from normviz.placements import PLACEMENTS
from normviz.text import N_, Text

# More positions than this get only some of their markers: enough to tell the lines apart, few enough to be drawn fast.
MARKED = 33
_SPARSE = 12
_EDGE = 24
# A band over more positions than this is the hull of as many blocks of them.
_BLOCKS = 256
# Line width in px, and what the markers of each place look like: suffix of the symbol, and px added to its size. An
# open marker is so much larger that a filled one shows inside.
_STYLES = {
    "": (theme.LINE_WIDTH, "", 0),
    "last": (theme.LINE_WIDTH, "", 0),
    "feed_forward": (theme.LINE_WIDTH, "", 0),
    "middle": (1.7, "-open-dot", 3),
    "attention": (1.2, "-open", 4),
    "first": (1.2, "-open", 6),
    "input": (1.2, "-open", 6),
}


def line(curve: Curve, note: str, t: Text, mode: str, *, whiskers: bool, main: str) -> dict[str, Any]:
    """The line of a curve; the one of the place `main` stands in the legend for its placement."""
    keep, color = curve.drawn, theme.PLACEMENT_COLORS[mode][curve.placement]
    label = t(PLACEMENTS[curve.placement].label)
    center, low, high = curve.center[keep], curve.low[keep], curve.high[keep]
    head = f"<b>{label}</b>" + (f", {t(WHERE[curve.where])}" if curve.where else "")
    place = ("L" if whiskers else "l") + " = %{x}: %{y:.4~g}"
    spread = t("seeds from {low} to {high}", low="%{customdata[0]:.4~g}", high="%{customdata[1]:.4~g}")
    size = theme.MARKER_SIZE if whiskers or center.size > MARKED else 6
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "legendgroup": curve.placement,
        "showlegend": curve.where == main,
        "x": curve.x[keep],
        "y": center,
        "customdata": np.stack([low, high], axis=1),
        "line": {"color": color, "width": _STYLES[curve.where][0], "dash": theme.DASHES["measured"]},
        "marker": _marker(theme.SYMBOLS[curve.placement], size, color, curve.where),
        "hovertemplate": "<br>".join(part for part in (head, place, spread, note) if part) + "<extra></extra>",
    }
    if center.size > MARKED:
        trace["marker"]["maxdisplayed"] = _SPARSE
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


def _marker(symbol: str, size: float, color: str, where: str) -> dict[str, Any]:
    _, suffix, more = _STYLES[where]
    if not suffix:
        return {"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": 0}}
    return {"symbol": symbol + suffix, "size": size + more, "color": color, "line": {"color": color, "width": 2}}


def band(curve: Curve, mode: str) -> dict[str, Any]:
    """From the smallest to the largest seed."""
    keep = curve.drawn
    x, low, high = curve.x[keep], curve.low[keep], curve.high[keep]
    if x.size > _BLOCKS:
        starts = np.linspace(0, x.size, _BLOCKS, endpoint=False).astype(int)
        middles = np.append((x[starts[:-1]] + x[starts[1:] - 1]) / 2, x[-1])
        middles[0] = x[0]
        x, low, high = middles, np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([high, low[::-1]]),
        "fill": "toself",
        "fillcolor": theme.fade(theme.PLACEMENT_COLORS[mode][curve.placement], 0.16),
        "line": {"width": 0, "color": theme.CLEAR},
        "legendgroup": curve.placement,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def dashed_line(law: Dashed, t: Text, mode: str, *, depths: bool) -> dict[str, Any]:
    """What theory says, in the placement's colour; it lies on top, so it is shaded to show on a line it agrees with."""
    head = f"<b>{t(PLACEMENTS[law.placement].label)}</b>" + (f", {t(WHERE[law.where])}" if law.where else "")
    place = ("L" if depths else "l") + " = %{x}: %{y:.4~g}"
    origin = t("theory: {law} ({source})", law=t(law.name), source=t(law.source))
    return {
        "type": "scatter",
        "mode": "lines",
        "legendgroup": law.placement,
        "showlegend": False,
        "x": law.x,
        "y": law.y,
        "line": {"color": theme.theory_color(mode, law.placement), "width": 2, "dash": theme.DASHES["theory"]},
        "hovertemplate": "<br>".join((head, place, origin)) + "<extra></extra>",
    }


def key(where: str, t: Text, mode: str) -> dict[str, Any]:
    """A grey entry of the second legend, which says what filled and open markers are."""
    color = theme.MUTED[mode]
    return {
        **_key(t(WHERE[where]), where),
        "mode": "lines+markers",
        "line": {"color": color, "width": _STYLES[where][0]},
        "marker": _marker("circle", theme.MARKER_SIZE, color, where),
    }


def theory_key(t: Text, mode: str) -> dict[str, Any]:
    """The grey dashed entry of the second legend."""
    style = {"color": theme.MUTED[mode], "width": 2, "dash": theme.DASHES["theory"]}
    return {**_key(t("theory"), "theory"), "mode": "lines", "line": style}


def _key(name: str, group: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": name,
        "legend": "legend2",
        "legendgroup": group,
        "showlegend": True,
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
    }


def edge_markers(curve: Curve, edges: tuple[float, float], t: Text, mode: str, *, main: str) -> list[dict[str, Any]]:
    """Seeds without a place on the axis: inf or nan at the top edge, exact zeros at the bottom edge."""
    color = theme.PLACEMENT_COLORS[mode][curve.placement]
    label = t(PLACEMENTS[curve.placement].label)
    seeds = t("{part} of {all} seeds", part="%{customdata[0]}", all="%{customdata[1]}")
    traces = []
    for counts, symbol, y, word in (
        (curve.diverged, "triangle-up", edges[1], N_("diverged (inf or nan)")),
        (curve.vanished, "triangle-down", edges[0], N_("exactly zero")),
    ):
        hit = counts > 0
        if not hit.any():
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": t("{name}: {what}", name=label, what=t(word)),
                "legendgroup": curve.placement,
                "showlegend": curve.where == main,
                "x": curve.x[hit],
                "y": np.full(np.count_nonzero(hit), y),
                "customdata": np.stack([counts[hit], curve.seeds[hit]], axis=1),
                "marker": {
                    **_marker(symbol, theme.MARKER_SIZE + 4, color, curve.where),
                    **({"maxdisplayed": _EDGE} if np.count_nonzero(hit) > MARKED else {}),
                },
                "hovertemplate": f"<b>%{{fullData.name}}</b><br>%{{x}}<br>{seeds}<extra></extra>",
            }
        )
    return traces
