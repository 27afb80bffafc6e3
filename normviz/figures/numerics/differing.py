"""How far from the exact output does each of two ways to round a norm land?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.floats import ARITHMETICS, FORMATS
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.floats import Difference

Array = npt.NDArray[np.float64]

_BINS, _REACH = 61, 2.2


def differing_picture(difference: Difference, *, t: Text, mode: str) -> Picture:
    """How the relative errors of two arithmetics are spread, in units of the largest error of one rounding.

    Parameters
    ----------
    difference
        From `normviz.floats.difference`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    edges = np.linspace(-_REACH, _REACH, _BINS)
    middles = (edges[:-1] + edges[1:]) / 2
    kind = FORMATS[difference.format]
    first, second = (t(ARITHMETICS[name].label) for name in difference.arithmetics)
    colors = (theme.NORM_COLORS[mode]["rms_norm"], theme.ACCENT[mode])
    shares = [np.histogram(error / difference.unit, bins=edges)[0] / error.size for error in difference.errors]
    hover = t("{share} of the elements at {x} roundings", share="%{y:.1%}", x="%{x:.2f}")
    data = [
        _line(name, middles, share, color, symbol, hover)
        for name, share, color, symbol in zip(
            (first, second), shares, colors, (theme.SYMBOLS["rms_norm"], "circle"), strict=True
        )
    ]
    top = 1.12 * float(max(share.max() for share in shares))
    line = {"color": theme.MUTED[mode], "width": 1.5, "dash": "dot"}
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        margin={"l": 16, "r": 16, "t": 34, "b": 16},
        xaxis=theme.axis(mode, t("relative error, in roundings"), range=[-_REACH, _REACH], tick0=0, dtick=1),
        yaxis=theme.axis(mode, t("share of the elements"), range=[0, top], tickformat=".0%", nticks=5),
        shapes=[{"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": x, "x1": x, "line": line} for x in (-1, 1)],
        annotations=[_differ(difference.share, t, mode)],
        showlegend=True,
    )
    title = t("Two ways to round the same norm in {format}", format=kind.label)
    told = [
        t("One of them has no weight, so that the other was given a weight of 1.") if difference.without_weight else "",
        t("{share} of the elements differ.", share=_percent(difference.share)),
        *(
            t(
                "{name}: relative error {rms} (RMS), at most {largest}.",
                name=name,
                rms=number(rms),
                largest=number(largest),
            )
            for name, rms, largest in zip((first, second), difference.rms, difference.largest, strict=True)
        ),
        t("One rounding errs by {unit} at most.", unit=number(difference.unit)),
    ]
    return Picture(
        name="normviz-arithmetics",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("relative error, in roundings"): middles,
                t("share of the elements, {name}", name=first): shares[0],
                **({} if first == second else {t("share of the elements, {name}", name=second): shares[1]}),
            }
        ),
    )


def _line(name: str, x: Array, y: Array, color: str, symbol: str, hover: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": color, "width": theme.LINE_WIDTH, "shape": "hvh"},
        "marker": {"symbol": symbol, "size": 8, "color": color, "maxdisplayed": 16},
        "hovertemplate": f"<b>{name}</b> {hover}<extra></extra>",
    }


def _differ(share: float, t: Text, mode: str) -> dict[str, Any]:
    return {
        "xref": "paper",
        "x": 0.5,
        "yref": "paper",
        "y": 1.01,
        "yanchor": "bottom",
        "text": t("{share} of the elements differ", share=_percent(share)),
        "font": {"color": theme.INK[mode]},
        "showarrow": False,
    }


def _percent(share: float) -> str:
    return f"{number(100 * share)}\N{NARROW NO-BREAK SPACE}%"
