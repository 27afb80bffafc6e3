"""How far do the outputs of the other sentences move when one sentence gets longer or shorter?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.sharing import token_label
from normviz.figures.depth.lines import note
from normviz.figures.labels import text_size
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph, token_text
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.grid import Moved

Array = npt.NDArray[np.float64]

# What is drawn at each token, and where, in units of a token's width.
_STEMS = {"batch_norm": -0.22, "masked": 0.0, "layer_norm": 0.22}
_GAP = 0.8  # between two sentences, in tokens
_MOST_WORDS, _LONGEST = 20, 10  # words along the axis, and letters of each, that have room on a phone
_AXIS = 250.0  # px; how long the axis is there
_SMALL = theme.FONT_SIZE - 3
# More tokens than the first have smaller marks; more than the second have no room for stems and words either.
_MANY, _CROWD = 24, 64
# What is smaller is a rounding error.
_STILL = 1e-9


def moved_picture(moved: Moved, *, t: Text, mode: str) -> Picture:
    r"""How far the output of each token of the other sentences moves when one sentence gets longer or shorter.

    The amount is $\max_c|y'_{btc}-y_{btc}|$ over a token's channels.

    Parameters
    ----------
    moved
        From `normviz.moved`.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        Three stems for each token: BatchNorm over all cells, BatchNorm over real tokens, LayerNorm. Where there is no
        other sentence the drawing is empty and says so.
    """
    places = np.argwhere(~np.isnan(moved.shift["batch_norm"]))
    shifts = {norm: moved.shift[norm][tuple(places.T)] for norm in _STEMS}
    words = moved.before.words
    names = [token_label(b, token, t) for b, token in places.tolist()]
    spoken = [words[b][token] for b, token in places.tolist()] if words else names
    labels = [token_text(word) for word in spoken]
    short = spoken if words else [str(token + 1) for token in places[:, 1].tolist()]
    hovers, told = (
        [f"{one} ({name})" if words else name for one, name in zip(part, names, strict=True)]
        for part in (labels, spoken)
    )
    sentence = np.unique(places[:, 0], return_inverse=True)[1].ravel()
    x = np.arange(1, len(places) + 1) + _GAP * sentence
    highest = max((float(shift.max()) for shift in shifts.values() if shift.size), default=0.0)
    highest = highest if highest > _STILL else 1.0
    end = float(x[-1]) if x.size else 1.0
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        margin={"l": 16, "r": 16, "t": 30, "b": 16},
        xaxis=theme.axis(
            mode, "" if words else t("token"), tickvals=x, **_ticks(short), showgrid=False, range=[0.3, end + 0.7],
            tickfont={"size": _SMALL, "color": theme.MUTED[mode]},
        ),
        yaxis=theme.axis(
            mode, t("largest change of an output"), range=[-0.04 * highest, 1.1 * highest], nticks=6,
            zeroline=True, zerolinecolor=theme.MUTED[mode], zerolinewidth=1,
        ),
        annotations=_sentences(x, places[:, 0], t, mode),
        showlegend=True,
    )  # fmt: skip
    layout["legend"]["itemsizing"] = "constant"
    if not x.size:
        note(layout, t("There is no other sentence whose tokens could move."), mode)
        layout["yaxis"]["showticklabels"] = False
    title = _title(moved, t)
    return Picture(
        name="normviz-padding",
        title=title,
        alt=paragraph(
            t,
            [
                t("{title}.", title=title),
                t("One place for each of {n} tokens.", n=x.size),
                *(_told(_name(norm, t), shifts[norm], told, t) for norm in _STEMS if x.size),
            ],
        ),
        spec={"data": [_stems(norm, x, shifts[norm], hovers, t, mode) for norm in _STEMS], "layout": layout},
        table=pd.DataFrame(
            {
                t("sequence"): places[:, 0] + 1,
                t("token"): places[:, 1] + 1,
                **({t("word"): spoken} if words else {}),
                **{_name(norm, t): shifts[norm] for norm in _STEMS},
            }
        ),
    )


def _name(norm: str, t: Text) -> str:
    return t("masked BatchNorm") if norm == "masked" else theme.NORM_NAMES[norm]


def _title(moved: Moved, t: Text) -> str:
    change = moved.after.lengths[moved.row] - moved.before.lengths[moved.row]
    words = {"row": moved.row + 1, "change": abs(change)}
    if change > 0:
        return t("Sentence {row} gets longer (tokens: +{change}): how far the other sentences' tokens move", **words)
    if change < 0:
        return t("Sentence {row} gets shorter (tokens: −{change}): how far the other sentences' tokens move", **words)
    return t("Sentence {row} keeps its length: no token moves", **words)


def _stems(norm: str, x: Array, shift: Array, hovers: list[str], t: Text, mode: str) -> dict[str, Any]:
    """One marker for each token, on a stem that reaches down to zero."""
    masked = norm == "masked"
    color = theme.NORM_COLORS[mode]["batch_norm" if masked else norm]
    symbol = theme.SYMBOLS["batch_norm"] + "-open" if masked else theme.SYMBOLS[norm]
    many, crowd = x.size > _MANY, x.size > _CROWD
    stems = {
        "type": "data",
        "symmetric": False,
        "array": np.zeros(x.size),
        "arrayminus": shift,
        "color": theme.fade(color, 0.6),
        "thickness": 1 if many else theme.LINE_WIDTH,
        "width": 0,
    }
    marker = {"symbol": symbol, "size": 4 if crowd else 6 if many else theme.MARKER_SIZE, "color": color}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _name(norm, t),
        "x": x + _STEMS[norm],
        "y": shift,
        "text": hovers,
        "marker": {**marker, "line": {"color": color, "width": (1 if many else 2) * masked}},
        **({} if crowd else {"error_y": stems}),
        "cliponaxis": False,
        "hovertemplate": "<b>%{fullData.name}</b>, %{text}: %{y:.4~g}<extra></extra>",
    }


def _sentences(x: Array, rows: npt.NDArray[np.intp], t: Text, mode: str) -> list[dict[str, Any]]:
    """Above each sentence's tokens which one it is."""
    return [
        {
            "x": float(x[rows == row].mean()),
            "yref": "paper",
            "y": 1.01,
            "yanchor": "bottom",
            "text": t("s{b}", b=row + 1),
            "font": {"color": theme.MUTED[mode]},
            "showarrow": False,
        }
        for row in np.unique(rows).tolist()
    ]


def _ticks(words: list[str]) -> dict[str, Any]:
    """Some of the words, level if there is room for that on a phone."""
    if len(words) > _CROWD:
        return {"ticktext": [""] * len(words), "ticks": ""}
    step = -(-len(words) // _MOST_WORDS) or 1
    shown = words[::step]
    widest = max((float(text_size(word[:_LONGEST])[0]) for word in shown), default=0.0) * _SMALL / theme.FONT_SIZE
    level = {"tickangle": 0} if (widest + 1) * len(shown) <= _AXIS else {}
    text = [token_text(word, _LONGEST) if place % step == 0 else "" for place, word in enumerate(words)]
    return {"ticktext": text, **level}


def _told(name: str, shift: Array, told: list[str], t: Text) -> str:
    moving = int(np.count_nonzero(shift > _STILL))
    if not moving:
        return t("{norm}: no token moves.", norm=name)
    place = int(np.argmax(shift))
    return t(
        "{norm}: {moved} of {n} tokens move, by up to {most} ({place}).",
        norm=name,
        moved=moving,
        n=shift.size,
        most=number(shift[place]),
        place=told[place],
    )
