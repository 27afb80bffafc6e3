"""Where does a scale close to 1 land: among the numbers around 1, or, less one, among those around 0?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.numerics.words import held
from normviz.figures.picture import Picture
from normviz.figures.ticks import sparse
from normviz.figures.words import paragraph
from normviz.floats import FORMATS, neighbours
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.floats import Format, Landing

Array = npt.NDArray[np.float64]

# Half the width of the axis, in units of the spacing above 1.
_REACH = 3.2
# Below the highest so many binades nothing is told apart, nor among more numbers than these in each.
_BINADES, _PER_BINADE = 7, 128
_SCALE, _GIVEN, _W = 0.0, 1.0, 2.0


def landing_picture(landing: Landing, names: tuple[str, str], *, t: Text, mode: str) -> Picture:
    """Weights w on a line, above them where 1 + w lands among the numbers around 1, below where w lands around 0.

    Parameters
    ----------
    landing
        From `normviz.floats.landing`; weights beyond three spacings of the format at 1 are not drawn.
    names
        What the upper and the lower row are, in the reader's language.
    t, mode
        The reader's language, and "light" or "dark".
    """
    kind = FORMATS[landing.format]
    reach = _REACH * kind.epsilon
    shown = np.abs(landing.w) <= 3 * kind.epsilon
    w, as_scale, as_w = (values[shown] for values in (landing.w, landing.as_scale, landing.as_w))
    ends = (-reach, reach)
    places = kind.epsilon * np.arange(-3, 4, dtype=np.float64)
    red = theme.NORM_COLORS[mode]["batch_norm"]
    data = [
        _numbers(_around_one(landing.format, reach), _SCALE, t("numbers around 1"), mode),
        _numbers(_around_zero(kind, reach), _W, t("numbers around 0"), mode),
        _paths(w, as_scale, _SCALE, mode),
        _paths(w, as_w, _W, mode),
        _points(w, w, _GIVEN, t("the weights"), ("diamond", theme.INK[mode]), mode),
        _points(as_scale, 1 + as_scale, _SCALE, t("where they land"), ("circle", theme.ACCENT[mode]), mode),
        {**_points(as_w, as_w, _W, t("where they land"), ("circle", theme.ACCENT[mode]), mode), "showlegend": False},
    ]
    vanished = (as_scale == 0) & (w != 0)
    if vanished.any():
        one = _points(np.zeros(1), np.ones(1), _SCALE, t("became 1"), ("circle-open", red), mode)
        one["marker"].update(size=19, line={"color": red, "width": 2.5})
        data.append(one)
    layout = theme.layout(
        mode,
        height=350,
        xaxis=theme.axis(
            mode, t("scale less one"), range=list(ends), tickvals=places,
            ticktext=sparse([held(float(place), 3) for place in places], places), tickangle=0,
        ),
        yaxis=theme.axis(mode, "", range=[2.75, -0.6], tickvals=[], ticks="", showgrid=False),
        annotations=[_row(names[0], _SCALE - 0.2, "bottom", mode), _row(names[1], _W + 0.2, "top", mode)],
        showlegend=True,
    )  # fmt: skip
    title = t("The same scales among the numbers around 1 and around 0 in {format}", format=kind.label)
    errors = [float(np.abs(values - w).max(initial=0.0)) for values in (as_scale, as_w)]
    return Picture(
        name="normviz-scale-landing",
        title=title,
        alt=paragraph(
            t,
            [
                t("{title}.", title=title),
                *(
                    t("{name}: the largest error is {error}.", name=name, error=held(error, 3))
                    for name, error in zip(names, errors, strict=True)
                ),
                t("{n} of {d} scales became 1.", n=int(vanished.sum()), d=int(w.size)),
            ],
        ),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame({"w": landing.w, names[0]: 1 + landing.as_scale, names[1]: landing.as_w}),
    )


def _around_one(format: str, reach: float) -> Array:
    """The format's numbers from 1 - reach to 1 + reach, less one."""
    numbers, first = [], neighbours(1 - reach, format)
    at = first.at if first.at >= 1 - reach else first.above
    while at <= 1 + reach:
        numbers.append(at - 1)
        at = neighbours(at, format).above
    return np.array(numbers)


def _around_zero(kind: Format, reach: float) -> Array:
    """The format's numbers from -reach to reach, of the finest ones some: they are closer than a pixel."""
    top = int(np.floor(np.log2(reach)))
    above: list[float] = [0.0]
    for power in range(top - _BINADES, top + 1):
        count = min(2**kind.mantissa, _PER_BINADE)
        above += [2.0**power * (1 + k / count) for k in range(count)]
    drawn = np.array([place for place in above if place <= reach])
    return np.concatenate([-drawn[:0:-1], drawn])


def _numbers(places: Array, row: float, name: str, mode: str) -> dict[str, Any]:
    """Ticks, many as one line with gaps: markers would be slow."""
    x = np.repeat(places, 3)
    y = np.tile([row - 0.13, row + 0.13, row], places.size)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [None if k % 3 == 2 else float(value) for k, value in enumerate(x)],
        "y": [None if k % 3 == 2 else float(value) for k, value in enumerate(y)],
        "line": {"color": theme.MUTED[mode], "width": 2 if places.size < 60 else 0.7},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _paths(start: Array, end: Array, row: float, mode: str) -> dict[str, Any]:
    """From each weight to where it lands."""
    gap = 0.2 if row < _GIVEN else -0.2
    x = [value for pair in zip(start, end, strict=True) for value in (float(pair[0]), float(pair[1]), None)]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "",
        "x": x,
        "y": [_GIVEN, row + gap / 2, None] * start.size,
        "line": {"color": theme.fade(theme.ACCENT[mode], 0.7), "width": 1.5},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _points(x: Array, values: Array, row: float, name: str, style: tuple[str, str], mode: str) -> dict[str, Any]:
    symbol, color = style
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": np.full(x.size, row),
        "text": [held(float(value), 7) for value in values],
        "marker": {"symbol": symbol, "size": 9, "color": color, "line": {"color": theme.BACKGROUND[mode], "width": 1}},
        "hovertemplate": f"<b>{name}</b> %{{text}}<extra></extra>",
    }


def _row(name: str, y: float, side: str, mode: str) -> dict[str, Any]:
    return {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "y": y,
        "yanchor": side,
        "text": name,
        "showarrow": False,
        "font": {"color": theme.INK[mode]},
    }
