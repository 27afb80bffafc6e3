"""How far apart are BatchNorm's outputs in training and at inference, token by token and batch by batch?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import Array, law, log_axis, measured, plain_axis, single, step_axis, unit
from normviz.figures.depth.lines import note
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.streams import History

_MANY = 24  # tokens; more have smaller marks
_LEAST = 2.0  # the shortest axis of outputs
# The law of the mismatch is one for large batches.
_FEWEST = 8
# Training as BatchNorm everywhere; inference its own symbol, because it is what training is compared with.
_SYMBOLS = {True: theme.SYMBOLS["batch_norm"], False: "triangle-down"}


def tokens_picture(history: History, channel: int, training: bool, *, t: Text, mode: str) -> Picture:
    r"""The shown tokens' outputs in one channel against their inputs, in training, at inference, and under LayerNorm.

    BatchNorm is one straight line in either mode, $y_c=(x_c-\mu_c)/\sigma_c$; LayerNorm is none, because its statistics
    are each token's own.

    Parameters
    ----------
    history
        From `normviz.history`.
    channel
        From 0.
    training
        Whether training is drawn broad and inference thin, or the other way round.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        A token alone has no output in training, which the drawing says.
    """
    x, layer = history.tokens[:, channel], history.layer_norm[:, channel]
    train = None if history.train is None else history.train[:, channel]
    outputs = {True: train, False: history.eval[:, channel]}
    names = {True: t("BatchNorm, training"), False: t("BatchNorm, inference")}
    hover = t("token {n}: {before} → {after}", n="%{text}", before="%{x:.4~g}", after="%{y:.4~g}")
    order = np.argsort(x, kind="stable")
    style = (theme.NORM_COLORS[mode]["layer_norm"], theme.SYMBOLS["layer_norm"])
    data = [single("LayerNorm", x[order], layer[order], style, hover, size=7 if x.size > _MANY else 10)]
    data += [
        _mode_line(names[which], x[order], y[order], which, which == training, hover, mode)
        for which in (not training, training)
        if (y := outputs[which]) is not None
    ]
    data = [{**trace, "text": [str(place) for place in (order + 1).tolist()]} for trace in data]
    title = (
        t("Training: BatchNorm uses this batch's own statistics (channel {c})", c=channel + 1)
        if training
        else t("Inference: BatchNorm uses the running statistics (channel {c})", c=channel + 1)
    )
    generated = history.stream.kind == "generation"
    zero = {"zeroline": True, "zerolinecolor": theme.MUTED[mode], "zerolinewidth": 1}
    heading = (
        t("input of the tokens so far, channel {c}", c=channel + 1)
        if generated
        else t("input of the next batch, channel {c}", c=channel + 1)
    )
    shown = [layer, *(y for y in outputs.values() if y is not None)]
    missing = t("In training, BatchNorm needs two tokens.") if training and train is None else ""
    layout = theme.layout(
        mode,
        height=420,
        tallest=1.3,
        margin={"l": 16, "r": 16, "t": 54 if missing else 16, "b": 16},
        xaxis=plain_axis(mode, heading, [x], least=float(history.stream.stds[channel])),
        yaxis=plain_axis(mode, t("output, channel {c}", c=channel + 1), shown, least=_LEAST, **zero),
        showlegend=True,
    )
    if missing:
        note(layout, missing, mode)
        layout["annotations"][0] |= {"y": 1.02, "yanchor": "bottom"}
    told = [
        t("{name}: from {low} to {high}.", name=name, low=number(float(y.min())), high=number(float(y.max())))
        for name, y in ((names[True], train), (names[False], outputs[False]), ("LayerNorm", layer))
        if y is not None
    ]
    if train is not None:
        apart = float(np.abs(train - history.eval[:, channel]).max())
        told.append(t("Training and inference differ by up to {most}.", most=number(apart)))
    return Picture(
        name="normviz-train-eval",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told, missing]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("token"): np.arange(1, x.size + 1),
                t("input"): x,
                **{names[which]: np.full(x.size, np.nan) if y is None else y for which, y in outputs.items()},
                "LayerNorm": layer,
            }
        ),
    )


def mismatch_picture(history: History, *, t: Text, mode: str) -> Picture:
    r"""How far training and inference outputs of each batch lie apart (RMS), on a log axis; dashed, the law.

    The law is for a steady stream whose start has worn off: $\sqrt{3/(N(2-\alpha))}$. It is drawn for batches of at
    least 8 tokens and a momentum above 0, without which the start never wears off.

    Parameters
    ----------
    history
        From `normviz.history`.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        Where no batch has an output in training the drawing is empty and says so.
    """
    color = theme.NORM_COLORS[mode]["batch_norm"]
    steps = np.arange(1, history.steps + 1, dtype=np.float64)
    there = np.isfinite(history.mismatch) & (history.mismatch > 0)
    x, y = steps[there], history.mismatch[there]
    counted, hover = unit(history.stream, t)
    holds = history.stream.momentum > 0 and history.stream.tokens >= _FEWEST
    expected = np.full(2 if holds else 0, history.mismatch_law)
    data: list[dict[str, Any]] = []
    if y.size:
        ends = np.array([0.0, float(history.steps)])
        data = [measured("BatchNorm", x, y, (color, theme.SYMBOLS["batch_norm"]), hover, showlegend=True)]
        if holds:
            data.append(law(t("theory for steady data"), ends, expected, color, mode, "%{y:.4~g}", showlegend=True))
    generated = history.stream.kind == "generation"
    title = (
        t("How far the outputs of training and inference lie apart, token by token")
        if generated
        else t("How far the outputs of training and inference lie apart, batch by batch")
    )
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        xaxis=step_axis(mode, counted, max(history.steps, 1)),
        yaxis=log_axis(mode, t("RMS of training − inference"), [y, expected]),
        showlegend=True,
    )
    missing = ""
    if not y.size:
        missing = t("A token alone has no output in training.") if generated else t("No batch has been fed yet.")
        note(layout, missing, mode)
        layout["yaxis"]["showticklabels"] = False
    told = [
        t("Batch {n}: {value}.", n=int(x[place]), value=number(float(y[place])))
        for place in (dict.fromkeys((0, y.size - 1)) if y.size else ())
    ]
    if y.size and holds:
        told.append(t("Theory for steady data: {value}.", value=number(float(history.mismatch_law))))
    return Picture(
        name="normviz-mismatch",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told, missing]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                counted: steps.astype(int),
                t("RMS of training − inference"): history.mismatch,
                **({t("theory for steady data"): np.full(history.steps, history.mismatch_law)} if holds else {}),
            }
        ),
    )


def _mode_line(name: str, x: Array, y: Array, training: bool, chosen: bool, hover: str, mode: str) -> dict[str, Any]:
    """One mode of BatchNorm: the chosen one broad, the other thin, both at full contrast."""
    color = theme.NORM_COLORS[mode]["batch_norm"]
    shade = color if training else theme.mix(color, theme.INK[mode], 0.5)
    line = measured(name, x, y, (shade, _SYMBOLS[training]), hover)
    line["line"]["width"] = 4.0 if chosen else 2.0
    line["marker"].pop("maxdisplayed", None)  # each is a token
    line["marker"]["size"] = (7 if chosen else 6) if x.size > _MANY else (12 if chosen else 10)
    return line
