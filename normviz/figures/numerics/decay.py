"""Where does weight decay take the scale of a norm, by what is stored?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import level, measured, plain_axis, step_axis
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import N_, Text

if TYPE_CHECKING:
    from normviz.arrays import Floats

_NAMES: Mapping[str, str] = {"w": N_("stored: the scale w"), "1+w": N_("stored: w, used: 1 + w")}
_MOST = 400


def decay_picture(paths: Mapping[str, Floats], *, step: int | None = None, t: Text, mode: str) -> Picture:
    """The scale under weight decay alone, step by step, for each way to store it.

    Parameters
    ----------
    paths
        "w" or "1+w" -> path of `normviz.floats.weight_decay`, all equally long.
    step
        The step that a person looks at, marked by a line; None for none.
    t, mode
        The reader's language, and "light" or "dark".
    """
    last = len(next(iter(paths.values()))) - 1
    shown = np.unique(np.linspace(0, last, min(_MOST, last + 1)).round().astype(int))
    style = {"w": (theme.NORM_COLORS[mode]["rms_norm"], "diamond"), "1+w": (theme.ACCENT[mode], "circle")}
    hover = t("after {n} steps: {value}", n="%{x}", value="%{y:.4~g}")
    x = shown.astype(np.float64)
    data = [measured(t(_NAMES[form]), x, path[shown], style[form], hover) for form, path in paths.items()]
    for goal in (0.0, 1.0):
        data.append(
            {**level(t("scale {goal}", goal=int(goal)), [0.0, float(max(last, 1))], goal, mode), "showlegend": False}
        )
    line = {"color": theme.INK[mode], "width": 1.5, "dash": "dot"}
    layout = theme.layout(
        mode,
        height=380,
        tallest=1.25,
        xaxis=step_axis(mode, t("steps of weight decay"), max(last, 1)),
        yaxis=plain_axis(mode, t("scale of the channel"), [np.array([0.0, 1.0]), *paths.values()]),
        shapes=[]
        if step is None
        else [{"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": step, "x1": step, "line": line}],
        showlegend=True,
    )
    title = t("Weight decay pulls the scale to 0, or to 1 where the scale less one is stored")
    told = [
        t(
            "{name}: from {start} to {end} in {n} steps.",
            name=t(_NAMES[form]),
            start=number(float(path[0])),
            end=number(float(path[-1])),
            n=last,
        )
        for form, path in paths.items()
    ]
    return Picture(
        name="normviz-weight-decay",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {t("steps of weight decay"): np.arange(last + 1), **{t(_NAMES[form]): path for form, path in paths.items()}}
        ),
    )
