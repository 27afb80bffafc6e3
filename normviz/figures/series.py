"""How are a few vectors of one length drawn: entry by entry, or as distributions where the entries are many?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.distribution import BINS, SHARES, Distribution, distribution
from normviz.figures.picture import Spec
from normviz.figures.words import number
from normviz.text import Text

Array = npt.NDArray[np.float64]

MOST_BARS = 64
"""Longer vectors are drawn as distributions."""

# Under a histogram, in units of its highest bar: where its quantiles stand, and the room that they take.
_STRIP, _FLOOR = -0.12, -0.22
_QUARTERS = [SHARES.index(0.25), SHARES.index(0.75)]


@dataclass(frozen=True, kw_only=True)
class Series:
    """One vector: its name, its entries, and the norm it comes from ("layer_norm", "rms_norm") or "" for none."""

    name: str
    values: Array
    norm: str = ""

    @property
    def long(self) -> bool:
        """Whether it is drawn as a distribution."""
        return self.values.size > MOST_BARS

    @cached_property
    def distribution(self) -> Distribution:
        """Its histogram and quantiles."""
        return distribution(self.values)


def drawn(series: Sequence[Series], t: Text, mode: str) -> tuple[Spec, pd.DataFrame]:
    """The figure's specification and its table: bars up to 64 entries, else histograms with quantiles.

    Parameters
    ----------
    series
        Vectors of one length; the first one has an axis of its own where they are drawn as distributions.
    t, mode
        The reader's language, and "light" or "dark".
    """
    return (_histograms if any(one.long for one in series) else _bars)(series, t, mode)


def sentences(series: Sequence[Series], t: Text) -> list[str]:
    """How many entries each vector has and from where to where they go; for a long one its quantiles too."""
    told = []
    for one in series:
        low, high = one.distribution.quantiles[[0, -1]] if one.long else (one.values.min(), one.values.max())
        ends = {"low": number(float(low)), "high": number(float(high))}
        told.append(t("{name}: {n} entries from {low} to {high}.", name=one.name, n=one.values.size, **ends))
        if one.long:
            _, q1, q5, q25, q50, q75, q95, q99, _ = map(number, one.distribution.quantiles.tolist())
            told.append(
                t(
                    "The median is {q50}; half of the entries lie from {q25} to {q75}, 90 % from {q5} to {q95}, "
                    "98 % from {q1} to {q99}.",
                    q1=q1,
                    q5=q5,
                    q25=q25,
                    q50=q50,
                    q75=q75,
                    q95=q95,
                    q99=q99,
                )
            )
    return told


def quantile_table(series: Sequence[Series], t: Text) -> pd.DataFrame:
    """The entries of each vector in order, cut at its quantiles: between which values lie how many of them.

    An entry that is a quantile itself counts below it, the smallest one above it; each vector's rows count all of its
    entries once.
    """
    rows = []
    for one in series:
        found = one.distribution
        ranks = np.floor(np.array(SHARES) * (found.n - 1)).astype(np.int64)
        ranks[0] = -1
        cuts = [f"{100 * share:g} %" for share in SHARES]
        parts = [t("{low} to {high}", low=low, high=high) for low, high in pairwise(cuts)]
        rows.append(_rows(one.name, parts, found.quantiles, np.diff(ranks), t))
    return pd.concat(rows, ignore_index=True)


def _rows(name: str, parts: list[str], ends: Array, counts: npt.NDArray[np.int64], t: Text) -> pd.DataFrame:
    return pd.DataFrame(
        {t("vector"): name, t("part"): parts, t("from"): ends[:-1], t("to"): ends[1:], t("entries"): counts}
    )


def _marker(one: Series, mode: str, *, outline: float = 1.5) -> dict[str, Any]:
    """Bars of no norm are pale, of LayerNorm full, of RMSNorm hatched: told apart without colour."""
    color = _color(one, mode)
    marker: dict[str, Any] = {"color": color, "line": {"color": color, "width": outline}}
    if not one.norm:
        marker["color"] = theme.fade(color, 0.12 if outline else 0.4)
    if one.norm == "rms_norm":
        faded = theme.fade(color, 0.25)
        marker["pattern"] = {"shape": "/", "fgcolor": color, "bgcolor": faded, "size": 7, "solidity": 0.45}
    return marker


def _color(one: Series, mode: str) -> str:
    return theme.NORM_COLORS[mode][one.norm] if one.norm else theme.INK[mode]


def _bars(series: Sequence[Series], t: Text, mode: str) -> tuple[Spec, pd.DataFrame]:
    d = max((one.values.size for one in series), default=1)
    entry = np.arange(1, d + 1)
    traces = [
        {
            "type": "bar",
            "name": one.name,
            "x": entry,
            "y": one.values,
            "marker": _marker(one, mode),
            "hovertemplate": f"<b>{one.name}</b>, " + t("entry {i}", i="%{x}") + ": %{y:.5~g}<extra></extra>",
        }
        for one in series
    ]
    layout = theme.layout(
        mode,
        height=400,
        barmode="group",
        bargap=0.25,
        bargroupgap=0.08,
        xaxis=theme.axis(mode, t("entry"), dtick=max(1, 2 ** ((d - 1).bit_length() - 4)), tick0=1, showgrid=False),
        yaxis=theme.axis(mode, t("value"), nticks=6, zeroline=True, zerolinecolor=theme.MUTED[mode], zerolinewidth=1.5),
        showlegend=True,
    )
    columns = {one.name: one.values for one in series}
    return {"data": traces, "layout": layout}, pd.DataFrame({t("entry"): entry[: d if series else 0], **columns})


def _histograms(series: Sequence[Series], t: Text, mode: str) -> tuple[Spec, pd.DataFrame]:
    """One row for each vector; those after the first share their axis of values."""
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    height = 1 / len(series)
    for place, one in enumerate(series):
        suffix = str(place + 1) if place else ""
        ends, counts = one.distribution.ends, one.distribution.counts
        on = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        traces.append(
            {
                "type": "bar",
                "name": one.name,
                "x": (ends[:-1] + ends[1:]) / 2,
                "y": counts,
                "width": np.diff(ends),
                **on,
                "marker": _marker(one, mode, outline=0),
                "hovertemplate": f"<b>{one.name}</b> %{{x:.4~g}}: " + t("{n} entries", n="%{y}") + "<extra></extra>",
            }
        )
        traces += [{**trace, **on} for trace in _strip(one, place == 0, t, mode)]
        top, highest = 1 - place * height, float(counts.max())
        axes[f"xaxis{suffix}"] = theme.axis(
            mode, "", anchor=f"y{suffix}", showgrid=False, nticks=8, **({"matches": "x2"} if place >= 2 else {})
        )
        axes[f"yaxis{suffix}"] = theme.axis(
            mode, "", anchor=f"x{suffix}", domain=[top - 0.8 * height, top], range=[_FLOOR * highest, 1.05 * highest],
            tickvals=_ticks(int(highest)),
        )  # fmt: skip
    layout = theme.layout(mode, height=520, bargap=0, showlegend=True, **axes)
    bars = [t("bar {i}", i=i) for i in range(1, BINS + 1)]
    counted = [_rows(one.name, bars, one.distribution.ends, one.distribution.counts, t) for one in series]
    table = pd.concat([quantile_table(series, t), *counted], ignore_index=True)
    return {"data": traces, "layout": layout}, table


def _strip(one: Series, named: bool, t: Text, mode: str) -> list[dict[str, Any]]:
    """The quantiles under a histogram: a tick at each, a bar over the middle half, a diamond at the median."""
    quantiles = one.distribution.quantiles
    level, color = _STRIP * float(one.distribution.counts.max()), theme.INK[mode]
    median = [share == 0.5 for share in SHARES]
    half = {
        "type": "scatter",
        "mode": "lines",
        "x": quantiles[_QUARTERS],
        "y": [level, level],
        "line": {"color": theme.fade(color, 0.45), "width": 6},
        "showlegend": False,
        "hoverinfo": "skip",
    }
    ticks = {
        "type": "scatter",
        "mode": "markers",
        "name": t("quantiles from 0 to 100 %"),
        "showlegend": named,
        "legendrank": 1001,  # after the vectors
        "x": quantiles,
        "y": np.full(quantiles.size, level),
        "text": [f"{100 * share:g} %" for share in SHARES],
        "marker": {
            "symbol": ["diamond" if middle else "line-ns" for middle in median],
            "size": [10 if middle else 9 for middle in median],
            "color": color,
            "line": {"color": color, "width": [0 if middle else 2 for middle in median]},
        },
        "cliponaxis": False,
        "hovertemplate": f"<b>{one.name}</b> %{{text}}: %{{x:.5~g}}<extra></extra>",
    }
    return [half, ticks]


def _ticks(highest: int) -> list[int]:
    """Zero and one or two round counts, none below zero where the quantiles stand."""
    step = 10 ** (len(str(highest)) - 1)
    step = next((part for part in (5 * step, 2 * step, step) if 2 * part <= highest), max(1, step // 2))
    return list(range(0, highest + 1, step))
