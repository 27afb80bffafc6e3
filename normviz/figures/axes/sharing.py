"""How is it said which cells of a [B, T, d] grid share a statistic, and what that statistic is?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.words import number, token_text
from normviz.text import N_, Text

if TYPE_CHECKING:
    from normviz.grid import GridTrace

Cell = tuple[int, int, int]
Words = tuple[tuple[str, ...], ...]

# An axis of tokens has room for about so many labels.
_MOST_LABELS = 24
# Letters of a word beside a table: on a phone the cells need the room.
_SHORT = 9

_SHARED_BY = {
    "layer_norm": N_(
        "LayerNorm: the {d} channels of one token share a mean and a deviation; there are {n} such pairs."
    ),
    "rms_norm": N_("RMSNorm: the {d} channels of one token share a root mean square; there are {n} of them."),
    "batch_norm": N_(
        "BatchNorm: one channel of all tokens of all sequences shares a mean and a deviation; there are {n} such pairs."
    ),
    "instance_norm": N_(
        "InstanceNorm: one channel of all tokens of one sequence shares a mean and a deviation; "
        "there are {n} such pairs."
    ),
    "group_norm": N_(
        "GroupNorm: {size} neighbouring channels of all tokens of one sequence share a mean and a deviation; "
        "there are {n} such pairs."
    ),
    "everything": N_("Everything: all {cells} cells share one mean and one deviation; there is {n} such pair."),
}

_SHOWN = {
    "before": (N_("colour: the input x"), N_("Every cell shows its input x.")),
    "after": (N_("colour: the normalized output"), N_("Every cell shows its normalized output.")),
}


def shown_values(trace: GridTrace, values: str) -> npt.NDArray[np.float64]:
    """What the cells show, [B, T, d]: the input for "before", the output for "after"."""
    return {"before": trace.x, "after": trace.output}[values]


def title_of(trace: GridTrace, values: str, t: Text) -> str:
    """The norm, the grid's sizes, the number of statistics, and what the cells show."""
    batch, tokens, d = trace.x.shape
    return t(
        "{norm} on [B, T, d] = [{batch}, {tokens}, {d}] · statistics: {n} · {shown}",
        shown=t(_SHOWN[values][0]),
        norm=t(theme.NORM_NAMES[trace.axis]),
        batch=batch,
        tokens=tokens,
        d=d,
        n=trace.n_statistics,
    )


def sharing_sentence(trace: GridTrace, t: Text) -> str:
    """Which cells share a statistic under this norm, and how many statistics there are."""
    d = trace.x.shape[-1]
    cells = int(trace.count.sum())
    return t(_SHARED_BY[trace.axis], d=d, size=d // trace.groups, cells=cells, n=trace.n_statistics)


def shown_sentence(values: str, t: Text) -> str:
    """What the cells show."""
    return t(_SHOWN[values][1])


def members_of(trace: GridTrace, cell: Cell) -> npt.NDArray[np.bool_]:
    """The cells that share the statistic of one cell, bool [B, T, d]; none for a pad that is left out."""
    group = trace.group[cell]
    members: npt.NDArray[np.bool_] = (trace.group == group) & (group >= 0)
    return members


def cell_sentence(trace: GridTrace, cell: Cell, t: Text) -> str:
    """The statistic of one cell, and what becomes of the cell."""
    place = t("sequence {b}, token {token}, channel {c}", b=cell[0] + 1, token=cell[1] + 1, c=cell[2] + 1)
    group = trace.group[cell]
    if group < 0:
        return t("Selected: {place}, a pad, which belongs to no statistic.", place=place)
    words = {
        "place": place,
        "n": int(trace.count[group]),
        "value": number(trace.x[cell]),
        "normalized": number(trace.normalized[cell]),
    }
    if trace.mean is None or trace.var is None:
        return t(
            "Selected: {place}; its {n} cells have root mean square {rms}; {value} becomes {normalized}.",
            rms=number(trace.rms[group]),
            **words,
        )
    return t(
        "Selected: {place}; its {n} cells have mean {mean} and standard deviation {std}; {value} becomes {normalized}.",
        mean=number(trace.mean[group]),
        std=number(np.sqrt(trace.var[group])),
        **words,
    )


def table_of_cells(trace: GridTrace, t: Text) -> pd.DataFrame:
    """Every cell as a row: where it is, which statistic it belongs to (from 1; 0 for a pad), before and after."""
    b, token, c = np.indices(trace.x.shape).reshape(3, -1) + 1
    return pd.DataFrame(
        {
            t("sequence"): b,
            t("token"): token,
            t("channel"): c,
            t("statistic"): trace.group.ravel() + 1,
            t("x"): trace.x.ravel(),
            t("normalized"): trace.normalized.ravel(),
            t("output"): trace.output.ravel(),
        }
    )


def token_label(sequence: int, token: int, t: Text) -> str:
    """A token's short name; both places count from 0, the name from 1."""
    return t("s{b} t{token}", b=sequence + 1, token=token + 1)


def word_of(words: Words | None, sequence: int, token: int, t: Text, *, most: int = 14) -> str:
    """The word of a token as plotly draws it, "(pad)" beyond the last one; empty where tokens are no words."""
    if words is None:
        return ""
    return token_text(words[sequence][token], most) if token < len(words[sequence]) else t("(pad)")


def row_labels(trace: GridTrace, words: Words | None, pads: npt.NDArray[np.bool_], t: Text) -> list[str]:
    """A name for each token in reading order: its word, and its place where that alone does not say which it is."""
    places = [token_label(b, token, t) for b, token in np.ndindex(trace.x.shape[:2])]
    if words is None:
        return [t("{row} (pad)", row=place) if pad else place for place, pad in zip(places, pads, strict=True)]
    texts = [word_of(words, b, token, t, most=_SHORT) for b, token in np.ndindex(trace.x.shape[:2])]
    often = Counter(texts)
    return [
        text if pad or often[text] == 1 else t("{word} ({row})", word=text, row=place)
        for text, place, pad in zip(texts, places, pads, strict=True)
    ]


def thinned(labels: list[str]) -> list[str]:
    """Every label, or evenly spaced ones where there is no room for all."""
    step = -(-len(labels) // _MOST_LABELS)
    return [label if place % step == 0 else "" for place, label in enumerate(labels)]
