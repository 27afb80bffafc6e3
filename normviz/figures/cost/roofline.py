"""Does a norm wait for memory, and how far below the roof does it stay here?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from normviz.cost import KINDS, WAYS, NormBench, NormCost, Roof, roofline
from normviz.figures import theme
from normviz.figures.cost.marks import color, percent, symbol, variant_name
from normviz.figures.picture import Picture
from normviz.figures.ticks import log_ticks
from normviz.figures.words import number, paragraph
from normviz.text import N_, Text

_GIGA, _TERA = 1e9, 1e12
_NAMES = {_GIGA: "GFLOP/s", _TERA: "TFLOP/s"}
_FROM = 2e12  # operations per second of a roof from which on it is counted in 10^12


def roofline_picture(
    roof: Roof,
    costs: Mapping[str, NormCost],
    *,
    t: Text,
    mode: str,
    seconds: Mapping[str, float] | None = None,
    fresh: Roof | None = None,
) -> Picture:
    """Operations per second against operations per byte: a device's roof, and norms on it and below it.

    Parameters
    ----------
    roof
        The device's copy bandwidth and matrix rate.
    costs
        What stands under it, by variant ("rms_norm/eager").
    t, mode
        The reader's language, and "light" or "dark".
    seconds
        Measured times of some of them.
    fresh
        The roof with the bandwidth of a copy into new memory, drawn beside the other.
    """
    points = roofline(roof, costs)
    times = {name: value for name, value in (seconds or {}).items() if name in costs}
    reached = {name: costs[name].flops / value for name, value in times.items()}
    unit = _TERA if roof.rate >= _FROM else _GIGA
    ends = _ends(roof, [point.intensity for point in points])
    data = [_roof(t("roof: copy bandwidth and matrix rate"), roof, ends, unit, mode, width=2.5)]
    if fresh is not None:
        data.append(_roof(t("the same into new memory"), fresh, ends, unit, mode, width=1.2))
    for kind in KINDS:
        names = [point.name for point in points if point.cost.kind == kind]
        if names:
            attained = {point.name: point.attainable for point in points}
            data.append(
                _marks(kind, names, costs, attained, unit, t, mode, hollow=True, legend=not set(names) & set(times))
            )
            measured = [name for name in names if name in times]
            if measured:
                data.append(_marks(kind, measured, costs, reached, unit, t, mode, hollow=False, legend=True))
    if times:
        data += [_key(t("at most"), mode, hollow=True), _key(t("measured"), mode, hollow=False)]
    heights = [value / unit for value in (*reached.values(), *(p.attainable for p in points), roof.rate)]
    height = t("operations per second ({unit})", unit=_NAMES[unit])
    title = t("Norms under the roof of this device") if times else t("Norms under the roof of a device")
    return Picture(
        name="normviz-roofline",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_told(roof, costs, reached, t)]),
        spec={
            "data": data,
            "layout": theme.layout(
                mode,
                height=520,
                tallest=1.5,
                xaxis=_axis(mode, t("operations per byte (FLOP/byte)"), ends),
                yaxis=_axis(mode, height, (min(heights) / 2, max(heights) * 2)),
                showlegend=True,
            ),
        },
        table=_table(roof, costs, reached, t),
    )


def bench_roofline(result: NormBench, *, t: Text, mode: str) -> Picture:
    """The roofline of a benchmark that has been measured: its roofs, its variants on paper and as they ran."""
    return roofline_picture(
        result.roof(),
        {name: result.cost(name) for name in result.measured},
        seconds={name: result.spread(name).middle for name in result.measured},
        fresh=result.roof(into="fresh"),
        t=t,
        mode=mode,
    )


def _told(roof: Roof, costs: Mapping[str, NormCost], reached: Mapping[str, float], t: Text) -> list[str]:
    unit = _TERA if roof.rate >= _FROM else _GIGA
    said = [
        t(
            "The roof rises with {bandwidth} GB/s and ends at {rate} {unit}, from {ridge} FLOP/byte on.",
            bandwidth=number(roof.bandwidth / _GIGA),
            rate=number(roof.rate / unit),
            unit=_NAMES[unit],
            ridge=number(roof.ridge),
        )
    ]
    for name, cost in costs.items():
        given = {"name": variant_name(name, t), "intensity": number(cost.intensity)}
        if cost.intensity < roof.ridge:
            share = percent(roof.attainable(cost.intensity) / roof.rate)
            said.append(t("{name}: {intensity} FLOP/byte, {share} % of the matrix rate at most.", **given, share=share))
        else:
            said.append(
                t(
                    "{name}: {intensity} FLOP/byte, right of the ridge: its bytes do not limit it on this device, the "
                    "matrix rate does.",
                    **given,
                )
            )
        if name in reached:
            share = percent(reached[name] / roof.attainable(cost.intensity))
            said.append(t("It reaches {share} % of that.", share=share))
    return said


def _roof(name: str, roof: Roof, ends: tuple[float, float], unit: float, mode: str, *, width: float) -> dict[str, Any]:
    x = [ends[0], *([roof.ridge] if ends[0] < roof.ridge < ends[1] else []), ends[1]]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": [roof.attainable(value) / unit for value in x],
        "line": {"color": theme.INK[mode], "width": width, "dash": theme.DASHES["theory"]},
        "hoverinfo": "skip",
    }


def _marks(
    kind: str,
    names: list[str],
    costs: Mapping[str, NormCost],
    heights: Mapping[str, float],
    unit: float,
    t: Text,
    mode: str,
    *,
    hollow: bool,
    legend: bool,
) -> dict[str, Any]:
    words = N_("{name}, at most") if hollow else N_("{name}, here")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": t(KINDS[kind]),
        "legendgroup": kind,
        "showlegend": legend,
        "x": [costs[name].intensity for name in names],
        "y": [heights[name] / unit for name in names],
        "marker": {
            "color": color(kind, mode),
            "symbol": symbol(kind, hollow=hollow),
            "size": 12,
            "line": {"color": color(kind, mode) if hollow else theme.BACKGROUND[mode], "width": 2 if hollow else 1},
        },
        "text": [t(words, name=variant_name(name, t)) for name in names],
        "hovertemplate": f"%{{text}}<br>%{{x:.3~g}} FLOP/byte<br>%{{y:.3~g}} {_NAMES[unit]}<extra></extra>",
    }


def _key(name: str, mode: str, *, hollow: bool) -> dict[str, Any]:
    """What a hollow or a full symbol means, for the legend alone."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [None],
        "y": [None],
        "marker": {
            "symbol": "circle-open" if hollow else "circle",
            "size": 10,
            "color": theme.MUTED[mode],
            "line": {"color": theme.MUTED[mode], "width": 2 if hollow else 0},
        },
        "hoverinfo": "skip",
    }


def _ends(roof: Roof, intensities: list[float]) -> tuple[float, float]:
    return min([*intensities, roof.ridge]) / 2.5, max([*intensities, roof.ridge]) * 4


def _axis(mode: str, title: str, ends: tuple[float, float]) -> dict[str, Any]:
    ticks, labels = log_ticks(*ends)
    return theme.axis(mode, title, type="log", range=np.log10(ends).tolist(), tickvals=ticks, ticktext=labels)


def _table(roof: Roof, costs: Mapping[str, NormCost], reached: Mapping[str, float], t: Text) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            t("norm"): [t(KINDS[cost.kind]) for cost in costs.values()],
            t("way"): [t(WAYS[cost.way]) for cost in costs.values()],
            t("parameters"): [cost.parameters for cost in costs.values()],
            t("operations (FLOPs)"): [cost.flops for cost in costs.values()],
            t("bytes read"): [cost.bytes_read for cost in costs.values()],
            t("bytes written"): [cost.bytes_written for cost in costs.values()],
            t("FLOP/byte"): [cost.intensity for cost in costs.values()],
            t("GFLOP/s at most"): [roof.attainable(cost.intensity) / _GIGA for cost in costs.values()],
        }
    )
    if reached:
        table[t("GFLOP/s here")] = [reached.get(name, np.nan) / _GIGA for name in costs]
    return table
