"""Which singular value of the Jacobian of a norm appears as eps grows?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.backward import NAMES
from normviz.figures.picture import Picture
from normviz.figures.spectrum import log_range
from normviz.figures.ticks import log_ticks, sparse
from normviz.figures.words import number, paragraph
from normviz.text import Text

Array = npt.NDArray[np.float64]

# In units of the largest singular value: below it lies the rounding of values that are 0; a value that stays below
# the second one for every eps is one of them.
_ROUNDING, _APPEARS = 1e-13, 1e-10
# A value that is so large at the smallest eps already, in units of its largest, does not appear with eps.
_THERE = 0.5
_MARKED = 8  # markers on a line


def eps_picture(eps_values: Array, spectra: Mapping[str, Array], current_eps: float, *, t: Text, mode: str) -> Picture:
    """Each norm's singular values against eps on log axes: the one that is 0 at eps 0 strong, the others as a band.

    Parameters
    ----------
    eps_values
        Rising, shape [k]; an eps of 0 has no place on the axis and is left out.
    spectra
        From `normviz.spectra`, by norm, at least one: falling along each row, shape [k, d].
    current_eps
        Is marked where it lies within the axis.
    t, mode
        The reader's language, and "light" or "dark".
    """
    keep = np.asarray(eps_values) > 0
    eps = np.asarray(eps_values, dtype=np.float64)[keep]
    parts = {norm: _parts(np.asarray(values)[keep]) for norm, values in spectra.items()}
    data: list[dict[str, Any]] = []
    for norm, (others, last) in parts.items():
        data += _band(norm, eps, others, last is None, t, mode)
        data += [] if last is None else _appearing(norm, eps, last, t, mode)
    drawn = [trace["y"] for trace in data]
    low, high = log_range(drawn)
    values, labels = log_ticks(low, high)
    ticks, words = log_ticks(float(eps[0]), float(eps[-1]))
    inside = eps[0] <= current_eps <= eps[-1]
    layout = theme.layout(
        mode,
        height=420,
        margin={"l": 68, "r": 14, "t": 34, "b": 104},
        xaxis=theme.axis(
            mode, "eps", type="log", tickvals=ticks, ticktext=sparse(words, np.log10(ticks)),
            range=np.log10([eps[0], eps[-1]]).tolist(),
        ),
        yaxis=theme.axis(
            mode, t("singular value"), type="log", tickvals=values, ticktext=labels,
            range=[float(np.log10(low)) - 0.1, float(np.log10(high)) + 0.1],
        ),
        shapes=[_now(current_eps, mode)] if inside else [],
        annotations=[_label(current_eps, float(eps[0]), float(eps[-1]), t, mode)],
        showlegend=True,
    )  # fmt: skip
    appears = any(last is not None for _, last in parts.values())
    title = (
        t("As eps grows from 0, one more singular value of the Jacobian appears: the strong line; the others are pale")
        if appears
        else t("The singular values of the Jacobian against eps")
    )
    return Picture(
        name="normviz-eps",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_grown(eps, parts, t)]),
        spec={"data": data, "layout": layout},
        table=_table(eps, {norm: np.asarray(values)[keep] for norm, values in spectra.items()}, t),
    )


def _parts(values: Array) -> tuple[Array, Array | None]:
    """The singular values that are there at every eps, [k, n], and the one that appears with it, [k]."""
    share = values / np.maximum(values[:, :1], np.finfo(np.float64).tiny)
    real = np.flatnonzero((share > _APPEARS).any(axis=0))
    if not real.size:
        return values[:, :0], None
    last = int(real[-1])
    if share[0, last] > _THERE * share[:, last].max():
        return values[:, : last + 1], None
    return values[:, :last], np.where(share[:, last] > _ROUNDING, values[:, last], 0.0)


def _band(norm: str, eps: Array, others: Array, named: bool, t: Text, mode: str) -> list[dict[str, Any]]:
    """From the smallest to the largest of the others, which are one line where no gain tells them apart."""
    if not others.shape[1]:
        return []
    color = theme.NORM_COLORS[mode][norm]
    said = t("{name}: the others", name=NAMES[norm])
    edge = {
        "type": "scatter",
        "mode": "lines",
        "name": NAMES[norm],
        "legendgroup": norm,
        "showlegend": named,
        "x": eps,
        "line": {"color": theme.fade(color, 0.6), "width": 5 if norm == "layer_norm" else 2},
        "hovertemplate": f"<b>{said}</b> eps %{{x:.3~g}}: %{{y:.5~g}}<extra></extra>",
    }
    top, bottom = others[:, 0], others[:, -1]
    if np.allclose(top, bottom, rtol=1e-6):
        return [{**edge, "y": top.copy()}]
    fill = {"fill": "tonexty", "fillcolor": theme.fade(color, 0.14), "showlegend": False}
    return [{**edge, "y": top.copy()}, {**edge, "y": bottom.copy(), **fill}]


def _appearing(norm: str, eps: Array, last: Array, t: Text, mode: str) -> list[dict[str, Any]]:
    there = last > 0
    color = theme.NORM_COLORS[mode][norm]
    said = t("{name}: the one that appears", name=NAMES[norm])
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": NAMES[norm],
            "legendgroup": norm,
            "x": eps[there],
            "y": last[there],
            "line": {"color": color, "width": 3.5},
            "marker": {"symbol": theme.SYMBOLS[norm], "size": 10, "color": color, "maxdisplayed": _MARKED},
            "hovertemplate": f"<b>{said}</b> eps %{{x:.3~g}}: %{{y:.5~g}}<extra></extra>",
        }
    ]


def _now(current_eps: float, mode: str) -> dict[str, Any]:
    line = {"color": theme.INK[mode], "width": 1.5, "dash": "dot"}
    return {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": current_eps, "x1": current_eps, "line": line}


def _label(current_eps: float, first: float, last: float, t: Text, mode: str) -> dict[str, Any]:
    """Above the plot: what the dotted line is, or on which side of the plot the eps lies."""
    share = (np.log10(current_eps) - np.log10(first)) / (np.log10(last) - np.log10(first)) if current_eps > 0 else -1.0
    text = t("eps = {eps}", eps=number(current_eps))
    text = f"← {text}" if share < 0 else f"{text} →" if share > 1 else text
    place = float(np.clip(share, 0.0, 1.0))
    return {
        "xref": "paper",
        "yref": "paper",
        "x": place,
        "y": 1.01,
        "xanchor": "left" if place < 0.2 else "right" if place > 0.8 else "center",
        "yanchor": "bottom",
        "text": text,
        "font": {"color": theme.INK[mode]},
        "showarrow": False,
    }


def _grown(eps: Array, parts: Mapping[str, tuple[Array, Array | None]], t: Text) -> list[str]:
    told = []
    for norm, (others, last) in parts.items():
        if others.shape[1]:
            told.append(
                t(
                    "{name}: from eps {first} to {last} the largest singular value goes from {high} to {low}.",
                    name=NAMES[norm],
                    first=number(float(eps[0])),
                    last=number(float(eps[-1])),
                    high=number(float(others[0, 0])),
                    low=number(float(others[-1, 0])),
                )
            )
        if last is not None:
            told.append(
                t(
                    "The one that appears goes from {first} to {last}, with its peak {peak} at eps {place}.",
                    first=number(float(last[0])),
                    last=number(float(last[-1])),
                    peak=number(float(last.max())),
                    place=number(float(eps[int(last.argmax())])),
                )
            )
    return told


def _table(eps: Array, spectra: Mapping[str, Array], t: Text) -> pd.DataFrame:
    rows = []
    for norm, values in spectra.items():
        k, d = values.shape
        rows.append(
            pd.DataFrame(
                {
                    t("norm"): NAMES[norm],
                    "eps": np.repeat(eps, d),
                    t("number"): np.tile(np.arange(1, d + 1), k),
                    t("singular value"): values.ravel(),
                }
            )
        )
    return pd.concat(rows, ignore_index=True)
