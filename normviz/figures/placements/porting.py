"""In which layer does a port leave the original, and how does its error go on from there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.families import FAMILIES
from normviz.families.porting import MISTAKES
from normviz.figures import theme
from normviz.figures.axes.lines import Array, level, log_axis, measured, single
from normviz.figures.depth.lines import note
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.floats import FORMATS
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.families.porting import Ported

_HEIGHT = 400
# Distance of the output from the last layer, and room on both sides of the axis: a share of the layers, at least so
# many layers.
_ASIDE, _ROOM = (0.28, 0.8), (0.06, 0.4)
# So many layers have a label.
_LABELS = 6
# Room below the smallest error for the points where nothing differs: a factor. These points, and the largest error,
# are so far from the ends of the axis.
_BELOW, _EDGE = 4.0, 0.06
# px from the axis back to the edge of a narrow drawing, where the first difference is named.
_BACK = 44


def porting_picture(ported: Ported, *, t: Text, mode: str) -> Picture:
    r"""The port's relative error $\|x'-x\|/\|x\|$ along the residual stream, on a log axis.

    One point after the embedding, after each sublayer (in a parallel block, after each layer), and for the output. Open
    points at the lower edge are places where every bit agrees; a line stands where the first difference is, and a
    dotted one at the error that rounding a number once makes at most in the model's format.

    Parameters
    ----------
    ported
        From `normviz.families.porting.port`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    config = ported.config
    family = FAMILIES[config.family]
    depth = config.n_layers
    aside, room = (max(share * depth, least) for share, least in (_ASIDE, _ROOM))
    ends = (-room, depth + aside + room)
    # The output stands beside the last layer.
    x = np.append(ported.passed / 2, depth + aside)
    y = np.append(ported.layers, ported.output)
    places = [_place(int(passed), ported, t) for passed in (*ported.passed, 2 * depth + 1)]
    rounding = FORMATS[config.dtype].epsilon / 2
    yaxis = log_axis(mode, t("relative error of the stream"), [y, np.array([rounding])])
    if not y.all():
        yaxis["range"][0] -= float(np.log10(_BELOW))
    edge = _EDGE * float(np.ptp(yaxis["range"]))
    floor = 10 ** (yaxis["range"][0] + edge)
    yaxis["range"][1] += edge
    data = [
        level(t("rounding once in {format}", format=config.dtype), ends, rounding, mode),
        *_points(family.placement, x, y, floor, places, t, mode),
    ]
    margin = {"l": 16, "r": 16, "t": 36, "b": 16}
    xaxis = _axis(depth, float(x[-1]), ends, t, mode)
    layout = theme.layout(mode, height=_HEIGHT, tallest=1.1, margin=margin, xaxis=xaxis, yaxis=yaxis, showlegend=True)
    if y.any():
        first = int(np.flatnonzero(y)[0])
        layout["shapes"], layout["annotations"] = _first(float(x[first]), places[first], t, mode)
    else:
        note(layout, t("No bit differs from the original."), mode)
    return Picture(
        name=f"normviz-porting-{config.family.replace('_', '-')}",
        title=t("{family}: how far its port is from the original", family=family.label),
        alt=paragraph(t, _story(ported, places, y, t)),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame({t("place"): places, t("relative error"): y}),
    )


def _points(
    placement: str, x: Array, y: Array, floor: float, places: list[str], t: Text, mode: str
) -> list[dict[str, Any]]:
    """The stream's errors as a line, the output's as a star, and open points where there is no error."""
    known = placement if placement in theme.SYMBOLS else "parallel"
    color, symbol = theme.PLACEMENT_COLORS[mode][known], theme.SYMBOLS[known]
    same, output = y == 0, np.arange(y.size) == y.size - 1
    data = []
    if same.any():
        name = t("every bit agrees")
        points = single(name, x[same], np.full(int(same.sum()), floor), (color, f"{symbol}-open"), "%{text}", size=9)
        data.append({**points, "text": _kept(places, same)})
    for name, keep in ((t("residual stream"), ~same & ~output), (t("output"), ~same & output)):
        if keep.any():
            hover = "%{text}: %{y:.3~g}"
            data.append(
                measured(name, x[keep], y[keep], (color, symbol), hover, text=_kept(places, keep), showlegend=False)
            )
    if not same[-1]:
        data[-1]["mode"] = "markers"
        data[-1]["marker"] = {**data[-1]["marker"], "symbol": "star", "size": 13}
    return data


def _axis(depth: int, output: float, ends: tuple[float, float], t: Text, mode: str) -> dict[str, Any]:
    """Whole layers, and the output beside the last one."""
    step = -(-depth // _LABELS)
    layers = list(range(0, depth + 1, step))
    return theme.axis(
        mode,
        t("layer"),
        range=list(ends),
        tickvals=[*layers, output],
        ticktext=[*map(str, layers), t("output")],
        tickangle=0,
    )


def _kept(words: list[str], keep: np.ndarray[Any, Any]) -> list[str]:
    return [word for word, kept in zip(words, keep, strict=True) if kept]


def _place(passed: int, ported: Ported, t: Text) -> str:
    """A place of the stream in words."""
    if passed == 0:
        return t("embedding")
    if passed == 2 * ported.config.n_layers + 1:
        return t("output")
    layer = (passed + 1) // 2
    if passed - 1 not in ported.passed:
        return t("layer {n}", n=layer)
    return t("layer {n}, after attention", n=layer) if passed % 2 else t("layer {n}, after feed-forward", n=layer)


def _first(at: float, place: str, t: Text, mode: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A line at the first difference, and its name above the drawing, from its left end: on a phone it is as long."""
    line = {"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1, "layer": "below"}
    words = {
        "xref": "paper",
        "yref": "paper",
        "x": 0.0,
        "y": 1.0,
        "xshift": -_BACK,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "text": t("first difference: {place}", place=place),
        "font": {"color": theme.INK[mode], "size": theme.FONT_SIZE - 1},
    }
    return [{**line, "line": {"color": theme.MUTED[mode], "width": 2}}], [words]


def _story(ported: Ported, places: list[str], y: Array, t: Text) -> list[str]:
    config = ported.config
    sentences = [
        t(
            "A random {family} model with {layers} layers of width {d} in {format}.",
            family=FAMILIES[config.family].label,
            layers=config.n_layers,
            d=config.d_model,
            format=config.dtype,
        )
    ]
    sentences += [t("Mistake: {mistake}.", mistake=t(MISTAKES[mistake])) for mistake in config.mistakes]
    if not config.mistakes:
        sentences.append(t("The port makes no mistake."))
    if ported.first is None:
        return [*sentences, t("No bit differs from the original.")]
    first = int(np.flatnonzero(y)[0])
    sentences.append(
        t("The first difference: {place}, relative error {error}.", place=places[first], error=number(y[first]))
    )
    if first < len(y) - 1:
        sentences.append(
            t(
                "After the last layer the error is {stream}, that of the output {output}.",
                stream=number(y[-2]),
                output=number(y[-1]),
            )
        )
    return sentences
