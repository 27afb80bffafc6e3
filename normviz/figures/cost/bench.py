"""How long does each norm take here, in copies of its tensor?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from normviz.cost import KINDS, WAYS, NormBench
from normviz.figures import theme
from normviz.figures.cost.marks import color, percent, symbol, variant_name
from normviz.figures.cost.rows import Row, arrange
from normviz.figures.depth.lines import note
from normviz.figures.picture import Picture
from normviz.figures.ticks import log_ticks
from normviz.figures.words import number, paragraph
from normviz.text import Text


def bench_picture(result: NormBench, *, t: Text, mode: str) -> Picture:
    """The time of each norm in units of a copy of x into new memory: median, quartiles, and what its bytes alone say.

    Parameters
    ----------
    result
        From `normviz.cost.collect`; before its point has arrived the figure says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    title = t("Time of a norm, in copies of its tensor")
    rows: list[Row] = []
    of: dict[str, int] = {}
    for kind in result.config.kinds:
        there = [name for name in result.measured if name.split("/")[0] == kind]
        if there:
            rows.append(Row(left=t(KINDS[kind]), heading=True))
        for name in there:
            of[name] = len(rows)
            middle = number(result.copies(name).middle, 2)
            rows.append(Row(left=t(WAYS[name.split("/")[1]]), right=t("{n} ×", n=middle)))
    if of and result.point is not None:
        rows += [Row(left=t(WAYS[way]), right=t("cannot run here"), heading=True) for way in result.point.why_not]
    arranged = arrange(rows or [Row(left="", heading=True)] * 4, mode, legend=2)
    values = [edge for name in of for edge in (*result.copies(name), result.expected_copies(name))] or [1.0, 10.0]
    low, high = min(0.7, min(values) / 1.15), max(values) * 1.15
    ticks, labels = log_ticks(low, high)
    data = [_expected(result, of, arranged.places, t, mode), *_measured(result, of, arranged.places, t, mode)]
    layout = theme.layout(
        mode,
        height=arranged.height,
        xaxis=theme.axis(
            mode,
            t("copies of x"),
            type="log",
            range=[float(np.log10(low)), float(np.log10(high))],
            tickvals=ticks,
            ticktext=labels,
        ),
        yaxis=arranged.yaxis,
        annotations=arranged.annotations,
        shapes=[
            *(arranged.shapes if of else []),
            {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
             "line": {"color": theme.MUTED[mode], "width": 1}}
        ],
        showlegend=True,
    )  # fmt: skip
    missing = "" if of else t("Nothing has been measured yet.")
    if missing:
        layout["annotations"] = []
        note(layout, missing, mode)
    return Picture(
        name="normviz-bench",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *bench_notes(result, t), missing]),
        spec={"data": data if of else [], "layout": layout},
        table=_table(result, t),
    )


def bench_notes(result: NormBench, t: Text) -> list[str]:
    """A benchmark in sentences: each variant in copies, RMSNorm beside LayerNorm, what is missing, how it was timed.

    Parameters
    ----------
    result
        From `normviz.cost.collect`.
    t
        The reader's language.
    """
    said = [
        t(
            "{name}: {n} copies (half of the rounds: {low} to {high}), {expected} by its bytes.",
            name=variant_name(name, t),
            n=number(result.copies(name).middle, 2),
            low=number(result.copies(name).low, 2),
            high=number(result.copies(name).high, 2),
            expected=number(result.expected_copies(name), 2),
        )
        for name in result.measured
    ]
    for way in result.config.ways:
        pair = (f"rms_norm/{way}", f"layer_norm/{way}")
        if set(pair) <= set(result.measured):
            share = percent(result.ratio(*pair).middle)
            said.append(t("RMSNorm takes {share} % of LayerNorm's time, {way}.", share=share, way=t(WAYS[way])))
    if result.point is not None:
        for way, reason in result.point.why_not.items():
            said.append(t("{way} is missing: {reason}.", way=t(WAYS[way]), reason=reason.rstrip(".")))
        said.append(
            t(
                "Medians of {rounds} rounds in turns, after {calls} calls each to warm up; device {device}, "
                "{threads} thread(s), PyTorch {version}.",
                rounds=result.point.rounds,
                calls=result.point.warm_up,
                device=result.point.device,
                threads=result.point.threads,
                version=result.point.torch_version,
            )
        )
    return said


def _measured(
    result: NormBench, of: dict[str, int], places: tuple[float, ...], t: Text, mode: str
) -> list[dict[str, Any]]:
    """A marker and its quartiles for each variant, one trace for each kind."""
    traces = []
    for kind in result.config.kinds:
        names = [name for name in of if name.split("/")[0] == kind]
        if not names:
            continue
        spreads = [result.copies(name) for name in names]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": t(KINDS[kind]),
                "showlegend": False,
                "x": [spread.middle for spread in spreads],
                "y": [places[of[name]] for name in names],
                "marker": {
                    "color": color(kind, mode),
                    "symbol": symbol(kind),
                    "size": 12,
                    "line": {"color": theme.BACKGROUND[mode], "width": 1},
                },
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [spread.high - spread.middle for spread in spreads],
                    "arrayminus": [spread.middle - spread.low for spread in spreads],
                    "color": color(kind, mode),
                    "thickness": 2.5,
                    "width": 5,
                },
                "text": [_hover(result, name, t) for name in names],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return traces


def _hover(result: NormBench, name: str, t: Text) -> str:
    spread = result.spread(name)
    lines = [
        variant_name(name, t),
        t("{n} copies of x", n=number(result.copies(name).middle)),
        t("{n} µs, half of the rounds {low} to {high}", n=number(1e6 * spread.middle), low=number(1e6 * spread.low),
          high=number(1e6 * spread.high)),
        t("{share} % of the copy's bandwidth", share=percent(result.copy_share(name))),
    ]  # fmt: skip
    return "<br>".join(lines)


def _expected(result: NormBench, of: dict[str, int], places: tuple[float, ...], t: Text, mode: str) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for name, place in of.items():
        at = result.expected_copies(name)
        x += [at, at, None]
        y += [places[place] - 9, places[place] + 9, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": t("by the bytes on paper"),
        "x": x,
        "y": y,
        "line": {"color": theme.INK[mode], "width": 2.5, "dash": "4px,3px"},  # dashed, yet short
        "hoverinfo": "skip",
    }


def _table(result: NormBench, t: Text) -> pd.DataFrame:
    names = result.measured
    copies, seconds = [result.copies(name) for name in names], [result.spread(name) for name in names]
    return pd.DataFrame(
        {
            t("norm"): [t(KINDS[name.split("/")[0]]) for name in names],
            t("way"): [t(WAYS[name.split("/")[1]]) for name in names],
            t("copies of x"): [spread.middle for spread in copies],
            t("lower quartile"): [spread.low for spread in copies],
            t("upper quartile"): [spread.high for spread in copies],
            t("by the bytes on paper"): [result.expected_copies(name) for name in names],
            t("share of the copy's bandwidth"): [result.copy_share(name) for name in names],
            t("microseconds"): [1e6 * spread.middle for spread in seconds],
        }
    )
