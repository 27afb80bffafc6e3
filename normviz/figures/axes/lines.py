"""How do the lines of a figure about batches look: what was measured, what theory says, and where do its axes end?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.spectrum import log_range
from normviz.figures.ticks import log_ticks
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.streams import Stream

Array = npt.NDArray[np.float64]

# A line through more points than this has only some of its markers.
_MARKED, _SPARSE = 33, 12
# Room beyond what is drawn: in units of its extent, and as a factor on a log axis.
_ROOM, _FACTOR = 0.07, 1.25
_STEADY = 1e-9
_STROKE = 24  # px


def measured(name: str, x: Array, y: Array, style: tuple[str, str], hover: str, **more: Any) -> dict[str, Any]:
    """A solid line with markers through what was computed; `style` is its colour and its symbol."""
    color, symbol = style
    marker: dict[str, Any] = {"symbol": symbol, "size": 8, "color": color, "line": {"color": color, "width": 1}}
    if x.size > _MARKED:
        marker["maxdisplayed"] = _SPARSE
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": color, "width": theme.LINE_WIDTH, "dash": theme.DASHES["measured"]},
        "marker": marker,
        "hovertemplate": f"<b>{name}</b> {hover}<extra></extra>",
        **more,
    }


def single(name: str, x: Array, y: Array, style: tuple[str, str], hover: str, *, size: int = 7) -> dict[str, Any]:
    """Markers that no line joins."""
    color, symbol = style
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": y,
        "marker": {"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": 1.5}},
        "hovertemplate": f"<b>{name}</b> {hover}<extra></extra>",
    }


def law(name: str, x: Array, y: Array, color: str, mode: str, hover: str, **more: Any) -> dict[str, Any]:
    """A dashed line, what theory says; it lies on the measured one, so it is shaded towards the ink.

    One value alone is a short stroke.
    """
    shade = theme.mix(color, theme.INK[mode], 0.55)
    stroke = {"symbol": "line-ew", "size": _STROKE, "line": {"color": shade, "width": 2}}
    return {
        "type": "scatter",
        "mode": "markers" if x.size == 1 else "lines",
        "name": name,
        "showlegend": False,
        "x": x,
        "y": y,
        "line": {"color": shade, "width": 2, "dash": theme.DASHES["theory"]},
        **({"marker": stroke} if x.size == 1 else {}),
        "hovertemplate": f"<b>{name}</b> {hover}<extra></extra>",
        **more,
    }


def level(name: str, x: Sequence[float], y: float, mode: str) -> dict[str, Any]:
    """A dotted horizontal line to compare with."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": [y] * len(x),
        "line": {"color": theme.MUTED[mode], "width": 1.5, "dash": "dot"},
        "hovertemplate": f"<b>{name}</b>: %{{y:.4~g}}<extra></extra>",
    }


def theory_key(t: Text, mode: str) -> dict[str, Any]:
    """The grey dashed entry of the legend."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": t("theory"),
        "x": [None],
        "y": [None],
        "line": {"color": theme.MUTED[mode], "width": 2, "dash": theme.DASHES["theory"]},
        "legendrank": 1001,  # after what was measured
        "hoverinfo": "skip",
    }


def log_axis(mode: str, title: str, values: Sequence[Array]) -> dict[str, Any]:
    """A log axis around the positive values, with a few round numbers along it."""
    low, high = log_range(list(values))
    low, high = low / _FACTOR, high * _FACTOR
    ticks, labels = log_ticks(low, high)
    ends = [float(np.log10(low)), float(np.log10(high))]
    return theme.axis(mode, title, type="log", range=ends, tickvals=ticks, ticktext=labels)


def plain_axis(mode: str, title: str, values: Sequence[Array], *, least: float = 0.0, **more: Any) -> dict[str, Any]:
    """A linear axis around all values and at least `least` long; without it, 1 to each side of values that are one."""
    drawn = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in values] or [np.zeros(0)])
    low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (0.0, 1.0)
    steady = high - low <= _STEADY * max(1.0, abs(low), abs(high))
    shortest = least or (2.0 if steady else 0.0)
    room = max(_ROOM * (high - low), (shortest - (high - low)) / 2)
    return theme.axis(mode, title, range=[low - room, high + room], **{"nticks": 6, **more})


def step_axis(mode: str, title: str, last: int) -> dict[str, Any]:
    """Whole numbers from 0 to `last`, with at most seven labels."""
    step = next(size * 10**power for power in range(6) for size in (1, 2, 5) if last <= 6 * size * 10**power)
    room = max(0.5, 0.02 * last)
    return theme.axis(mode, title, tick0=0, dtick=step, tickangle=0, range=[-room, last + room])


def progress(stream: Stream, t: Text) -> tuple[str, str]:
    """What is counted along a stream, batches or the tokens of "generation", and what a pointer says of a point."""
    place = {"n": "%{x}", "value": "%{y:.4~g}"}
    if stream.kind == "generation":
        return t("tokens so far"), t("after {n} tokens: {value}", **place)
    return t("batches so far"), t("after {n} batches: {value}", **place)


def unit(stream: Stream, t: Text) -> tuple[str, str]:
    """What one point of a stream is, a batch or a token of "generation", and what a pointer says of it."""
    place = {"n": "%{x}", "value": "%{y:.4~g}"}
    if stream.kind == "generation":
        return t("token"), t("token {n}: {value}", **place)
    return t("batch"), t("batch {n}: {value}", **place)
