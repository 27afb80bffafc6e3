"""Which outputs does one and the same token get in many batches?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

_BINS = 40
# The histogram reaches from the smallest to the largest of these shares of the outputs; few lie far out.
_SHARES = (0.005, 0.995)
# Outputs that differ by less are one value.
_ONE = 1e-6


def outputs_picture(
    outputs: npt.NDArray[np.float64], *, z: float, count: int, layer: float, t: Text, mode: str
) -> Picture:
    """One token's output in many batches as a histogram; LayerNorm's is one value.

    Parameters
    ----------
    outputs
        From `normviz.token_outputs`, one for each batch.
    z
        What the output would be with the population's own mean and variance.
    count
        Tokens in each batch.
    layer
        The token's output under LayerNorm, which no batch changes.
    t, mode
        The reader's language, and "light" or "dark".
    """
    low, high = np.quantile(outputs, _SHARES).tolist()
    room = 0.05 * (high - low) if high - low > _ONE else 0.5
    low, high = low - room, high + room
    left, right = min(low, layer, z), max(high, layer, z)
    margin = 0.05 * (right - left)
    inside = outputs[(outputs >= low) & (outputs <= high)]
    heights, ends = np.histogram(inside, _BINS, (low, high))
    below, above = int(np.count_nonzero(outputs < low)), int(np.count_nonzero(outputs > high))
    highest = float(heights.max())
    color = theme.NORM_COLORS[mode]["batch_norm"]
    name = t("BatchNorm, {n} batches", n=outputs.size)
    bars = {
        "type": "bar",
        "name": name,
        "x": (ends[:-1] + ends[1:]) / 2,
        "y": heights,
        "width": np.diff(ends),
        "marker": {"color": theme.fade(color, 0.75), "line": {"color": color, "width": (heights > 0).astype(int)}},
        "hovertemplate": "<b>BatchNorm</b> "
        + t("{value}: {n} batches", value="%{x:.3~g}", n="%{y}")
        + "<extra></extra>",
    }
    title = t("One token's output in {n} batches of N = {count} tokens", n=outputs.size, count=count)
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        margin={"l": 16, "r": 16, "t": 30, "b": 16},
        bargap=0,
        xaxis=theme.axis(
            mode, t("output of the token"), nticks=7, showgrid=False,
            range=[left - margin, right + margin],
        ),
        yaxis=theme.axis(mode, t("batches"), range=[0, 1.12 * highest], nticks=5),
        annotations=_beyond(below + above, t, mode) if below + above else [],
        showlegend=True,
    )  # fmt: skip
    values = {"mean": outputs.mean(), "std": outputs.std(), "low": outputs.min(), "high": outputs.max()}
    told = [
        t("{title}.", title=title),
        t(
            "BatchNorm: mean {mean}, standard deviation {std}, from {low} to {high}.",
            **{name: number(float(value)) for name, value in values.items()},
        ),
        t("LayerNorm: {value} in every batch.", value=number(layer)),
        t("With the population's mean and variance: {z}.", z=number(z)),
    ]
    return Picture(
        name="normviz-token-outputs",
        title=title,
        alt=paragraph(t, told),
        spec={"data": [bars, _upright(t("LayerNorm, every batch"), layer, highest, "layer_norm", mode),
                       _upright(t("true statistics"), z, highest, "", mode)], "layout": layout},
        table=_rows(outputs, (below, above), heights, ends, t),
    )  # fmt: skip


def _rows(
    outputs: npt.NDArray[np.float64],
    beyond: tuple[int, int],
    heights: npt.NDArray[np.intp],
    ends: npt.NDArray[np.float64],
    t: Text,
) -> pd.DataFrame:
    """A row for each bar, and one for what lies further out on each side."""
    below, above = beyond
    edges = [*([outputs.min()] if below else []), *ends.tolist(), *([outputs.max()] if above else [])]
    counts = [*([below] if below else []), *heights.tolist(), *([above] if above else [])]
    return pd.DataFrame({t("from"): edges[:-1], t("to"): edges[1:], t("batches"): counts})


def _upright(name: str, x: float, highest: float, norm: str, mode: str) -> dict[str, Any]:
    """A vertical line from 0 to above the bars, with a head; without a norm it is dashed, what theory says."""
    color = theme.NORM_COLORS[mode][norm] if norm else theme.INK[mode]
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers" if norm else "lines",
        "name": name,
        "x": [x, x],
        "y": [0.0, 1.06 * highest],
        "line": {"color": color, "width": 3 if norm else 2, "dash": theme.DASHES["measured" if norm else "theory"]},
        "hovertemplate": f"<b>{name}</b> %{{x:.4~g}}<extra></extra>",
    }
    head = {"size": [0, 12], "color": color, "opacity": 1, "line": {"width": 0}}
    return {**line, "marker": {**head, "symbol": theme.SYMBOLS[norm]}} if norm else line


def _beyond(beyond: int, t: Text, mode: str) -> list[dict[str, Any]]:
    return [
        {
            "xref": "paper",
            "yref": "paper",
            "x": 1,
            "y": 1,
            "xanchor": "right",
            "yanchor": "bottom",
            "text": t("further out: {n}", n=beyond),
            "font": {"color": theme.MUTED[mode]},
            "showarrow": False,
        }
    ]
