"""What is left of a residual stream whose branches add less than its format can tell?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import law, measured, plain_axis, step_axis
from normviz.figures.numerics.words import held
from normviz.figures.picture import Picture
from normviz.figures.words import paragraph
from normviz.floats import FORMATS
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.arrays import Floats


def residual_picture(path: Floats, update: float, format: str, *, t: Text, mode: str) -> Picture:
    """The stream after each branch, as the format holds it and without rounding.

    Parameters
    ----------
    path
        From `normviz.floats.residual_path`, shape [steps + 1].
    update
        What each branch adds.
    format
        Key of `FORMATS`, that of the path.
    t, mode
        The reader's language, and "light" or "dark".
    """
    last = path.size - 1
    steps = np.arange(path.size, dtype=np.float64)
    exact = path[0] + update * steps
    color = theme.ACCENT[mode]
    hover = t("after {n} branches: {value}", n="%{x}", value="%{y:.6~g}")
    name = t("stream in {format}", format=FORMATS[format].label)
    layout = theme.layout(
        mode,
        height=380,
        tallest=1.25,
        xaxis=step_axis(mode, t("branches so far"), max(last, 1)),
        yaxis=plain_axis(mode, t("stream"), [path, exact]),
        showlegend=True,
    )
    title = t("A stream of {start} to which every branch adds {update}", start=held(path[0]), update=held(update))
    return Picture(
        name="normviz-residual-rounding",
        title=title,
        alt=paragraph(
            t,
            [
                t("{title}.", title=title),
                t(
                    "After {n} branches {format} holds {value}; without rounding it would be {exact}.",
                    n=last,
                    format=FORMATS[format].label,
                    value=held(float(path[-1])),
                    exact=held(float(exact[-1])),
                ),
            ],
        ),
        spec={
            "data": [
                measured(name, steps, path, (color, "circle"), hover),
                law(t("without rounding"), steps, exact, color, mode, hover, showlegend=True),
            ],
            "layout": layout,
        },
        table=pd.DataFrame(
            {t("branches so far"): np.arange(path.size), t("stream as held"): path, t("without rounding"): exact}
        ),
    )
