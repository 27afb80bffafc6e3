"""Which cells of the flat table of B*T tokens and d channels share a statistic?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.axes.sharing import (
    Cell,
    Words,
    cell_sentence,
    members_of,
    row_labels,
    sharing_sentence,
    shown_sentence,
    shown_values,
    table_of_cells,
    thinned,
    title_of,
    token_label,
    word_of,
)
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.grid import GridTrace

Bools = npt.NDArray[np.bool_]

# Larger tables have no room for a number in each cell.
_WIDEST_TEXT = 16
_TALLEST_TEXT = 64
# How much of the page lies over the cells outside of the lit statistic: their numbers stay readable.
_VEIL = 0.6


def table_picture(
    trace: GridTrace,
    *,
    selected: Cell | None = None,
    mask: Bools | None = None,
    values: str = "before",
    words: Words | None = None,
    t: Text,
    mode: str,
) -> Picture:
    """The grid as a flat table with a row for each token and a column for each channel; one statistic's cells are lit.

    Parameters
    ----------
    trace
        From `normviz.normalize_grid`.
    selected
        (sequence, token, channel), from 0, whose statistic is outlined while the rest fades; None takes the first real
        token.
    mask
        Which tokens are real, bool [B, T], if the statistics were taken over pads as well; None is `trace.mask`. Pads
        are hatched.
    values
        What colours and numbers show: "before" is the input x, "after" the normalized output.
    words
        The word of each real token of each sequence, which names its row; what lies beyond is a pad.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        Every cell of the heatmap has [sequence, token, channel], from 0, as `customdata`.
    """
    batch, tokens, d = trace.x.shape
    rows = batch * tokens
    pads = ~_real(trace, mask, words).ravel()
    cell = selected or (*divmod(int(np.argmin(pads)), tokens), 0)
    row = cell[0] * tokens + cell[1]
    members = members_of(trace, cell).reshape(rows, d)
    written = d <= _WIDEST_TEXT and rows <= _TALLEST_TEXT
    height = max(260, min(110 + 30 * rows, 640))
    layout = theme.layout(
        mode,
        height=height,
        xaxis=_table_axis(mode, t("channel"), side="top", dtick=max(1, 2 ** ((d - 1).bit_length() - 3)), tick0=1,
                          range=[0.45, d + 0.55]),
        yaxis=_table_axis(
            mode, "", tickvals=list(range(rows)), ticktext=thinned(row_labels(trace, words, pads, t)),
            range=[rows - 0.45, -0.55],
        ),
        shapes=[
            *_separators(batch, tokens, d, mode),
            *_veils(members, mode),
            *_outline(members, theme.NORM_COLORS[mode][trace.axis], 4 if written else 2),
            _frame(cell[2] + 0.56, cell[2] + 1.44, row - 0.44, row + 0.44, theme.INK[mode], 2),
        ],
        annotations=[] if written else _pointers(row, cell[2], mode),
        showlegend=False,
    )  # fmt: skip
    sentence = t(
        "A table of {rows} rows (tokens of all sequences) and {d} columns (channels); "
        "the cells of one statistic are outlined and the others faded.",
        rows=rows,
        d=d,
    )
    padding = t("{n} of the rows are pads, hatched.", n=int(pads.sum())) if pads.any() else ""
    alt = [sentence, shown_sentence(values, t), sharing_sentence(trace, t), cell_sentence(trace, cell, t), padding]
    return Picture(
        name="normviz-table",
        title=t("{title}, as a table: one row per token", title=title_of(trace, values, t)),
        alt=paragraph(t, alt),
        spec={
            "data": [_heatmap(trace, values, words, written, t, mode), *_hatches(pads, d, mode)],
            "layout": layout,
        },
        table=table_of_cells(trace, t),
    )


def _real(trace: GridTrace, mask: Bools | None, words: Words | None) -> Bools:
    """Which tokens are real, [B, T], from whoever knows."""
    batch, tokens, _ = trace.x.shape
    if words is not None:
        return np.arange(tokens) < np.array([[len(sequence)] for sequence in words])
    known = mask if mask is not None else trace.mask
    return np.ones((batch, tokens), dtype=np.bool_) if known is None else known


def _heatmap(trace: GridTrace, values: str, words: Words | None, written: bool, t: Text, mode: str) -> dict[str, Any]:
    batch, tokens, d = trace.x.shape
    rows = batch * tokens
    shown = shown_values(trace, values).reshape(rows, d)
    other = shown_values(trace, "after" if values == "before" else "before").reshape(rows, d)
    before, after = ("%{z:.4~g}", "%{text:.4~g}")[:: 1 if values == "before" else -1]
    names = [
        " ".join(filter(None, [word_of(words, b, token, t), token_label(b, token, t)]))
        for b, token in np.ndindex(batch, tokens)
    ]
    largest = float(np.abs(shown).max()) or 1.0
    heatmap: dict[str, Any] = {
        "type": "heatmap",
        "meta": theme.STILL,
        "x": np.arange(1, d + 1),
        "y": np.arange(rows),
        "z": shown,
        "customdata": np.indices(trace.x.shape).transpose(1, 2, 3, 0).reshape(rows, d, 3).astype(np.int16),
        "colorscale": [list(stop) for stop in theme.DIVERGING[mode]],
        "zmin": -largest,
        "zmax": largest,
        "xgap": 2 if written else 0,
        "ygap": 2 if written else 0,
        "showscale": not written,
        "colorbar": {"orientation": "h", "thickness": 10, "len": 0.7, "y": -0.03, "yanchor": "top", "outlinewidth": 0,
                     "tickangle": 0, **_scale(largest), "tickfont": {"color": theme.MUTED[mode]}},
        "text": other,
        "hovertext": [[name] * d for name in names],
        "hovertemplate": t(
            "{row}, channel {c}: {before} becomes {after}",
            row="%{hovertext}", c="%{x}", before=before, after=after,
        ) + "<extra></extra>",
    }  # fmt: skip
    if written:
        digits = 1 if np.array_equal(shown, shown.round(1)) else 2
        heatmap |= {"texttemplate": f"%{{z:.{digits}f}}", "textfont": {"family": theme.FONT, "color": theme.INK[mode]}}
    return heatmap


def _scale(largest: float) -> dict[str, Any]:
    """Three round numbers along the colour bar: more have no room on a phone."""
    power = 10.0 ** np.floor(np.log10(largest))
    end = float(power * max(step for step in (1, 2, 5) if step * power <= largest))
    ticks = [-end, 0.0, end]
    return {"tickvals": ticks, "ticktext": [number(tick) for tick in ticks]}


def _table_axis(mode: str, title: str, **more: Any) -> dict[str, Any]:
    return theme.axis(mode, title, showgrid=False, showline=False, ticks="", **more)


def _hatches(pads: Bools, d: int, mode: str) -> list[dict[str, Any]]:
    """A hatched rectangle over each run of padded rows."""
    traces = []
    for top, bottom in _runs(pads):
        traces.append(
            {
                "type": "scatter",
                "meta": theme.STILL,
                "mode": "lines",
                "x": [0.5, d + 0.5, d + 0.5, 0.5, 0.5],
                "y": [top - 0.5, top - 0.5, bottom + 0.5, bottom + 0.5, top - 0.5],
                "fill": "toself",
                # Faint enough to read the numbers through it.
                "fillpattern": {
                    "shape": "/",
                    "fgcolor": theme.fade(theme.MUTED[mode], 0.4),
                    "bgcolor": theme.fade(theme.BACKGROUND[mode], 0.15),
                    "size": 10,
                    "solidity": 0.1,
                },
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    return traces


def _separators(batch: int, tokens: int, d: int, mode: str) -> list[dict[str, Any]]:
    """A line between one sequence and the next."""
    line = {"color": theme.MUTED[mode], "width": 1.5}
    ends = [sequence * tokens - 0.5 for sequence in range(1, batch)]
    return [{"type": "line", "x0": 0.5, "x1": d + 0.5, "y0": y, "y1": y, "line": line} for y in ends]


def _outline(members: Bools, color: str, width: float) -> list[dict[str, Any]]:
    """Frames around the cells of one statistic, interrupted by pads that are left out."""
    return [_frame(*corners, color, width) for corners in _rectangles(members)]


def _veils(members: Bools, mode: str) -> list[dict[str, Any]]:
    """The page's colour, thin, over every cell outside of one statistic; over none if nothing is in it."""
    rows, d = members.shape
    veils, top = [], -0.5
    for left, right, upper, lower in _rectangles(members):
        veils += [(0.5, d + 0.5, top, upper), (0.5, left, upper, lower), (right, d + 0.5, upper, lower)]
        top = lower
    if veils:
        veils.append((0.5, d + 0.5, top, rows - 0.5))
    veil = {"type": "rect", "line": {"width": 0}, "fillcolor": theme.fade(theme.BACKGROUND[mode], _VEIL)}
    return [{**veil, "x0": x0, "x1": x1, "y0": y0, "y1": y1} for x0, x1, y0, y1 in veils if x1 > x0 and y1 > y0]


def _rectangles(members: Bools) -> list[tuple[float, float, float, float]]:
    """Left, right, upper and lower edge of each block that the cells of one statistic [rows, d] form, from above."""
    channels = np.flatnonzero(members.any(axis=0))
    rows: Bools = np.any(members, axis=1)
    return [
        (float(channels[0]) + 0.5, float(channels[-1]) + 1.5, top - 0.5, bottom + 0.5) for top, bottom in _runs(rows)
    ]


def _pointers(row: int, channel: int, mode: str) -> list[dict[str, Any]]:
    """Arrows at the edges to a cell that may be as thin as a line; unlike shapes, they are never clipped."""
    arrow = {"text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 2.5, "arrowcolor": theme.INK[mode]}
    beside = {"xref": "paper", "x": 1, "yref": "y", "y": row, "ax": 14, "ay": 0}
    below = {"yref": "paper", "y": 0, "xref": "x", "x": channel + 1, "ax": 0, "ay": 14}
    return [{**arrow, **beside}, {**arrow, **below}]


def _frame(x0: float, x1: float, y0: float, y1: float, color: str, width: float) -> dict[str, Any]:
    edges = {"x0": float(x0), "x1": float(x1), "y0": float(y0), "y1": float(y1)}
    return {"type": "rect", **edges, "line": {"color": color, "width": width}, "fillcolor": theme.CLEAR}


def _runs(flags: Bools) -> list[tuple[int, int]]:
    """First and last place of each run of True."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(steps == 1).tolist(), (np.flatnonzero(steps == -1) - 1).tolist(), strict=True))
