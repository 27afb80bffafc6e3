"""What happens to each entry of a vector under LayerNorm and RMSNorm?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture, Spec
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.norms import NormTrace

Array = npt.NDArray[np.float64]

# Longer vectors are drawn as distributions.
_MOST_BARS = 64
_BINS = 60


def bars_picture(layer_trace: NormTrace | None, rms_trace: NormTrace | None, *, t: Text, mode: str) -> Picture:
    """x, LN(x) and RMSNorm(x) entry by entry; for more than 64 entries, how their values are distributed.

    Parameters
    ----------
    layer_trace, rms_trace
        Of the same vector, from `normviz.layer_norm` and `normviz.rms_norm`; None where the result is undefined.
    t, mode
        The reader's language, and "light" or "dark".
    """
    source = layer_trace or rms_trace
    series: dict[str, Array] = {} if source is None else {"x": source.x}
    if layer_trace is not None:
        series["LN(x)"] = layer_trace.output
    if rms_trace is not None:
        series["RMSNorm(x)"] = rms_trace.output
    missing = [name for name, trace in (("LN(x)", layer_trace), ("RMSNorm(x)", rms_trace)) if trace is None]
    undefined = [t("{name} is undefined here.", name=name) for name in missing]
    long = source is not None and source.x.size > _MOST_BARS
    spec, table = (_histograms if long else _bars)(series, t, mode)
    if source is None:
        note = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
        spec["layout"]["annotations"] = [{**note, "text": "<br>".join(undefined), "font": {"color": theme.MUTED[mode]}}]
    title = (
        t("How the entries of x, LN(x) and RMSNorm(x) are distributed")
        if long
        else t("x, LN(x) and RMSNorm(x), entry by entry")
    )
    ranges = [
        t(
            "{name}: {n} entries from {low} to {high}.",
            name=name,
            n=values.size,
            low=number(values.min()),
            high=number(values.max()),
        )
        for name, values in series.items()
    ]
    return Picture(
        name="normviz-entries",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *ranges, *undefined]),
        spec=spec,
        table=table,
    )


def _marker(name: str, mode: str, *, outline: float = 1.5) -> dict[str, Any]:
    """The bar of x is pale, of LN(x) full, of RMSNorm(x) hatched: told apart without colour."""
    norms = {"LN(x)": "layer_norm", "RMSNorm(x)": "rms_norm"}
    color = theme.NORM_COLORS[mode][norms[name]] if name in norms else theme.INK[mode]
    marker: dict[str, Any] = {"color": color, "line": {"color": color, "width": outline}}
    if name == "x":
        marker["color"] = theme.fade(color, 0.12 if outline else 0.4)
    if name == "RMSNorm(x)":
        faded = theme.fade(color, 0.25)
        marker["pattern"] = {"shape": "/", "fgcolor": color, "bgcolor": faded, "size": 7, "solidity": 0.45}
    return marker


def _bars(series: dict[str, Array], t: Text, mode: str) -> tuple[Spec, pd.DataFrame]:
    d = max((values.size for values in series.values()), default=1)
    entry = np.arange(1, d + 1)
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": entry,
            "y": values,
            "marker": _marker(name, mode),
            "hovertemplate": "<b>" + name + "</b>, " + t("entry {i}", i="%{x}") + ": %{y:.5~g}<extra></extra>",
        }
        for name, values in series.items()
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
    return {"data": traces, "layout": layout}, pd.DataFrame({t("entry"): entry[: d if series else 0], **series})


def _histograms(series: dict[str, Array], t: Text, mode: str) -> tuple[Spec, pd.DataFrame]:
    """One row for each vector; the normalized ones share their axis, x has its own."""
    traces, rows = [], []
    axes: dict[str, Any] = {}
    height = 1 / len(series)
    for place, (name, values) in enumerate(series.items()):
        counts, ends = np.histogram(values, bins=_BINS, range=_span(values))
        suffix = str(place + 1) if place else ""
        traces.append(
            {
                "type": "bar",
                "name": name,
                "x": (ends[:-1] + ends[1:]) / 2,
                "y": counts,
                "width": np.diff(ends),
                "xaxis": f"x{suffix}",
                "yaxis": f"y{suffix}",
                "marker": _marker(name, mode, outline=0),
                "hovertemplate": "<b>" + name + "</b> %{x:.4~g}: " + t("{n} entries", n="%{y}") + "<extra></extra>",
            }
        )
        top = 1 - place * height
        axes[f"xaxis{suffix}"] = theme.axis(
            mode, "", anchor=f"y{suffix}", showgrid=False, nticks=8, **({"matches": "x2"} if place == 2 else {})
        )
        axes[f"yaxis{suffix}"] = theme.axis(mode, "", anchor=f"x{suffix}", domain=[top - 0.76 * height, top], nticks=4)
        rows.append(pd.DataFrame({t("vector"): name, t("from"): ends[:-1], t("to"): ends[1:], t("entries"): counts}))
    layout = theme.layout(mode, height=480, bargap=0, showlegend=True, **axes)
    return {"data": traces, "layout": layout}, pd.concat(rows, ignore_index=True)


def _span(values: Array) -> tuple[float, float]:
    """From the smallest to the largest value, widened where float64 has too few numbers between them for the bins."""
    low, high = float(values.min()), float(values.max())
    least = 1e-9 * max(abs(low), abs(high)) or 1.0
    return (low, high) if high - low > least else (low - least, high + least)
