"""What does the Jacobian of a norm look like, and what becomes of a gradient on its way back through it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.series import Series, drawn, sentences
from normviz.figures.words import number, paragraph, spaced
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Pullback

Array = npt.NDArray[np.float64]

NAMES: Mapping[str, str] = {"layer_norm": "LN", "rms_norm": "RMSNorm"}
"""What the pictures call the norms."""

_EXACT = 64  # up to so many rows, the cells are float64
_WRITTEN = 6  # up to so many rows, the numbers stand in the cells


def jacobian_picture(matrix: Array, norm: str, *, t: Text, mode: str) -> Picture:
    r"""A Jacobian as a heatmap: row i is output entry i, column j input entry j; zero has the panel's colour.

    Parameters
    ----------
    matrix
        From `normviz.jacobian`, shape [d, d] with d up to 256.
    norm
        "layer_norm" or "rms_norm".
    t, mode
        The reader's language, and "light" or "dark".
    """
    d = len(matrix)
    entry = np.arange(1, d + 1)
    largest = float(np.abs(matrix).max())
    step = max(1, 2 ** ((d - 1).bit_length() - 3))
    ticks = {"dtick": step, "tick0": 1, "showgrid": False, "range": [0.5, d + 0.5], "constrain": "domain"}
    where = t("output {i}, input {j}", i="%{y}", j="%{x}")
    cells: dict[str, Any] = {
        "type": "heatmap",
        "x": entry,
        "y": entry,
        # Colours need no more digits, and 256 x 256 numbers take their time to the browser.
        "z": matrix if d <= _EXACT else matrix.astype(np.float32),
        "colorscale": [list(stop) for stop in theme.DIVERGING[mode]],
        "zmin": -(largest or 1.0),
        "zmax": largest or 1.0,
        "xgap": 2 if d <= 32 else 0,
        "ygap": 2 if d <= 32 else 0,
        "colorbar": {
            "orientation": "h", "x": 0.5, "xanchor": "center", "y": 1.02, "yanchor": "bottom", "len": 0.9,
            "thickness": 14, "outlinewidth": 0, "nticks": 5, "tickfont": {"color": theme.MUTED[mode]},
            "tickcolor": theme.MUTED[mode],
        },
        "hovertemplate": where + ": %{z:.4~g}<extra></extra>",
    }  # fmt: skip
    if d <= _WRITTEN:
        cells |= {"text": [[number(value) for value in row] for row in matrix.tolist()], "texttemplate": "%{text}"}
    name = NAMES[norm]
    title = spaced(t("The Jacobian of {name}: how each output entry answers each entry of x", name=name))
    rows, columns = np.unravel_index(np.arange(d * d), (d, d))
    below = {"text": t("entry of x"), "standoff": 34, "font": {"size": theme.FONT_SIZE}}
    return Picture(
        name=f"normviz-jacobian-{norm.replace('_', '-')}",
        title=title,
        alt=paragraph(
            t,
            [
                t("{title}.", title=title),
                t(
                    "{d} × {d} entries from {low} to {high}; on the diagonal from {first} to {last}.",
                    d=d,
                    low=number(float(matrix.min())),
                    high=number(float(matrix.max())),
                    first=number(float(np.diag(matrix).min())),
                    last=number(float(np.diag(matrix).max())),
                ),
            ],
        ),
        spec={
            "data": [cells],
            "layout": theme.layout(
                mode,
                tallest=1.16,
                height=520,
                margin={"l": 62, "r": 14, "t": 76, "b": 62, "autoexpand": False},
                # Margins that do not expand measure a title's distance from the axis, not from its numbers.
                xaxis=theme.axis(mode, "", scaleanchor="y", **ticks) | {"title": below},
                yaxis=theme.axis(mode, t("output entry"), **{**ticks, "range": [d + 0.5, 0.5]}),
                showlegend=False,
            ),
        },
        table=pd.DataFrame(
            {t("output entry"): rows + 1, t("entry of x"): columns + 1, t("derivative"): matrix.ravel()}
        ),
    )


def pullback_picture(pullbacks: Mapping[str, Pullback], *, t: Text, mode: str) -> Picture:
    r"""A gradient g at the output and its image $J^\top g$ at x, entry by entry; above 64 entries as distributions.

    Parameters
    ----------
    pullbacks
        From `normviz.pullback`, by norm, at least one, of the same gradient.
    t, mode
        The reader's language, and "light" or "dark".
    """
    gradient = next(iter(pullbacks.values())).gradient
    series = [Series(name=t("g, at the output"), values=gradient)]
    series += [
        Series(name=spaced(t("at x, through {name}", name=NAMES[norm])), values=back.image, norm=norm)
        for norm, back in pullbacks.items()
    ]
    spec, table = drawn(series, t, mode)
    lost = [
        t("{name} throws away {share} % of the squared length of g.", name=NAMES[norm], share=_percent(back.lost_share))
        for norm, back in pullbacks.items()
    ]
    lengths = [
        t("{name} has L2 norm {length}.", name=one.name, length=number(float(np.linalg.norm(one.values))))
        for one in series
    ]
    shares = [f"{NAMES[norm]} {_percent(back.lost_share)} %" for norm, back in pullbacks.items()]
    title = spaced(
        t("A gradient on its way back; thrown away of its squared length: {shares}", shares=", ".join(shares))
    )
    return Picture(
        name="normviz-pullback",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *lost, *lengths, *sentences(series, t)]),
        spec=spec,
        table=table,
    )


def _percent(share: float) -> str:
    return number(100 * share if share > 1e-12 else 0.0)
