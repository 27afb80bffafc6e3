"""Which numbers of each format stand around a given one?"""

from __future__ import annotations

from collections.abc import Sequence
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
    from normviz.floats import Neighbours

Array = npt.NDArray[np.float64]

# Half the width of the axis in units of the first format's spacing, and the most numbers that are drawn one by one.
_REACH, _MOST = 4.6, 60
# Half that width at most in units of the number itself.
_SHARE = 0.6
_TICKS = 4
_DIGITS = 7


def neighbours_picture(value: float, formats: Sequence[str], *, t: Text, mode: str) -> Picture:
    """The number line around a value: the numbers that each format has there, and the one that it holds instead.

    Parameters
    ----------
    value
        A finite number.
    formats
        Keys of `FORMATS`; the first one's spacing sets the width.
    t, mode
        The reader's language, and "light" or "dark".
    """
    found = {name: neighbours(value, name) for name in formats}
    low, high = _window(value, formats[0], found[formats[0]])
    color = theme.ACCENT[mode]
    data: list[dict[str, Any]] = []
    single: list[tuple[Array, int]] = []
    for row, name in enumerate(formats):
        numbers = _numbers(name, low, high)
        if numbers is None:
            largest = FORMATS[name].largest
            data.append(_dense(row, (max(low, -largest), min(high, largest)), name, t, mode))
        else:
            single.append((numbers, row))
    data.append(_ticks(single, t, mode))
    chosen = [(near.at, row) for row, near in enumerate(found.values()) if low <= near.at <= high]
    data.append(
        {
            "type": "scatter", "mode": "markers", "name": t("held instead"),
            "x": np.array([at for at, _ in chosen]), "y": np.array([float(row) for _, row in chosen]),
            "text": [held(at, _DIGITS) for at, _ in chosen],
            "marker": {"symbol": "circle", "size": 13, "color": color},
            "hovertemplate": "<b>%{text}</b><extra></extra>", "showlegend": bool(chosen),
        }
    )  # fmt: skip
    if low <= value <= high:
        data.append(_value(value, len(formats), t, mode))
    ticks = _places(low, high)
    labels = sparse(_distinct(ticks), np.array(ticks))
    layout = theme.layout(
        mode,
        height=150 + 44 * len(formats),
        xaxis=theme.axis(
            mode, t("number line"), range=[low, high], tickvals=ticks, ticktext=labels,
            tickangle=0,
        ),
        yaxis=theme.axis(
            mode, "", range=[len(formats) - 0.4, -0.6], tickvals=list(range(len(formats))),
            ticktext=[FORMATS[name].label for name in formats], tickfont={"color": theme.INK[mode]}, ticks="",
        ),
        annotations=[_aside(row, near, (low, high), mode) for row, near in enumerate(found.values())],
        showlegend=True,
    )  # fmt: skip
    title = t("The numbers around {value}", value=held(value, _DIGITS))
    return Picture(
        name="normviz-neighbours",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *(_told(name, near, t) for name, near in found.items())]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("format"): [FORMATS[name].label for name in formats],
                t("number below"): [near.below for near in found.values()],
                t("held instead"): [near.at for near in found.values()],
                t("number above"): [near.above for near in found.values()],
                t("spacing"): [near.ulp for near in found.values()],
            }
        ),
    )


def _window(value: float, name: str, near: Neighbours) -> tuple[float, float]:
    """The shown part of the number line, with the value in it and some of the format's numbers."""
    middle = near.at if np.isfinite(near.at) else float(np.copysign(FORMATS[name].largest, value))
    reach = _REACH * near.ulp
    if abs(middle) >= 2 * FORMATS[name].smallest_normal:
        # Towards zero the numbers become ever denser.
        reach = min(reach, _SHARE * abs(middle))
    # A value far above the largest number is left outside; the sentences say it.
    low, high = middle - reach, middle + reach
    off = abs(value - middle)
    return (low, high) if off < reach or off > 40 * near.ulp else (middle - 1.15 * off, middle + 1.15 * off)


def _numbers(name: str, low: float, high: float) -> Array | None:
    """All numbers of the format from low to high, or None where they are too many to be drawn one by one."""
    at = max(low, -FORMATS[name].largest)
    near = neighbours(at, name)
    at = near.at if near.at >= low else near.above
    numbers = []
    while np.isfinite(at) and at <= high:
        numbers.append(at)
        if len(numbers) > _MOST:
            return None
        at = neighbours(at, name).above
    return np.array(numbers)


def _ticks(rows: list[tuple[Array, int]], t: Text, mode: str) -> dict[str, Any]:
    name = t("numbers of the format")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": np.concatenate([numbers for numbers, _ in rows] or [np.zeros(0)]),
        "y": np.concatenate([np.full(numbers.size, float(row)) for numbers, row in rows] or [np.zeros(0)]),
        "text": [held(float(value), _DIGITS) for numbers, _ in rows for value in numbers],
        "marker": {
            "symbol": "line-ns-open",
            "size": 18,
            "color": theme.MUTED[mode],
            "line": {"color": theme.MUTED[mode], "width": 2},
        },
        "hovertemplate": "%{text}<extra></extra>",
    }


def _dense(row: int, ends: tuple[float, float], name: str, t: Text, mode: str) -> dict[str, Any]:
    text = t("{format}: too dense to be drawn one by one", format=FORMATS[name].label)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text,
        "x": list(ends),
        "y": [float(row)] * 2,
        "line": {"color": theme.fade(theme.MUTED[mode], 0.45), "width": 14},
        "hovertemplate": f"{text}<extra></extra>",
        "showlegend": False,
    }


def _value(value: float, rows: int, t: Text, mode: str) -> dict[str, Any]:
    name = t("the given number")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [value, value],
        "y": [-0.6, rows - 0.4],
        "line": {"color": theme.INK[mode], "width": 2, "dash": theme.DASHES["theory"]},
        "hovertemplate": f"<b>{name}</b> {held(value, _DIGITS)}<extra></extra>",
    }


def _places(low: float, high: float) -> list[float]:
    """A few round numbers between the ends."""
    power = 10.0 ** np.floor(np.log10((high - low) / _TICKS))
    step = next(power * m for m in (1, 2, 5, 10) if (high - low) / (power * m) <= _TICKS)
    first = np.ceil(low / step)
    return [float(step * k) for k in np.arange(first, np.floor(high / step) + 1)]


def _distinct(ticks: Sequence[float]) -> list[str]:
    """Labels with as few digits as tell the numbers apart."""
    labels = [held(tick, 3) for tick in ticks]
    for digits in range(4, 17):
        if len(set(labels)) == len(ticks):
            break
        labels = [held(tick, digits) for tick in ticks]
    return labels


def _aside(row: int, near: Neighbours, ends: tuple[float, float], mode: str) -> dict[str, Any]:
    """What a row says where the number that its format holds is not on the axis; else nothing."""
    text, right = "", near.at > ends[1] or not near.at < ends[0]
    if not np.isfinite(near.at):
        text = held(near.at)
    elif not ends[0] <= near.at <= ends[1]:
        text = held(near.at, _DIGITS)
        text = f"{text} →" if right else f"← {text}"
    return {
        "xref": "paper",
        "x": float(right),
        "xanchor": "right" if right else "left",
        "y": row,
        "text": text,
        "showarrow": False,
        "font": {"color": theme.INK[mode]},
    }


def _told(name: str, near: Neighbours, t: Text) -> str:
    label = FORMATS[name].label
    if not np.isfinite(near.at):
        largest = held(FORMATS[name].largest, _DIGITS)
        return t("{format} ends at {largest} and holds {value}.", format=label, largest=largest, value=held(near.at))
    return t(
        "{format} holds {value}, between {below} and {above}.",
        format=label,
        value=held(near.at, _DIGITS),
        below=held(near.below, _DIGITS),
        above=held(near.above, _DIGITS),
    )
