"""How far do the outputs of real tokens move when pads count in the statistics?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.sharing import thinned, token_label
from normviz.figures.words import number, paragraph
from normviz.text import Text


def padding_picture(
    shift_layer: npt.NDArray[np.float64], shift_batch: npt.NDArray[np.float64], *, t: Text, mode: str
) -> Picture:
    """How far each real token's output moves when pads count in the statistics, under LayerNorm and BatchNorm.

    Parameters
    ----------
    shift_layer, shift_batch
        From `normviz.padding_shift`, shape [B, T], NaN on pads.
    t, mode
        The reader's language, and "light" or "dark".
    """
    places = np.argwhere(~np.isnan(shift_batch))
    labels = [token_label(b, token, t) for b, token in places]
    x = np.arange(1, len(places) + 1)
    series = {"batch_norm": shift_batch[tuple(places.T)], "layer_norm": shift_layer[tuple(places.T)]}
    traces = [_stems(x, series[norm], norm, labels, mode) for norm in series]
    layout = theme.layout(
        mode,
        height=360,
        xaxis=theme.axis(
            mode, t("real token (s: sequence, t: token)"), tickvals=x, ticktext=thinned(labels), showgrid=False,
            range=[0.3, len(x) + 0.7],
        ),
        yaxis=theme.axis(mode, t("largest change"), rangemode="tozero", nticks=6),
        showlegend=True,
    )  # fmt: skip
    moves = [_move_sentence(norm, series[norm], labels, t) for norm in ("layer_norm", "batch_norm")]
    return Picture(
        name="normviz-padding",
        title=t("How far the entries of each real token's output move when pads are counted"),
        alt=paragraph(t, [t("One mark for each of {n} real tokens.", n=len(x)), *moves]),
        spec={"data": traces, "layout": layout},
        table=pd.DataFrame(
            {
                t("sequence"): places[:, 0] + 1,
                t("token"): places[:, 1] + 1,
                "LayerNorm": series["layer_norm"],
                "BatchNorm": series["batch_norm"],
            }
        ),
    )


def _stems(
    x: npt.NDArray[np.intp], shift: npt.NDArray[np.float64], norm: str, labels: list[str], mode: str
) -> dict[str, Any]:
    """One marker for each token, on a stem that reaches down to zero."""
    color = theme.NORM_COLORS[mode][norm]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": theme.NORM_NAMES[norm],
        "x": x,
        "y": shift,
        "text": labels,
        "marker": {"symbol": theme.SYMBOLS[norm], "size": theme.MARKER_SIZE + 2, "color": color},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": np.zeros(len(x)),
            "arrayminus": shift,
            "color": theme.fade(color, 0.6),
            "thickness": theme.LINE_WIDTH,
            "width": 0,
        },
        "hovertemplate": "<b>%{fullData.name}</b>, %{text}: %{y:.4~g}<extra></extra>",
    }


def _move_sentence(norm: str, shift: npt.NDArray[np.float64], labels: list[str], t: Text) -> str:
    name, moved = theme.NORM_NAMES[norm], np.count_nonzero(shift)
    if not moved:
        return t("{norm}: no token moves.", norm=name)
    place = int(np.argmax(shift))
    return t(
        "{norm}: {moved} of {n} tokens move, by up to {most} ({place}).",
        norm=name,
        moved=moved,
        n=len(shift),
        most=number(shift[place]),
        place=labels[place],
    )
