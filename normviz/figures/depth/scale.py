"""From where to where does a depth figure reach, and which numbers stand along its axes?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from normviz.figures import theme
from normviz.figures.depth.curves import Curve
from normviz.figures.depth.laws import Dashed
from normviz.figures.ticks import log_ticks, sparse
from normviz.text import Text

# Room between the edges, where markers stand, and the ends of the axis of values.
_RIM = 0.05
# Largest and smallest powers of e that float64 holds.
_MOST = 700.0
# With more layers than this, every label of the axis has three digits or more, and half as many fit.
_WIDE = 99


def log_axis(
    curves: Sequence[Curve], dashed: Sequence[Dashed], title: str, mode: str, *, lost: bool
) -> tuple[dict[str, Any], tuple[float, float]]:
    """A log axis around the drawn values, and the two values at its edges; `lost` values need room at the edges."""
    parts = [part[curve.drawn] for curve in curves for part in (curve.low, curve.high)] + [line.y for line in dashed]
    logs = np.log(np.concatenate([part for part in parts if part.size] or [np.ones(1)]))
    margin = 0.22 + 0.06 * np.ptp(logs)
    edges = np.clip([logs.min() - margin, logs.max() + margin], -_MOST, _MOST)
    low, high = np.exp(edges).tolist()
    tickvals, ticktext = log_ticks(low, high)
    ends = (_ends(edges, lost=lost) / np.log(10)).tolist()
    return theme.axis(mode, title, type="log", range=ends, tickvals=tickvals, ticktext=ticktext), (low, high)


def linear_axis(
    curves: Sequence[Curve], span: tuple[float, float], title: str, mode: str, *, lost: bool
) -> tuple[dict[str, Any], tuple[float, float]]:
    """A linear axis around the drawn values and `span`, and the two values at its edges."""
    parts = [part[curve.drawn] for curve in curves for part in (curve.low, curve.high)]
    values = np.concatenate([np.array(span), *parts])
    margin = 0.04 * np.ptp(values)
    edges = np.array([values.min() - margin, values.max() + margin])
    low, high = edges.tolist()
    return theme.axis(mode, title, range=_ends(edges, lost=lost).tolist(), nticks=6), (low, high)


def _ends(edges: np.ndarray[Any, np.dtype[np.float64]], *, lost: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    rim = _RIM * np.ptp(edges) if lost else 0.0
    ends: np.ndarray[Any, np.dtype[np.float64]] = edges + np.array([-rim, rim])
    return ends


def depth_axis(depths: Sequence[int], t: Text, mode: str) -> dict[str, Any]:
    """A log axis with a tick at each swept depth, and labels where there is room on a phone."""
    start, end = np.log10([depths[0], depths[-1]])
    pad = 0.06 * (end - start) or 0.3
    return theme.axis(
        mode,
        t("number of layers L"),
        type="log",
        tickvals=list(depths),
        ticktext=sparse([str(depth) for depth in depths], np.log(depths)),
        tickangle=0,
        range=[start - pad, end + pad],
    )


def layer_axis(depth: int, t: Text, mode: str) -> dict[str, Any]:
    """The layers of one depth from the embedding on, with at most nine labels."""
    step = 2 ** max(0, (depth - 1).bit_length() - (2 if depth > _WIDE else 3))
    ends = [-0.2 - 0.02 * depth, depth + 0.6 + 0.02 * depth]
    return theme.axis(mode, t("layer l (0: embedding)"), tick0=0, dtick=step, tickangle=0, range=ends)
