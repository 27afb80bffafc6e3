"""At which term does a running sum leave the format, or stop to grow?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import law, log_axis, measured, plain_axis
from normviz.figures.numerics.words import held
from normviz.figures.picture import Picture
from normviz.figures.ticks import log_ticks
from normviz.figures.words import paragraph
from normviz.floats import FORMATS
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.floats import FloatStep, FloatTrace

# So many terms are drawn, evenly on a log axis.
_MOST = 120


def running_sum_picture(trace: FloatTrace, step: str = "sum", *, t: Text, mode: str) -> Picture:
    """The running sum after each term, as its format holds it and without rounding, with the format's largest number.

    Parameters
    ----------
    trace
        From `normviz.floats.norm_steps`.
    step
        "sum", or "sum_x" of a LayerNorm.
    t, mode
        The reader's language, and "light" or "dark".
    """
    found = trace[step]
    kind = FORMATS[found.format]
    partial, exact = found.partial, found.partial_exact
    assert partial is not None
    assert exact is not None
    terms = _terms(found, partial.size)
    finite = terms[np.isfinite(partial[terms - 1])]
    x, y, y_exact = finite.astype(np.float64), partial[finite - 1], exact[terms - 1]
    positive = bool((exact > 0).all() and (y > 0).all())
    near = positive and kind.largest < 1e3 * float(exact.max())
    color = theme.NORM_COLORS[mode][trace.norm]
    hover = t("after {n} terms: {value}", n="%{x}", value="%{y:.4~g}")
    name = t("running sum in {format}", format=kind.label)
    data: list[dict[str, Any]] = [measured(name, x, y, (color, theme.SYMBOLS[trace.norm]), hover)]
    data.append(law(t("without rounding"), terms.astype(np.float64), y_exact, color, mode, hover, showlegend=True))
    data += _events(found, t, mode)
    first, last = float(terms[0]), float(terms[-1])
    values = [y, y_exact, *([np.array([kind.largest])] if near else [])]
    yaxis = log_axis(mode, t("running sum"), values) if positive else plain_axis(mode, t("running sum"), values)
    ticks, labels = log_ticks(first / 1.25, last * 1.6)
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        margin={"l": 16, "r": 16, "t": 34, "b": 16},
        xaxis=theme.axis(
            mode, t("terms so far"), type="log", range=[np.log10(first / 1.25), np.log10(last * 1.6)],
            tickvals=ticks, ticktext=labels,
        ),
        yaxis=yaxis,
        shapes=_limit(kind.largest, mode) if near else [],
        annotations=_limit_note(kind.largest, t, mode) if near else [],
        showlegend=True,
    )  # fmt: skip
    title = t("Term by term in {format}: {sum}", sum=t(found.label), format=kind.label)
    return Picture(
        name="normviz-running-sum",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_told(found, t)]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("terms so far"): np.arange(1, partial.size + 1),
                t("running sum as held"): partial,
                t("without rounding"): exact,
            }
        ),
    )


def _terms(step: FloatStep, d: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Numbers of the drawn terms, from 1, with those around an event."""
    spread = np.geomspace(1, d, min(_MOST, d)).round().astype(np.int64)
    events = [
        place + near for place in (step.first_overflow, step.first_lost) if place is not None for near in (0, 1, 2)
    ]
    wanted = np.unique(np.concatenate([spread, np.array(events, dtype=np.int64)]))
    return wanted[(wanted >= 1) & (wanted <= d)]


def _events(step: FloatStep, t: Text, mode: str) -> list[dict[str, Any]]:
    """Marks at the first term that made the sum infinite, and at the first that it swallowed."""
    red = theme.NORM_COLORS[mode]["batch_norm"]
    partial, exact = step.partial, step.partial_exact
    assert partial is not None
    assert exact is not None
    marks = []
    if (place := step.first_overflow) is not None:
        name = t("out of range from term {n} on", n=place + 1)
        marks.append((name, place + 1.0, float(exact[place]), "triangle-up"))
    if (place := step.first_lost) is not None and np.isfinite(partial[place]) and partial[place] != 0:
        marks.append((t("term {n} changes nothing", n=place + 1), place + 1.0, float(partial[place]), "circle-open"))
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [x],
            "y": [y],
            "marker": {"symbol": symbol, "size": 15, "color": red, "line": {"color": red, "width": 2.5}},
            "hovertemplate": f"<b>{name}</b><extra></extra>",
        }
        for name, x, y, symbol in marks
    ]


def _limit(largest: float, mode: str) -> list[dict[str, Any]]:
    line = {"color": theme.INK[mode], "width": 1.5, "dash": "dot"}
    return [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": largest, "y1": largest, "line": line}]


def _limit_note(largest: float, t: Text, mode: str) -> list[dict[str, Any]]:
    text = t("largest: {value}", value=held(largest, 3))
    return [
        {
            "xref": "paper", "x": 1, "xanchor": "right", "y": float(np.log10(largest)), "yanchor": "top",
            "text": text, "font": {"color": theme.INK[mode]}, "showarrow": False,
        }
    ]  # fmt: skip


def _told(step: FloatStep, t: Text) -> list[str]:
    told = []
    if step.first_overflow is not None:
        told.append(t("The running sum is out of range from term {n} on.", n=step.first_overflow + 1))
    if step.first_lost is not None:
        told.append(t("Term {n} is the first that leaves the sum as it was.", n=step.first_lost + 1))
    told.append(
        t(
            "After all terms: {value}, without rounding {exact}.",
            value=held(float(step.value[0])),
            exact=held(float(step.exact[0])),
        )
    )
    return told
