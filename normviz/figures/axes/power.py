"""What does PowerNorm do along a stream of batches, beside BatchNorm and LayerNorm?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import Array, log_axis, measured, plain_axis, progress, single, step_axis, unit
from normviz.figures.depth.lines import note
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.streams import PowerPath

# What is drawn over what: the norm whose colour it has, and the width of its line in px.
_PROBES = {
    "batch_norm": ("batch_norm", 1.5),
    "running": ("batch_norm", theme.LINE_WIDTH),
    "layer_norm": ("layer_norm", theme.LINE_WIDTH),
    "power_norm": ("power_norm", 3.0),
}

# The shortest axes: of ψ in standard deviations of the channel, and of outputs.
_LEAST_SQUARE, _LEAST_OUTPUT = 0.5, 0.5


def square_picture(path: PowerPath, channel: int, *, t: Text, mode: str) -> Picture:
    r"""The quadratic mean of one channel: $\psi_B$ of each batch, and the running $\psi$ that PowerNorm divides by.

    Parameters
    ----------
    path
        From `normviz.power_path`.
    channel
        From 0.
    t, mode
        The reader's language, and "light" or "dark".
    """
    color = theme.NORM_COLORS[mode]["power_norm"]
    steps = np.arange(path.steps + 1, dtype=np.float64)
    batch, running = path.batch[:, channel], path.running[:, channel]
    counted, hover = progress(path.stream, t)
    generated = path.stream.kind == "generation"
    names = (t("|x| of a token") if generated else t("ψ of a batch"), t("running ψ"))
    faint = (theme.fade(theme.mix(color, theme.INK[mode], 0.5), 0.7), "circle-open")
    title = t("PowerNorm divides by the running quadratic mean ψ (channel {c})", c=channel + 1)
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        xaxis=step_axis(mode, counted, max(path.steps, 1)),
        yaxis=plain_axis(
            mode, t("quadratic mean ψ"), [batch, running], least=_LEAST_SQUARE * float(path.stream.stds[channel])
        ),
        showlegend=True,
    )
    if generated:
        told = t("{name}: {value}, as training left it.", name=names[1], value=number(float(running[-1])))
    else:
        told = t(
            "The running ψ starts at {a} and is {b} after {n} batches.",
            a=number(float(running[0])),
            b=number(float(running[-1])),
            n=path.steps,
        )
    spread = (
        t(
            "{name}: from {low} to {high}.",
            name=names[0],
            low=number(float(batch.min())),
            high=number(float(batch.max())),
        )
        if batch.size
        else ""
    )
    return Picture(
        name="normviz-power-square",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), told, spread]),
        spec={
            "data": [
                *([single(names[0], steps[1:], batch, faint, hover, size=6)] if path.steps else []),
                measured(names[1], steps, running, (color, theme.SYMBOLS["power_norm"]), hover),
            ],
            "layout": layout,
        },
        table=pd.DataFrame({counted: steps.astype(int), names[0]: np.append(np.nan, batch), names[1]: running}),
    )


def gradient_picture(path: PowerPath, *, t: Text, mode: str) -> Picture:
    """How far PowerNorm's approximate gradient lies from the exact one, relative to its length, batch by batch.

    Parameters
    ----------
    path
        From `normviz.power_path`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    steps = np.arange(1, path.steps + 1, dtype=np.float64)
    there = np.isfinite(path.error) & (path.error > 0)
    x, y = steps[there], path.error[there]
    title = t("PowerNorm's approximate gradient: its error against the exact one")
    style = (theme.NORM_COLORS[mode]["power_norm"], theme.SYMBOLS["power_norm"])
    counted, hover = unit(path.stream, t)
    layout = theme.layout(
        mode,
        height=400,
        tallest=1.25,
        xaxis=step_axis(mode, counted, max(path.steps, 1)),
        yaxis=log_axis(mode, t("relative error of the gradient"), [y]),
        showlegend=False,
    )
    missing = ""
    if not y.size:
        generated = path.stream.kind == "generation"
        missing = t("Nothing is passed back at inference.") if generated else t("No batch has been fed yet.")
        note(layout, missing, mode)
        layout["yaxis"]["showticklabels"] = False
    told = [
        t("Batch {n}: {value}.", n=int(x[place]), value=number(float(y[place])))
        for place in (dict.fromkeys((0, y.size - 1)) if y.size else ())
    ]
    if y.size > 1:
        told.append(t("The median is {value}.", value=number(float(np.median(y)))))
    return Picture(
        name="normviz-power-gradient",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told, missing]),
        spec={"data": [measured("PowerNorm", x, y, style, hover)] if y.size else [], "layout": layout},
        table=pd.DataFrame({counted: steps.astype(int), t("relative error of the gradient"): path.error}),
    )


def probe_picture(path: PowerPath, *, t: Text, mode: str) -> Picture:
    """One fixed token's output in channel 1, in each batch of the stream, under four norms.

    Parameters
    ----------
    path
        From `normviz.power_path`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    steps = np.arange(1, path.steps + 1, dtype=np.float64)
    generated = path.stream.kind == "generation"
    counted, hover = unit(path.stream, t)
    outputs: dict[str, Array] = {norm: np.asarray(path.outputs[norm]) for norm in _PROBES}
    data = []
    names = {
        "batch_norm": t("BatchNorm, training"),
        "running": t("BatchNorm, inference"),
        "layer_norm": "LayerNorm",
        "power_norm": "PowerNorm",
    }
    drawn = [norm for norm in _PROBES if path.steps and np.isfinite(outputs[norm]).all()]
    for norm in drawn:
        colored, width = _PROBES[norm]
        color = theme.NORM_COLORS[mode][colored]
        symbol = theme.SYMBOLS[colored] + ("-open" if norm == "running" else "")
        line = measured(names[norm], steps, outputs[norm], (color, symbol), hover)
        line["line"]["width"] = width
        data.append(line)
    title = (
        t("One and the same token at each step of generation: its output (channel 1)")
        if generated
        else t("One and the same token in each batch: its output (channel 1)")
    )
    layout = theme.layout(
        mode,
        height=440,
        tallest=1.35,
        xaxis=step_axis(mode, counted, max(path.steps, 1)),
        yaxis=plain_axis(mode, t("output of the token"), [outputs[norm] for norm in drawn], least=_LEAST_OUTPUT),
        showlegend=True,
    )
    missing = ""
    if not path.steps:
        missing = t("No token has been made yet.") if generated else t("No batch has been fed yet.")
        note(layout, missing, mode)
        layout["yaxis"]["showticklabels"] = False
    told = [
        t("{name}: from {low} to {high}.", name=names[norm], low=number(float(outputs[norm].min())),
          high=number(float(outputs[norm].max())))
        for norm in drawn
    ]  # fmt: skip
    return Picture(
        name="normviz-power-probe",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told, missing]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame({counted: steps.astype(int), **{names[norm]: outputs[norm] for norm in _PROBES}}),
    )
