"""How do running statistics follow the batches, by each convention?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import Array, law, measured, plain_axis, progress, single, step_axis, theory_key
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import N_, Text

if TYPE_CHECKING:
    from normviz.streams import History

# Convention -> its name in the legend, in the order in which the lines are drawn.
_NAMES = {
    "decay": N_("α read as share of the old (Keras, Flax)"),
    "biased": N_("biased variance"),
    "pytorch": N_("running, PyTorch"),
}
_BAND = 2.0  # standard deviations to each side
_MANY = 60  # batches; more have smaller marks, and no marks on what stays in the background
_LEAST = 0.5  # the shortest axis, in standard deviations (variances) of the channel


def running_picture(history: History, quantity: str, channel: int, *, t: Text, mode: str) -> Picture:
    r"""The batches' mean or variance of one channel and the running one, by convention, after each batch.

    PyTorch's curve is in the foreground; the same number read as the share of the old is thin and faded below the rest,
    because it follows each batch. Dotted, what the population has; dashed for the mean, the exact expectation of
    PyTorch's running mean, with two standard deviations to each side where theory gives one. PyTorch's and the biased
    running mean are the same numbers and are drawn once; the variance of a mixture's population changes with each batch
    and is not drawn.

    Parameters
    ----------
    history
        From `normviz.history`.
    quantity
        "mean" or "var".
    channel
        From 0.
    t, mode
        The reader's language, and "light" or "dark".
    """
    mean = quantity == "mean"
    generated = history.stream.kind == "generation"
    color = theme.NORM_COLORS[mode]["batch_norm"]
    steps = np.arange(history.steps + 1, dtype=np.float64)
    counted, hover = progress(history.stream, t)
    paths = {name: _path(history, name, quantity, channel) for name in _NAMES}
    shown = [name for name in _NAMES if not (mean and name == "biased")]
    batch = (history.batch_mean if mean else history.batch_var)[:, channel]
    one = t("each token") if generated else t("each batch")
    lines = {name: _line(name, steps, paths[name], hover, t, mode) for name in shown}
    data: list[dict[str, Any]] = [lines.pop("decay")]
    if history.steps and (mean or not generated):  # a single token has no variance
        size = 7 if history.steps <= _MANY else 4
        data.append(single(one, steps[1:], batch, (theme.fade(color, 0.55), "circle"), hover, size=size))
    truth = _truth(history, quantity, channel)
    expected = history.expected_mean[:, channel] if mean else None
    if truth is not None:
        data.insert(1, _dotted(t("population"), truth, history.stream.kind == "mixture", mode))
    if mean:
        data += _band(history, steps, channel, color, t)
    data += lines.values()
    if expected is not None:
        data += [law(t("expected, PyTorch"), steps, expected, color, mode, hover), theory_key(t, mode)]
    values = [trace["y"] for trace in data if isinstance(trace["y"], np.ndarray)]
    words = {"c": channel + 1, "momentum": number(history.stream.momentum)}
    title = (
        t("The running mean after each batch (channel {c}, momentum {momentum})", **words)
        if mean
        else t("The running variance after each batch (channel {c}, momentum {momentum})", **words)
    )
    if generated:
        title = t("Generation: the running statistics of training stay (channel {c})", c=channel + 1)
    heading = t("mean of channel {c}", c=channel + 1) if mean else t("variance of channel {c}", c=channel + 1)
    layout = theme.layout(
        mode,
        height=440,
        tallest=1.35,
        xaxis=step_axis(mode, counted, max(history.steps, 1)),
        yaxis=plain_axis(
            mode, heading, values, least=_LEAST * float(history.stream.stds[channel]) ** (1 if mean else 2)
        ),
        annotations=_lag(history, t, mode) if mean else [],
        showlegend=True,
    )
    told = _course(history, {name: paths[name] for name in shown}, expected, channel, t)
    return Picture(
        name=f"normviz-running-{quantity}",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                counted: steps.astype(int),
                one: np.append(np.nan, batch),
                **{t(_NAMES[name]): paths[name] for name in shown},
                **({} if expected is None else {t("expected, PyTorch"): expected}),
                **({} if truth is None else {t("population"): truth[1][: steps.size]}),
            }
        ),
    )


def _path(history: History, convention: str, quantity: str, channel: int) -> Array:
    path = history.running[convention]
    values: Array = (path.mean if quantity == "mean" else path.var)[:, channel]
    return values


def _truth(history: History, quantity: str, channel: int) -> tuple[Array, Array] | None:
    """What the population behind each batch has, at the place where that batch stands, and before the first one."""
    places = np.arange(max(history.steps, 1) + 1, dtype=np.float64)
    if quantity == "mean":
        means = history.truth[:, channel]
        return places, np.concatenate([means[:1], means])[: places.size]
    if history.stream.kind == "mixture":
        return None
    return places, np.full(places.size, history.stream.stds[channel] ** 2)


def _dotted(name: str, truth: tuple[Array, Array], restless: bool, mode: str) -> dict[str, Any]:
    """What the population has; one that jumps with each batch would bury the curves and is faint."""
    ink = (
        {"color": theme.fade(theme.INK[mode], 0.4), "width": 1} if restless else {"color": theme.INK[mode], "width": 2}
    )
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": truth[0],
        "y": truth[1],
        "line": {**ink, "dash": "dot"},
        "hovertemplate": f"<b>{name}</b> %{{y:.4~g}}<extra></extra>",
    }


def _line(convention: str, steps: Array, path: Array, hover: str, t: Text, mode: str) -> dict[str, Any]:
    """One convention's curve: PyTorch's is broad, the others thin."""
    line = measured(t(_NAMES[convention]), steps, path, _style(convention, mode), hover)
    line["line"]["width"] = {"pytorch": 3.0, "decay": 1.0, "biased": 1.3}[convention]
    if convention == "decay":
        line["legendrank"] = 1000.5
        line["marker"]["size"] = 6
        if steps.size > _MANY:
            line["mode"] = "lines"
    return line


def _style(convention: str, mode: str) -> tuple[str, str]:
    """Colour and symbol: PyTorch is BatchNorm as everywhere."""
    return {
        "pytorch": (theme.NORM_COLORS[mode]["batch_norm"], theme.SYMBOLS["batch_norm"]),
        "decay": (theme.fade(theme.ACCENT[mode], 0.45), "triangle-up"),
        "biased": (theme.MUTED[mode], "diamond-open"),
    }[convention]


def _band(history: History, steps: Array, channel: int, color: str, t: Text) -> list[dict[str, Any]]:
    """Where most running means lie once the start is forgotten."""
    if history.spread is None:
        return []
    middle, half = history.expected_mean[:, channel], _BAND * history.spread[channel]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": t("expected ± 2 std"),
            "x": np.concatenate([steps, steps[::-1]]),
            "y": np.concatenate([middle + half, middle[::-1] - half]),
            "fill": "toself",
            "fillcolor": theme.fade(color, 0.16),
            "line": {"width": 0, "color": theme.CLEAR},
            "showlegend": False,
            "hoverinfo": "skip",
        }
    ]


def _lag(history: History, t: Text, mode: str) -> list[dict[str, Any]]:
    """In the corner that a line leaves free: how far the running mean stays behind a drift in the end."""
    if not history.lag:
        return []
    return [
        {
            "xref": "paper",
            "yref": "paper",
            "x": 0.98,
            "y": 0.03 if history.stream.drift > 0 else 0.97,
            "xanchor": "right",
            "yanchor": "bottom" if history.stream.drift > 0 else "top",
            "text": t(
                "lag in the end: {lag} ({n} batches)",
                lag=number(abs(history.lag)),
                n=number(history.lag / history.stream.drift),
            ),
            "font": {"color": theme.INK[mode]},
            "showarrow": False,
        }
    ]


def _course(history: History, paths: dict[str, Array], expected: Array | None, channel: int, t: Text) -> list[str]:
    if history.stream.kind == "generation":
        told = [
            t("{name}: {value}, as training left it.", name=t(_NAMES[name]), value=number(float(path[-1])))
            for name, path in paths.items()
        ]
    else:
        told = [
            t(
                "{name}: {a} before the first batch, {b} after {n} batches.",
                name=t(_NAMES[name]),
                a=number(float(path[0])),
                b=number(float(path[-1])),
                n=history.steps,
            )
            for name, path in paths.items()
        ]
    if expected is None:
        return told
    told.append(
        t(
            "The population's mean is {truth}, and theory expects a running mean of {expected}.",
            truth=number(float(history.truth[-1, channel])),
            expected=number(float(expected[-1])),
        )
    )
    if history.lag:
        told.append(t("In the end the running mean lags by {lag} behind the drift.", lag=number(abs(history.lag))))
    return told
