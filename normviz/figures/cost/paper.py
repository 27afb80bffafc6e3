"""What is behind "7 % to 64 % less time", and what does RMSNorm save here?"""

from __future__ import annotations

from typing import Any

import pandas as pd

from normviz.cost import CLAIM, HARDWARE, PAPER, SOURCE, WAYS, NormBench, PaperRow, Spread
from normviz.figures import theme
from normviz.figures.cost.marks import percent
from normviz.figures.cost.rows import Row, arrange
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph, token_text
from normviz.text import Text

_NAME, _WIDE = 36, 44  # letters of a device's name, and of a line, that fit a phone
_LEAST, _MOST = -0.5, 1.0  # shares between which this machine is drawn to scale
ROUNDS, BYTES = 10, 2**22
"""What a benchmark has at least to stand beside the paper: fewer rounds have no quartiles to speak of, and a smaller
tensor is timed in the caches and by the calls."""

_ORDER = ("compiled", "functional", "eager")  # of this machine; the paper's authors wrote neither norm operation-wise


def paper_picture(bench: NormBench | None = None, *, t: Text, mode: str) -> Picture:
    """The time that RMSNorm and pRMSNorm save in each table of the paper, beside the claim and what this machine shows.

    Parameters
    ----------
    bench
        A benchmark with LayerNorm and RMSNorm; each way that ran for both is a row. One of fewer than `ROUNDS` rounds,
        or of a tensor below `BYTES`, is not drawn, and the figure says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    here = _here(bench)
    rows = [Row(left=t(row.label), right=_right(row, t)) for row in PAPER]
    if here:
        rows.append(Row(left=t("this machine, the norm alone"), heading=True, note=_short(bench, t)))
        rows += [
            Row(left=t(WAYS[way]), right=t("{share} %", share=_whole(saved.middle))) for way, saved in here.items()
        ]
    elif bench is not None and bench.point is not None and not fits_beside(bench):
        rows.append(Row(left=t("this machine"), heading=True, note=_refusal(t, "<br>")))
    arranged = arrange(rows, mode, legend=4)
    paper, own = arranged.places[: len(PAPER)], arranged.places[len(PAPER) + 1 :]
    low = min([0.0, *(max(_LEAST, saved.low) for saved in here.values())])
    high = max([0.68, *(min(_MOST, saved.high) for saved in here.values())])
    found = [row.saved for row in PAPER]
    title = t(
        "Time that RMSNorm saves: {low} to {high} % in the paper's tables",
        low=percent(min(found)),
        high=percent(max(found)),
    )
    return Picture(
        name="normviz-paper",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_told(here, bench, t)]),
        spec={
            "data": [
                _dots("RMSNorm", [(100 * row.saved, y) for row, y in zip(PAPER, paper, strict=True)], "", mode),
                _dots(
                    "pRMSNorm",
                    [(100 * row.p_saved, y) for row, y in zip(PAPER, paper, strict=True) if row.p_saved is not None],
                    "-open",
                    mode,
                ),
                *([_machine(here, own, t, mode)] if here else []),
                _claim(t, mode),
            ],
            "layout": theme.layout(
                mode,
                height=arranged.height,
                xaxis=theme.axis(
                    mode,
                    t("time saved against LayerNorm (%)"),
                    range=[100 * low - 3, 100 * high + 3],
                    nticks=6,
                    zeroline=True,
                    zerolinecolor=theme.MUTED[mode],
                ),
                yaxis=arranged.yaxis,
                annotations=arranged.annotations,
                shapes=[
                    *arranged.shapes,
                    {"type": "rect", "x0": 100 * CLAIM[0], "x1": 100 * CLAIM[1], "yref": "paper", "y0": 0, "y1": 1,
                     "layer": "below", "line": {"width": 0}, "fillcolor": theme.fade(theme.ACCENT[mode], 0.12)}
                ],
                showlegend=True,
            ),
        },
        table=_table(t),
    )  # fmt: skip


def fits_beside(bench: NormBench) -> bool:
    """Whether a benchmark has the rounds and the size to stand beside the paper."""
    return bench.point is not None and bench.point.rounds >= ROUNDS and bench.config.tensor_bytes >= BYTES


def _refusal(t: Text, break_: str = " ") -> str:
    """What is drawn instead of too small a run; with a break where a phone's line ends."""
    return t(
        "A run of at least {rounds} rounds{space}and {mib} MiB is drawn here.",
        rounds=ROUNDS,
        space=break_ if t.lang == "en" else "",
        mib=BYTES // 2**20,
    )


def _whole(share: float) -> str:
    """Whole per cent: a measurement has no more digits."""
    return number(round(100 * share))


def _short(bench: NormBench | None, t: Text) -> str:
    """Device, size, format and rounds as fits a phone: a long name has a line of its own."""
    told = _where(bench, t, most=_NAME)
    return told.replace("[", "<br>[", 1) if len(told) > _WIDE else told


def _where(bench: NormBench | None, t: Text, *, most: int | None = None) -> str:
    """Device, size, format and rounds, with `most` letters of the device's name."""
    if bench is None or bench.point is None:
        return ""
    return t(
        "{device}, [{tokens}, {d}] {dtype}, {rounds} rounds",
        device=bench.point.device if most is None else token_text(bench.point.device, most),
        tokens=bench.config.tokens,
        d=bench.config.d,
        dtype=bench.config.dtype,
        rounds=bench.point.rounds,
    )


def _here(bench: NormBench | None) -> dict[str, Spread]:
    """The share of LayerNorm's time that RMSNorm saves here, by way; below zero where it takes longer."""
    found: dict[str, Spread] = {}
    if bench is None or not fits_beside(bench):
        return found
    for way in _ORDER:
        pair = (f"rms_norm/{way}", f"layer_norm/{way}")
        if set(pair) <= set(bench.measured):
            ratio = bench.ratio(*pair)
            found[way] = Spread(1 - ratio.high, 1 - ratio.middle, 1 - ratio.low)
    return found


def _right(row: PaperRow, t: Text) -> str:
    if row.p_saved is None:
        return t("{share} %", share=percent(row.saved))
    return t("{share} % (p: {other} %)", share=percent(row.saved), other=percent(row.p_saved))


def _told(here: dict[str, Spread], bench: NormBench | None, t: Text) -> list[str]:
    partial = max(row.p_saved for row in PAPER if row.p_saved is not None)
    said = [
        t(
            "The abstract says {low} to {high} %; {partial} % is pRMSNorm, which looks at 6.25 % of the entries.",
            low=number(100 * CLAIM[0]),
            high=number(100 * CLAIM[1]),
            partial=percent(partial),
        ),
        *(
            t("{name}: {share}.", name=t(row.label), share=_right(row, t))
            for row in PAPER
        ),
        t("These are {what} ({source}).", what=t(HARDWARE), source=SOURCE),
    ]  # fmt: skip
    if bench is not None and bench.point is not None and not fits_beside(bench):
        said.append(_refusal(t))
    if here:
        said.append(t("This machine: {where}.", where=_where(bench, t)))
    for way, saved in here.items():
        said.append(
            t(
                "The norm alone, {way}: {share} % (half of the rounds {low} to {high} %).",
                way=t(WAYS[way]),
                share=_whole(saved.middle),
                low=_whole(saved.low),
                high=_whole(saved.high),
            )
        )
    return said


def _dots(name: str, points: list[tuple[float, float]], hollow: str, mode: str) -> dict[str, Any]:
    color = theme.NORM_COLORS[mode]["rms_norm"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "marker": {
            "color": color,
            "symbol": theme.SYMBOLS["rms_norm"] + hollow,
            "size": 13,
            "line": {"color": color if hollow else theme.BACKGROUND[mode], "width": 2.5 if hollow else 1},
        },
        "hovertemplate": name + ": %{x:.1f} %<extra></extra>",
    }


def _machine(here: dict[str, Spread], places: tuple[float, ...], t: Text, mode: str) -> dict[str, Any]:
    """Medians and quartiles of this machine; what lies beyond the axis stands at its edge as an arrow."""
    color = theme.NORM_COLORS[mode]["rms_norm"]
    spreads = [Spread(*(min(_MOST, max(_LEAST, value)) for value in saved)) for saved in here.values()]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": t("RMSNorm here, median and quartiles"),
        "x": [100 * saved.middle for saved in spreads],
        "y": list(places),
        "marker": {
            "color": color,
            "symbol": [
                "triangle-left" if saved.middle < _LEAST else theme.SYMBOLS["rms_norm"] for saved in here.values()
            ],
            "size": 12,
            "line": {"color": theme.INK[mode], "width": 1.5},
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [100 * (saved.high - saved.middle) for saved in spreads],
            "arrayminus": [100 * (saved.middle - saved.low) for saved in spreads],
            "color": color,
            "thickness": 2.5,
            "width": 5,
        },
        "text": [" … ".join(map(_whole, saved)) + " %" for saved in here.values()],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _claim(t: Text, mode: str) -> dict[str, Any]:
    """What the band behind the rows is, for the legend alone."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": t("the abstract's {low} to {high} %", low=number(100 * CLAIM[0]), high=number(100 * CLAIM[1])),
        "x": [None],
        "y": [None],
        "marker": {"symbol": "square", "size": 14, "color": theme.fade(theme.ACCENT[mode], 0.25)},
        "hoverinfo": "skip",
    }


def _table(t: Text) -> pd.DataFrame:
    return pd.DataFrame(
        {
            t("experiment"): [t(row.label) for row in PAPER],
            t("seconds with LayerNorm"): [row.layer_norm for row in PAPER],
            t("seconds with RMSNorm"): [row.rms_norm for row in PAPER],
            t("seconds with pRMSNorm"): [row.p_rms_norm for row in PAPER],
            t("RMSNorm saves (%)"): [100 * row.saved for row in PAPER],
            t("pRMSNorm saves (%)"): [None if row.p_saved is None else 100 * row.p_saved for row in PAPER],
        }
    )
