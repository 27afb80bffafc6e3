"""How does the length of a vector before a norm map to its length after it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.ticks import log_ticks
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Lengths

Array = npt.NDArray[np.float64]

# The lengths after a norm span at least this factor around the radius; lower ones than the last bound are not drawn.
_SPAN, _DEEPEST = 30.0, 1e-9
_MARKED = 9  # markers on a line, which tell it apart without colour


def length_picture(lengths: Lengths, *, t: Text, mode: str) -> Picture:
    r"""The L2 norm of LN(c x) and RMSNorm(c x) against that of c x on log axes, x itself and sqrt(d) marked.

    Parameters
    ----------
    lengths
        From `normviz.lengths`.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        A length of 0 has no place on the axis, and a norm that is undefined no line; the text says so.
    """
    before, radius = lengths.before, lengths.radius
    after = {"LN(c x)": ("layer_norm", lengths.layer_norm), "RMSNorm(c x)": ("rms_norm", lengths.rms_norm)}
    missing = [t("{name} is undefined here.", name=name) for name, (_, line) in after.items() if line is None]
    missing += [
        t("{name} has length 0 for every c.", name=name)
        for name, (_, line) in after.items()
        if line is not None and not line.any()
    ]
    lines = {name: (norm, line) for name, (norm, line) in after.items() if line is not None and line.any()}
    drawn = before > 0
    data: list[dict[str, Any]] = []
    for (name, (norm, line)), now in zip(lines.items(), _now(lengths, lines), strict=True):
        data += _line(name, norm, before[drawn], line[drawn], (lengths.current[0], now), t, mode)
    low, high = _range(lines, radius)
    x_low, x_high = (float(before[drawn].min()), float(before[drawn].max())) if drawn.any() else (0.1, 10.0)
    layout = theme.layout(
        mode,
        tallest=1.1,
        height=420,
        margin={"l": 68, "r": 18, "t": 16, "b": 104},
        xaxis=_axis(mode, t("L2 norm of c x, before"), x_low, x_high),
        yaxis=_axis(mode, t("L2 norm after"), low, high),
        shapes=[_level(radius, mode)],
        annotations=[_radius_note(radius, mode), *_notes(missing)],
        showlegend=True,
    )
    return Picture(
        name="normviz-lengths",
        title=t(
            "Whatever the length of x, the norms give √d = {radius}, less where eps = {eps} counts",
            radius=number(radius),
            eps=number(lengths.eps),
        )
        if lengths.eps > 0
        else t("Whatever the length of x, at eps 0 the norms give √d = {radius}", radius=number(radius)),
        alt=paragraph(t, [*_story(lengths, lines, t), *missing]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("factor c"): lengths.factors,
                t("L2 norm of c x"): before,
                **{
                    t("L2 norm of {name}", name=name): np.full(before.size, np.nan) if line is None else line
                    for name, (_, line) in after.items()
                },
            }
        ),
    )


def _now(lengths: Lengths, lines: dict[str, tuple[str, Array]]) -> list[float]:
    found = {"layer_norm": lengths.current[1], "rms_norm": lengths.current[2]}
    return [found[norm] or 0.0 for norm, _ in lines.values()]


def _line(
    name: str, norm: str, before: Array, after: Array, now: tuple[float, float], t: Text, mode: str
) -> list[dict[str, Any]]:
    color, symbol = theme.NORM_COLORS[mode][norm], theme.SYMBOLS[norm]
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": before,
        "y": after,
        # The broad line shows on both sides of the other where they run together.
        "line": {"color": color, "width": 6 if norm == "layer_norm" else theme.LINE_WIDTH},
        "marker": {"symbol": symbol, "size": 8, "color": color, "maxdisplayed": _MARKED},
        "hovertemplate": f"<b>{name}</b> %{{x:.4~g}} → %{{y:.5~g}}<extra></extra>",
    }
    if not (now[0] > 0 and now[1] > 0):
        return [line]
    here = {
        "type": "scatter",
        "mode": "markers",
        "name": t("x itself (c = 1)"),
        "showlegend": norm == "rms_norm",
        "x": [now[0]],
        "y": [now[1]],
        "marker": {
            "symbol": symbol, "size": 21 if norm == "layer_norm" else 12, "color": color,
            "line": {"color": theme.INK[mode], "width": 2.5},
        },
        "hovertemplate": f"<b>{name}</b>, c = 1: %{{x:.5~g}} → %{{y:.5~g}}<extra></extra>",
    }  # fmt: skip
    return [line, here]


def _range(lines: dict[str, tuple[str, Array]], radius: float) -> tuple[float, float]:
    values = np.concatenate([radius * np.ones(1), *(line[line > 0] for _, line in lines.values())])
    low = min(radius / _SPAN, max(float(values.min()), _DEEPEST * radius))
    return low, max(2.5 * radius, float(values.max()) * 1.5)


def _axis(mode: str, title: str, low: float, high: float) -> dict[str, Any]:
    if high < 1.5 * low:
        low, high = low / 2, high * 2
    values, labels = log_ticks(low, high)
    ends = [float(np.log10(low)), float(np.log10(high))]
    return theme.axis(mode, title, type="log", range=ends, tickvals=values, ticktext=labels)


def _level(radius: float, mode: str) -> dict[str, Any]:
    line = {"color": theme.MUTED[mode], "width": 1.5, "dash": "dot"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": radius, "y1": radius, "line": line}


def _radius_note(radius: float, mode: str) -> dict[str, Any]:
    return {
        "xref": "paper",
        "x": 0.02,
        "y": float(np.log10(radius)),
        "xanchor": "left",
        "yanchor": "bottom",
        "text": f"√d = {number(radius)}",
        "font": {"color": theme.MUTED[mode]},
        "showarrow": False,
    }


def _notes(missing: list[str]) -> list[dict[str, Any]]:
    if not missing:
        return []
    place = {"xref": "paper", "yref": "paper", "x": 0.98, "y": 0.03, "xanchor": "right", "yanchor": "bottom"}
    return [{**place, "text": "<br>".join(missing), "align": "right", "showarrow": False}]


def _story(lengths: Lengths, lines: dict[str, tuple[str, Array]], t: Text) -> list[str]:
    told = [
        t(
            "x has L2 norm {before}; {name} has {after}.",
            before=number(lengths.current[0], 4),
            name=name.replace("c x", "x"),
            after=number(now, 4),
        )
        for name, now in zip(lines, _now(lengths, lines), strict=True)
    ]
    for name, (_, line) in lines.items():
        ends = {"low": number(lengths.before[0]), "high": number(lengths.before[-1])}
        first, last = number(line[0]), number(line[-1])
        told.append(
            t(
                "From {low} to {high} before, {name} goes from {first} to {last}.",
                name=name,
                first=first,
                last=last,
                **ends,
            )
        )
    return told
