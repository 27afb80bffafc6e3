"""What do LN and RMSNorm make of a x + b, compared with what they make of x?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.series import MOST_BARS
from normviz.figures.words import number, paragraph, spaced
from normviz.text import N_, Text

if TYPE_CHECKING:
    from normviz.invariances import Affine

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

# Of a longer vector so many entries are drawn, evenly spaced, with the smallest and the largest output.
_DRAWN = 1000
_PATTERNS = {"layer_norm": "", "rms_norm": "/"}

VERDICTS = {
    "same": N_("{name} stays the same"),
    "flipped": N_("{name} flips its sign before the bias"),
    "moved": N_("{name} moves by up to {moved}"),
    "undefined": N_("{name} is undefined"),
}
"""What became of a norm's output, by the verdict of `normviz.affine`."""


def affine_picture(affine: Affine, *, t: Text, mode: str) -> Picture:
    """The outputs for x and for a x + b: entry by entry, or one against the other for more than 64 entries.

    Parameters
    ----------
    affine
        From `normviz.affine`.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        One panel for each norm; one that is undefined before or after says so instead.
    """
    norms = {
        "layer_norm": ("LN", affine.layer_before, affine.layer_after),
        "rms_norm": ("RMSNorm", affine.rms_before, affine.rms_after),
    }
    verdicts = {
        "layer_norm": _verdict("LN(x)", affine.layer_verdict, affine.layer_moved, t),
        "rms_norm": _verdict("RMSNorm(x)", affine.rms_verdict, affine.rms_moved, t),
    }
    long = affine.x.size > MOST_BARS
    shown = _shown([values for _, *pair in norms.values() for values in pair if values is not None], affine.x.size)
    data: list[dict[str, Any]] = []
    panels: dict[str, Any] = {}
    notes = []
    for place, (norm, (_, before, after)) in enumerate(norms.items()):
        suffix = "2" if place else ""
        notes.append(_heading(verdicts[norm], place, mode))
        panels |= _panel(long, affine.x.size, place, t, mode)
        if before is None or after is None:
            continue
        traces = _against(norm, before, after, shown, t, mode) if long else _entrywise(norm, before, after, t, mode)
        data += [{**trace, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"} for trace in traces]
    data += _keys(long, t, mode)
    title = spaced(
        t(
            "x replaced by {change}: {layer}, {rms}",
            change=_change(affine),
            layer=verdicts["layer_norm"],
            rms=verdicts["rms_norm"],
        )
    )
    outputs = {
        f"{name}({inside})": values
        for name, before, after in norms.values()
        for inside, values in (("x", before), ("a x + b", after))
        if values is not None
    }
    layout = theme.layout(
        mode,
        height=500,
        margin={"l": 68, "r": 14, "t": 30, "b": 100},
        annotations=notes,
        showlegend=True,
        barmode="overlay",
        bargap=0.35,
        **panels,
    )
    return Picture(
        name="normviz-affine",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *(_ends(name, values, t) for name, values in outputs.items())]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("entry"): shown + 1,
                **{
                    name: values[shown]
                    for name, values in (("x", affine.x), ("a x + b", affine.moved), *outputs.items())
                },
            }
        ),
    )


def _shown(outputs: list[Array], d: int) -> Places:
    """The places of the entries that are drawn: all up to `_DRAWN`, else some, each output's ends among them."""
    some = np.linspace(0, d - 1, min(d, _DRAWN)).round().astype(np.int64)
    return np.unique([*some, *(place for values in outputs for place in (values.argmin(), values.argmax()))])


def _change(affine: Affine) -> str:
    """The replacement as it is written: 2x + 3, −x, x − 0.5."""
    scale, shift = number(affine.scale, 6), number(abs(affine.shift), 6)
    head = {"1": "x", "−1": "−x"}.get(scale, f"{scale} x")
    return head if affine.shift == 0 else f"{head} {'+' if affine.shift > 0 else '−'} {shift}"


def _verdict(name: str, verdict: str, moved: float | None, t: Text) -> str:
    return t(VERDICTS[verdict], name=name, moved="" if moved is None else number(moved))


def _ends(name: str, values: Array, t: Text) -> str:
    low, high = number(float(values.min())), number(float(values.max()))
    return t("{name}: {n} entries from {low} to {high}.", name=name, n=values.size, low=low, high=high)


def _entrywise(norm: str, before: Array, after: Array, t: Text, mode: str) -> list[dict[str, Any]]:
    """A bar up to each entry after, and a mark where it was before: a mark on the end of its bar has not moved."""
    entry = np.arange(1, before.size + 1)
    color = theme.NORM_COLORS[mode][norm]
    now, then = t("entry {i} after", i="%{x}"), t("entry {i} before", i="%{x}")
    bars = {
        "type": "bar",
        "x": entry,
        "y": after,
        "marker": _bar(norm, color),
        "showlegend": False,
        "hovertemplate": f"{now}: %{{y:.5~g}}<extra></extra>",
    }
    marks = {
        "type": "scatter",
        "mode": "markers",
        "x": entry,
        "y": before,
        "marker": _mark(mode, 13 if before.size <= 16 else 8),
        "showlegend": False,
        "cliponaxis": False,
        "hovertemplate": f"{then}: %{{y:.5~g}}<extra></extra>",
    }
    return [bars, marks]


def _against(norm: str, before: Array, after: Array, shown: Places, t: Text, mode: str) -> list[dict[str, Any]]:
    """Before against after, with the diagonal on which nothing moved."""
    color = theme.NORM_COLORS[mode][norm]
    ends = np.array([min(before.min(), after.min()), max(before.max(), after.max())])
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": ends,
        "line": {"color": theme.MUTED[mode], "width": 2, "dash": "dot"},
        "showlegend": False,
        "hoverinfo": "skip",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": before[shown],
        "y": after[shown],
        "customdata": shown + 1,
        "marker": {"symbol": theme.SYMBOLS[norm], "size": 6, "color": color, "opacity": 0.7},
        "showlegend": False,
        "hovertemplate": t("entry {i}", i="%{customdata}") + ": %{x:.5~g} → %{y:.5~g}<extra></extra>",
    }
    return [diagonal, dots]


def _bar(norm: str, color: str) -> dict[str, Any]:
    marker: dict[str, Any] = {"color": theme.fade(color, 0.4), "line": {"color": color, "width": 1.5}}
    if _PATTERNS[norm]:
        pattern = {"shape": _PATTERNS[norm], "fgcolor": color, "bgcolor": theme.fade(color, 0.25), "size": 7}
        marker |= {"color": color, "pattern": {**pattern, "solidity": 0.45}}
    return marker


def _mark(mode: str, size: int) -> dict[str, Any]:
    return {"symbol": "line-ew", "size": size, "color": theme.INK[mode], "line": {"color": theme.INK[mode], "width": 3}}


def _keys(long: bool, t: Text, mode: str) -> list[dict[str, Any]]:
    """What bars and marks are, in grey: it holds for both panels."""
    none = {"x": [None], "y": [None], "showlegend": True, "hoverinfo": "skip"}
    if long:
        line = {"color": theme.MUTED[mode], "width": 2, "dash": "dot"}
        return [{"type": "scatter", "mode": "lines", "name": t("nothing has moved"), "line": line, **none}]
    bar = {"color": theme.fade(theme.MUTED[mode], 0.5)}
    return [
        {"type": "scatter", "mode": "markers", "name": t("before (of x)"), "marker": _mark(mode, 12), **none},
        {"type": "bar", "name": t("after (of a x + b)"), "marker": bar, **none},
    ]


def _panel(long: bool, d: int, place: int, t: Text, mode: str) -> dict[str, Any]:
    suffix = "2" if place else ""
    domain = [[0.56, 0.96], [0.0, 0.4]][place]
    zero = {"zeroline": True, "zerolinecolor": theme.MUTED[mode], "zerolinewidth": 1.5}
    step = max(1, 2 ** ((d - 1).bit_length() - 3))
    if long:
        x = theme.axis(mode, t("before (of x)") if place else "", anchor=f"y{suffix}", nticks=8, **zero)
    else:
        x = theme.axis(
            mode, t("entry") if place else "", anchor=f"y{suffix}", dtick=step, tick0=1, tickangle=0, showgrid=False,
            range=[0.4, d + 0.6],
        )  # fmt: skip
    title = t("after (of a x + b)") if long else t("value")
    y = theme.axis(mode, title, anchor=f"x{suffix}", domain=domain, nticks=5, **zero)
    return {f"xaxis{suffix}": x, f"yaxis{suffix}": y}


def _heading(text: str, place: int, mode: str) -> dict[str, Any]:
    return {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": [0.97, 0.41][place],
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": -56,
        "text": f"<b>{text}</b>",
        "font": {"color": theme.NORM_COLORS[mode][["layer_norm", "rms_norm"][place]], "size": theme.FONT_SIZE - 1},
        "showarrow": False,
    }
