"""Where does each step of a norm stand on the scale of the numbers that a format holds?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.numerics.words import SHORT, held
from normviz.figures.picture import Picture
from normviz.figures.ticks import log_ticks, sparse
from normviz.figures.words import paragraph
from normviz.floats import FORMATS, MARKS
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.floats import FloatStep, FloatTrace, Format

Array = npt.NDArray[np.float64]

# So many entries of a step are drawn, those with the evenly spaced ranks of size.
_MOST = 24
# Decades beyond what is drawn, and how far off a limit of the format may be to be on the axis as well.
_ROOM, _NEAR = 1.2, 4.0
_ROW = 31  # px
_LABELS = 4


def steps_picture(trace: FloatTrace, *, t: Text, mode: str) -> Picture:
    """Size of every intermediate, as the format holds it and without rounding, on a log scale with the format's limits.

    Parameters
    ----------
    trace
        From `normviz.floats.norm_steps`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    kind = FORMATS[trace.format]
    low, high = _ends(trace, kind)
    rows = [_Row(step, place, (low, high)) for place, step in enumerate(trace.steps)]
    color = theme.NORM_COLORS[mode][trace.norm]
    symbol = theme.SYMBOLS[trace.norm]
    ink, red = theme.INK[mode], theme.NORM_COLORS[mode]["batch_norm"]
    fine = {"size": 13, "line": {"color": theme.mix(color, ink, 0.55), "width": 2}}
    kept = {"size": 9, "line": {"color": color, "width": 2}}
    styles: dict[str, dict[str, Any]] = {
        "exact": {"symbol": symbol + "-open", **kept},
        "off": {"symbol": symbol + "-open-dot", **kept},
        "rounded": {"symbol": symbol, "size": 9, "color": color},
        "subnormal": {"symbol": "triangle-down", "size": 12, "color": red},
        "underflow": {"symbol": "triangle-left", "size": 13, "color": red},
        "overflow": {"symbol": "triangle-right", "size": 13, "color": red},
        "carried": {"symbol": "circle-open", "size": 12, "color": red, "line": {"color": red, "width": 2.5}},
        "by_zero": {"symbol": "star", "size": 14, "color": red},
        "no_number": {"symbol": "x", "size": 11, "color": red},
    }
    data = [_points(rows, None, t("without rounding"), {"color": color, "symbol": "line-ns-open", **fine})]
    data += [_points(rows, mark, t(MARKS[mark]), {"color": color, **marker}) for mark, marker in styles.items()]
    ticks, labels = log_ticks(low, high)
    if len(ticks) > _LABELS:
        # The names of the steps leave less room than `sparse` counts on.
        labels = [label if place % 2 == 0 else "" for place, label in enumerate(labels)]
    symbols = [t(SHORT[step.id]) for step in trace.steps]
    layout = theme.layout(
        mode,
        height=190 + _ROW * len(rows),
        margin={"l": 16, "r": 16, "t": 40, "b": 16},
        xaxis=theme.axis(
            mode, t("size of the number"), type="log", range=[np.log10(low), np.log10(high)],
            tickvals=ticks, ticktext=sparse(labels, np.log10(ticks)), tickangle=0,
        ),
        yaxis=theme.axis(
            mode, "", range=[len(rows) - 0.4, -0.6], tickvals=list(range(len(rows))), ticktext=symbols,
            tickfont={"color": ink}, ticks="", showgrid=True,
        ),
        shapes=_bands(kind, (low, high), mode),
        annotations=_limits(kind, (low, high), mode),
        showlegend=True,
    )  # fmt: skip
    title = t(
        "{norm} step by step in {format}",
        norm=theme.NORM_NAMES[trace.norm],
        format=kind.label,
    )
    return Picture(
        name="normviz-float-steps",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_told(trace, kind, t)]),
        spec={"data": data, "layout": layout},
        table=_table(trace, t),
    )


class _Row:
    """The drawn entries of one step, each with its place along the axis and what became of it."""

    def __init__(self, step: FloatStep, place: int, ends: tuple[float, float]) -> None:
        ranks = np.argsort(np.abs(step.exact), kind="stable")
        chosen = ranks[np.unique(np.linspace(0, ranks.size - 1, min(_MOST, ranks.size)).round().astype(int))]
        # One of everything that happened is always among what is drawn.
        chosen = np.unique(np.concatenate([chosen, np.unique(step.marks, return_index=True)[1]]))
        self.place = place
        self.step = step
        self.exact, self.value = step.exact[chosen], step.value[chosen]
        self.marks = step.marks[chosen]
        self.left, self.right = ends[0] * 10 ** (_ROOM / 3), ends[1] / 10 ** (_ROOM / 3)

    def of(self, mark: str | None) -> tuple[Array, Array]:
        """Place along the axis and value of what has this mark, or of every entry without rounding.

        A value that the axis does not have, 0 or beyond all numbers, is at its edge; a 0 that is right has no place.
        """
        if mark is None:
            wanted = self.exact != 0
            return np.abs(self.exact[wanted]), self.exact[wanted]
        wanted = (self.marks == mark) & ((self.value != 0) | (self.exact != 0))
        values = self.value[wanted]
        place = np.where(np.isfinite(values), np.where(values == 0, self.left, np.abs(values)), self.right)
        # One point at an edge says it for all entries.
        first = np.sort(np.unique(place, return_index=True)[1])
        return place[first], values[first]


def _points(rows: list[_Row], part: str | None, name: str, marker: dict[str, Any]) -> dict[str, Any]:
    places = [row.of(part) for row in rows]
    x = np.concatenate([place for place, _ in places])
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": np.concatenate(
            [np.full(place.size, float(row.place)) for row, (place, _) in zip(rows, places, strict=True)]
        ),
        "text": [held(float(value)) for _, values in places for value in values],
        "marker": {**marker, "opacity": 0.9},
        "hovertemplate": f"<b>{name}</b> %{{text}}<extra></extra>",
        "cliponaxis": False,
        "showlegend": bool(x.size),
    }


def _ends(trace: FloatTrace, kind: Format) -> tuple[float, float]:
    """The axis: what is drawn, and the format's limits where they are not far off."""
    sizes = [np.abs(values[np.isfinite(values) & (values != 0)]) for s in trace.steps for values in (s.exact, s.value)]
    found = np.concatenate([*sizes, [1.0]])
    low, high = float(np.log10(found.min())), float(np.log10(found.max()))
    for limit in np.log10([kind.smallest, kind.smallest_normal, kind.largest]):
        if low - _NEAR <= limit <= high + _NEAR:
            low, high = min(low, limit), max(high, limit)
    return float(10 ** (low - _ROOM)), float(10 ** (high + _ROOM))


def _bands(kind: Format, ends: tuple[float, float], mode: str) -> list[dict[str, Any]]:
    """The numbers that the format holds with all digits, and those that it holds with fewer."""
    shapes = []
    for low, high, opacity in ((kind.smallest_normal, kind.largest, 1.0), (kind.smallest, kind.smallest_normal, 0.45)):
        if high > ends[0] and low < ends[1]:
            shapes.append(
                {
                    "type": "rect", "layer": "below", "yref": "paper", "y0": 0, "y1": 1,
                    "x0": max(low, ends[0]), "x1": min(high, ends[1]), "opacity": opacity,
                    "fillcolor": theme.PANEL[mode], "line": {"width": 0},
                }
            )  # fmt: skip
    shapes += [
        {
            "type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": limit, "x1": limit,
            "line": {"color": theme.MUTED[mode], "width": 1.5, "dash": "dot"},
        }
        for limit in (kind.smallest, kind.smallest_normal, kind.largest)
        if ends[0] < limit < ends[1]
    ]  # fmt: skip
    return shapes


def _limits(kind: Format, ends: tuple[float, float], mode: str) -> list[dict[str, Any]]:
    """The values of the limits above the plot; one that is further out stands at its edge with an arrow."""
    low, high = np.log10(ends)
    notes = []
    for limit, side in ((kind.smallest_normal, "left"), (kind.largest, "right")):
        text = held(limit, 3)
        place = float(np.log10(limit))
        if place > high:
            place, text = high, text + " →"
        elif place < low:
            place, text = low, "← " + text
        share = (place - low) / (high - low)
        anchor = "left" if share < 0.15 else "right" if share > 0.85 else "center"
        notes.append(
            {
                "x": place, "yref": "paper", "y": 1.01, "yanchor": "bottom", "xanchor": anchor, "text": text,
                "font": {"color": theme.MUTED[mode]}, "showarrow": False, "name": side,
            }
        )  # fmt: skip
    return notes


def _told(trace: FloatTrace, kind: Format, t: Text) -> list[str]:
    """What happened on the way, and what came out."""
    told = [
        t(
            "{format} holds numbers from {low} to {high} with all digits.",
            format=kind.label,
            low=held(kind.smallest_normal, 3),
            high=held(kind.largest, 3),
        )
    ]
    for step in trace.steps:
        label = t(step.label)
        if step.first_overflow is not None:
            told.append(t("{step}: out of range from term {n} on.", step=label, n=step.first_overflow + 1))
        elif step.overflow.any():
            told.append(t("{step}: {n} of {d} overflow.", step=label, n=int(step.overflow.sum()), d=step.value.size))
        size = step.value.size
        if (small := int((step.marks == "subnormal").sum())) > 0:
            told.append(t("{step}: {n} of {d} are very small and lose digits.", step=label, n=small, d=size))
        if (gone := int((step.marks == "underflow").sum())) > 0:
            told.append(t("{step}: {n} of {d} become 0.", step=label, n=gone, d=size))
    told.append(
        t(
            "First channel of the output: {value}, without rounding {exact}.",
            value=held(float(trace.output[0])),
            exact=held(float(trace.exact[0])),
        )
    )
    return told


def _table(trace: FloatTrace, t: Text) -> pd.DataFrame:
    """One row per step with its first entry, and how many entries it touched."""
    steps = trace.steps
    return pd.DataFrame(
        {
            t("step"): [t(step.label) for step in steps],
            t("format"): [FORMATS[step.format].label for step in steps],
            t("numbers"): [step.value.size for step in steps],
            t("first, without rounding"): [float(step.exact[0]) for step in steps],
            t("first, as held"): [float(step.value[0]) for step in steps],
            t("number below"): [step.near().below for step in steps],
            t("number above"): [step.near().above for step in steps],
            **{t(label): [int((step.marks == mark).sum()) for step in steps] for mark, label in MARKS.items()},
        }
    )
