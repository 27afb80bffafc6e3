"""Which cells of the flat table of B*T tokens and d channels share a statistic?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.sharing import (
    Cell,
    cell_sentence,
    members_of,
    sharing_sentence,
    table_of_cells,
    thinned,
    title_of,
    token_label,
)
from normviz.figures.words import paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.grid import GridTrace

Bools = npt.NDArray[np.bool_]

# Larger tables have no room for a number in each cell.
_WIDEST_TEXT = 16
_TALLEST_TEXT = 64


def table_picture(
    trace: GridTrace,
    *,
    selected: Cell | None = None,
    mask: Bools | None = None,
    t: Text,
    mode: str,
) -> Picture:
    """The grid as a flat table with a row for each token and a column for each channel; one statistic's cells outlined.

    Parameters
    ----------
    trace
        From `normviz.normalize_grid`.
    selected
        (sequence, token, channel), from 0, whose statistic is outlined; None takes the first real token.
    mask
        Which tokens are real, bool [B, T], if the statistics were taken over pads as well; None is `trace.mask`. Pads
        are hatched.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        Every cell of the heatmap has [sequence, token, channel], from 0, as `customdata`.
    """
    batch, tokens, d = trace.x.shape
    rows = batch * tokens
    real = mask if mask is not None else trace.mask
    pads = np.zeros(rows, dtype=np.bool_) if real is None else ~real.ravel()
    cell = selected or (*divmod(int(np.argmin(pads)), tokens), 0)
    labels = [token_label(b, token, t) for b in range(batch) for token in range(tokens)]
    marked = [t("{row} (pad)", row=row) if pad else row for row, pad in zip(labels, pads, strict=True)]
    values = trace.x.reshape(rows, d)
    written = d <= _WIDEST_TEXT and rows <= _TALLEST_TEXT
    largest = float(np.abs(values).max()) or 1.0
    heatmap: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(1, d + 1),
        "y": np.arange(rows),
        "z": values,
        "customdata": np.indices(trace.x.shape).transpose(1, 2, 3, 0).reshape(rows, d, 3).astype(np.int16),
        "colorscale": [list(stop) for stop in theme.DIVERGING[mode]],
        "zmin": -largest,
        "zmax": largest,
        "xgap": 2 if written else 0,
        "ygap": 2 if written else 0,
        "showscale": not written,
        "colorbar": {"orientation": "h", "thickness": 10, "len": 0.7, "y": -0.02, "yanchor": "top", "outlinewidth": 0,
                     "tickfont": {"color": theme.MUTED[mode]}},
        "text": trace.normalized.reshape(rows, d),
        "hovertext": [[label] * d for label in labels],
        "hovertemplate": t(
            "{row}, channel {c}: {before} becomes {after}",
            row="%{hovertext}", c="%{x}", before="%{z:.4~g}", after="%{text:.4~g}",
        ) + "<extra></extra>",
    }  # fmt: skip
    if written:
        digits = 1 if np.array_equal(values, values.round(1)) else 2
        heatmap |= {"texttemplate": f"%{{z:.{digits}f}}", "textfont": {"family": theme.FONT, "color": theme.INK[mode]}}
    layout = theme.layout(
        mode,
        height=max(260, min(110 + 30 * rows, 640)),
        xaxis=_table_axis(mode, t("channel"), side="top", dtick=max(1, 2 ** ((d - 1).bit_length() - 4)), tick0=1,
                          range=[0.45, d + 0.55]),
        yaxis=_table_axis(
            mode, "", tickvals=list(range(rows)), ticktext=thinned(marked), range=[rows - 0.45, -0.55]
        ),
        shapes=[*_separators(batch, tokens, d, mode), *_outline(members_of(trace, cell), cell, trace.axis, mode)],
        showlegend=False,
    )  # fmt: skip
    words = t(
        "A table of {rows} rows (tokens of all sequences) and {d} columns (channels); "
        "the cells of one statistic are outlined.",
        rows=rows,
        d=d,
    )
    padding = t("{n} of the rows are pads, hatched.", n=int(pads.sum())) if pads.any() else ""
    return Picture(
        name="normviz-table",
        title=t("{title}, as a table: one row per token", title=title_of(trace, t)),
        alt=paragraph(t, [words, sharing_sentence(trace, t), cell_sentence(trace, cell, t), padding]),
        spec={"data": [heatmap, *_hatches(pads, d, mode)], "layout": layout},
        table=table_of_cells(trace, t),
    )


def _table_axis(mode: str, title: str, **more: Any) -> dict[str, Any]:
    return theme.axis(mode, title, showgrid=False, showline=False, ticks="", **more)


def _hatches(pads: Bools, d: int, mode: str) -> list[dict[str, Any]]:
    """A hatched rectangle over each run of padded rows."""
    traces = []
    for top, bottom in _runs(pads):
        traces.append(
            {
                "type": "scatter",
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


def _outline(members: Bools, cell: Cell, axis: str, mode: str) -> list[dict[str, Any]]:
    """Frames around the cells of one statistic, interrupted by pads that are left out, and around the cell itself."""
    flat: Bools = members.reshape(-1, members.shape[-1])
    rows: Bools = np.any(flat, axis=1)
    channels = np.flatnonzero(flat.any(axis=0))
    color = theme.NORM_COLORS[mode][axis]
    shapes = [
        _frame(channels[0] + 0.5, channels[-1] + 1.5, top - 0.5, bottom + 0.5, color, 4) for top, bottom in _runs(rows)
    ]
    row, channel = cell[0] * members.shape[1] + cell[1], cell[2]
    return [*shapes, _frame(channel + 0.56, channel + 1.44, row - 0.44, row + 0.44, theme.INK[mode], 2)]


def _frame(x0: float, x1: float, y0: float, y1: float, color: str, width: float) -> dict[str, Any]:
    edges = {"x0": float(x0), "x1": float(x1), "y0": float(y0), "y1": float(y1)}
    return {"type": "rect", **edges, "line": {"color": color, "width": width}, "fillcolor": theme.CLEAR}


def _runs(flags: Bools) -> list[tuple[int, int]]:
    """First and last place of each run of True."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(steps == 1).tolist(), (np.flatnonzero(steps == -1) - 1).tolist(), strict=True))
