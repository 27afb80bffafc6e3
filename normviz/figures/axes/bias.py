"""What do pads that count do to the real tokens of a channel as they grow many?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import law, level, measured, plain_axis, theory_key
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import N_, Text

if TYPE_CHECKING:
    from normviz.grid import PaddingBias

_HELD: Mapping[str, str] = {
    "zero": N_("zeros"),
    "embedding": N_("the pad embedding"),
    "garbage": N_("garbage"),
}

# Below this standard deviation the real tokens of a channel are all the same.
_SPREADLESS = 1e-6
_SAME = 1e-9


def bias_picture(bias: PaddingBias, pads: str, *, then: float | None = None, t: Text, mode: str) -> Picture:
    r"""Mean and standard deviation of the real tokens' outputs in one channel against the share of pads.

    Theory: with the real tokens' $\mu$, $\sigma^2$ and pads at $c$, the counted statistics are $(1-p)\mu+pc$ and
    $(1-p)\sigma^2+p(1-p)(\mu-c)^2$, so that real tokens get $(\mu-\hat\mu)/\hat\sigma$ and $\sigma/\hat\sigma$.

    Parameters
    ----------
    bias
        From `normviz.padding_bias`.
    pads
        What the pads hold: "zero", "embedding" or "garbage".
    then
        The share of pads after a sentence's length has changed, which is marked beside the batch's own.
    t, mode
        The reader's language, and "light" or "dark".
    """
    color = theme.NORM_COLORS[mode]["batch_norm"]
    hover = t("at {share} pads: {value}", share="%{x:.0%}", value="%{y:.4~g}")
    lines = (
        (t("std of the real tokens"), bias.stretch, bias.stretch_law, theme.SYMBOLS["batch_norm"]),
        (t("mean of the real tokens"), bias.shift, bias.shift_law, theme.SYMBOLS["batch_norm"] + "-open"),
    )
    data = _masked(float(bias.stretch[0]), t, mode)
    data += [measured(name, bias.share, y, (color, symbol), hover) for name, y, _, symbol in lines]
    data += [law(t("{name}, theory", name=name), bias.share, y, color, mode, hover) for name, _, y, _ in lines]
    marks = _marks(float(bias.share[bias.current]), then, t)
    last = max(float(bias.share[-1]), *(share for share, _ in marks))
    title = t(
        "Pads that hold {pads} count: what BatchNorm makes of the real tokens (channel {c})",
        pads=t(_HELD[pads]),
        c=bias.channel + 1,
    )
    values = [np.array([0.0, 1.0]), *(part for _, y, theory_y, _ in lines for part in (y, theory_y))]
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        margin={"l": 16, "r": 16, "t": 14 + 20 * len(marks), "b": 16},
        xaxis=theme.axis(
            mode, t("share of pads p"), range=[-0.02, last + 0.03], tick0=0, dtick=0.2,
            tickformat=".0%",
        ),
        yaxis=plain_axis(mode, t("output, real tokens"), values),
        shapes=[_upright(share, "dot" if row == 0 else "solid", mode) for row, (share, _) in enumerate(marks)],
        annotations=[
            _label(words, share, last, len(marks) - 1 - row, mode) for row, (share, words) in enumerate(marks)
        ],
        showlegend=True,
    )  # fmt: skip
    return Picture(
        name="normviz-padding-bias",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_course(bias, t), _change(marks, t)]),
        spec={"data": [*data, theory_key(t, mode)], "layout": layout},
        table=pd.DataFrame(
            {
                t("share of pads"): bias.share,
                t("counted mean"): bias.mean,
                t("counted mean, theory"): bias.mean_law,
                t("counted variance"): bias.var,
                t("counted variance, theory"): bias.var_law,
                **{name: y for name, y, _, _ in lines},
                **{t("{name}, theory", name=name): y for name, _, y, _ in lines},
            }
        ),
    )


def _masked(std: float, t: Text, mode: str) -> list[dict[str, Any]]:
    """What the real tokens have when pads do not count; in a channel that never varies, they have no such spread."""
    if std < _SPREADLESS:
        return []
    name = t("masked BatchNorm: {std} and 0", std=number(std))
    return [level(name, [0.0, 1.0], std, mode), {**level(name, [0.0, 1.0], 0.0, mode), "showlegend": False}]


def _marks(now: float, then: float | None, t: Text) -> list[tuple[float, str]]:
    """The batch's share of pads, and the other one if a change gives another."""
    if then is None or abs(then - now) < _SAME:
        return [(now, t("this batch: p = {share}", share=_percent(now)))]
    return [
        (now, t("before: p = {share}", share=_percent(now))),
        (then, t("after: p = {share}", share=_percent(then))),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _upright(share: float, dash: str, mode: str) -> dict[str, Any]:
    line = {"color": theme.INK[mode], "width": 1.5, "dash": dash}
    return {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": share, "x1": share, "line": line}


def _label(words: str, share: float, last: float, row: int, mode: str) -> dict[str, Any]:
    """Above the drawing, each in its row, so that two never meet."""
    place = share / last if last else 0.0
    return {
        "x": share,
        "yref": "paper",
        "y": 1,
        "yshift": 2 + 20 * row,
        "xanchor": "left" if place < 0.3 else "right" if place > 0.7 else "center",
        "yanchor": "bottom",
        "text": words,
        "font": {"color": theme.INK[mode]},
        "showarrow": False,
    }


def _change(marks: list[tuple[float, str]], t: Text) -> str:
    if len(marks) == 1:
        return ""
    before, after = (_percent(share) for share, _ in marks)
    return t("The sentence's new length takes the share of pads from {before} to {after}.", before=before, after=after)


def _course(bias: PaddingBias, t: Text) -> list[str]:
    return [
        t(
            "At a share of {share}, their mean is {mean} (theory {mean_law}) and their standard deviation {std} "
            "(theory {std_law}).",
            share=number(float(bias.share[place]), 2),
            mean=number(float(bias.shift[place])),
            mean_law=number(float(bias.shift_law[place])),
            std=number(float(bias.stretch[place])),
            std_law=number(float(bias.stretch_law[place])),
        )
        for place in dict.fromkeys((bias.current, len(bias.share) - 1))
    ]
