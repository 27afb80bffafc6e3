"""How wrong is a variance in float32, computed in one pass and in two, where the mean is large?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import level, log_axis, measured
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text


def variance_picture(errors: Mapping[float, tuple[float, float]], *, t: Text, mode: str) -> Picture:
    """Relative error of the variance against mean over standard deviation, on log axes.

    Parameters
    ----------
    errors
        Mean over standard deviation, rising, to the errors in one pass and in two, from
        `normviz.floats.variance_errors`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    ratios = np.array(list(errors), dtype=np.float64)
    once, twice = (np.array([found[place] for found in errors.values()]) for place in (0, 1))
    names = (t("one pass: E[x²] − E[x]²"), t("two passes: x − E[x], squared"))
    styles = ((theme.NORM_COLORS[mode]["batch_norm"], "triangle-up"), (theme.NORM_COLORS[mode]["layer_norm"], "circle"))
    hover = t("at {ratio}: {value}", ratio="%{x:.3~g}", value="%{y:.2~e}")
    ends = [float(ratios[0]), float(ratios[-1])]
    whole = level(t("as large as the variance itself"), ends, 1.0, mode)
    data = [
        measured(name, ratios, y, style, hover) for name, y, style in zip(names, (once, twice), styles, strict=True)
    ]
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        xaxis=log_axis(mode, t("mean over standard deviation"), [ratios]),
        yaxis=log_axis(mode, t("relative error of the variance"), [once, twice, np.ones(1)]),
        showlegend=True,
    )
    title = t("Error of the variance in float32, in one pass and in two")
    told = [
        t(
            "With a mean of {ratio} standard deviations: {once} in one pass, {twice} in two.",
            ratio=number(ratio),
            once=number(errors[ratio][0]),
            twice=number(errors[ratio][1]),
        )
        for ratio in (float(ratios[0]), float(ratios[len(ratios) // 2]), float(ratios[-1]))
    ]
    return Picture(
        name="normviz-variance-passes",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told]),
        spec={"data": [*data, whole], "layout": layout},
        table=pd.DataFrame({t("mean over standard deviation"): ratios, names[0]: once, names[1]: twice}),
    )
