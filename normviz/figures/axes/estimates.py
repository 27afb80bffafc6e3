"""How much do BatchNorm's statistics, and with them one token's output, spread from batch to batch?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import Array, law, log_axis, measured, theory_key
from normviz.figures.picture import Picture
from normviz.figures.ticks import sparse
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.streams import Estimates

# Tokens count for fewer when they are alike; below this factor that is not worth an arrow.
_ALIKE = 1.3
# The law of the output is the first order in the noise of the statistics: it takes a batch that is worth so many
# independent tokens, and more of them the further out the token stands.
_FEWEST, _PER_SQUARE = 16, 8


class _Line(NamedTuple):
    name: str
    measured: Array
    law: Array
    color: str
    symbol: str


def estimates_picture(estimates: Estimates, *, t: Text, mode: str) -> Picture:
    r"""Standard deviation, over many batches, of the mean, the variance and one token's output against N = B*T.

    Both axes are logarithmic: independent tokens give a slope of -1/2. Where tokens of a sequence are alike, a dotted
    line shows what independent ones would give, and an arrow how many of those the largest batch is worth. The law of
    the output is one for large batches and is drawn for those alone.

    Parameters
    ----------
    estimates
        From `normviz.estimates`.
    t, mode
        The reader's language, and "light" or "dark".
    """
    lines = _lines(estimates, t, mode)
    counts = estimates.counts.astype(np.float64)
    hover = t("of N = {n} tokens: {value}", n="%{x}", value="%{y:.4~g}")
    mean, variance, output = (
        measured(line.name, *_positive(counts, line.measured), (line.color, line.symbol), hover) for line in lines
    )
    # The lines of the variance and the output nearly agree: what is broad and open shows around the other.
    variance["marker"] |= {"size": 13, "line": {"color": lines[1].color, "width": 2}}
    variance["line"] |= {"width": 5, "color": theme.fade(lines[1].color, 0.45)}
    alike = bool(counts[-1] / estimates.effective[-1] > _ALIKE)
    ticks = _ticks(estimates, alike)
    # Below the markers.
    data: list[dict[str, Any]] = [_arrow(estimates, mode), _independent(ticks, hover, t, mode)] if alike else []
    data += [{**variance, "legendrank": 1000.5}, mean, output]
    data += _laws(counts, lines, hover, t, mode)
    ends = np.log10(ticks[[0, -1]])
    edge = ends + np.array([-0.06, 0.06]) * (np.ptp(ends) or 5.0)
    drawn = [part[np.isfinite(part)] for line in lines for part in (line.measured, line.law)]
    layout = theme.layout(
        mode,
        height=440,
        tallest=1.3,
        margin={"l": 16, "r": 16, "t": 34 if alike else 16, "b": 16},
        xaxis=theme.axis(
            mode, t("tokens in the batch, N = B·T"), type="log", tickvals=ticks,
            ticktext=sparse([number(tick) for tick in ticks.tolist()], np.log(ticks)), tickangle=0,
            range=edge.tolist(),
        ),
        yaxis=log_axis(mode, t("spread over batches (std)"), [*drawn, 1 / np.sqrt(ticks)] if alike else drawn),
        annotations=[_worth(estimates, t, mode)] if alike else [],
        showlegend=True,
    )  # fmt: skip
    title = t(
        "How much statistics and one token's output differ from batch to batch ({n} batches)", n=estimates.repeats
    )
    return Picture(
        name="normviz-estimates",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_course(estimates, lines, alike, t)]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("sequences"): estimates.batches,
                t("tokens"): estimates.counts,
                **{line.name: line.measured for line in lines},
                **{t("{name}, theory", name=line.name): line.law for line in lines[:-1]},
                t("{name}, theory (large N)", name=lines[-1].name): lines[-1].law,
                t("mean of independent tokens, theory"): estimates.independent_law,
                t("effective tokens"): estimates.effective,
            }
        ),
    )


def _lines(estimates: Estimates, t: Text, mode: str) -> list[_Line]:
    """What is drawn; a law is NaN where it does not hold."""
    large = estimates.effective >= _FEWEST + _PER_SQUARE * estimates.z**2
    return [
        _Line(t("mean"), estimates.mean_sd, estimates.mean_law, theme.ACCENT[mode], "triangle-up"),
        _Line(t("variance"), estimates.var_sd, estimates.var_law, theme.MUTED[mode], "circle-open"),
        _Line(
            t("output of one token (z = {z})", z=number(estimates.z)),
            estimates.output_sd, np.where(large, estimates.output_law, np.nan), theme.NORM_COLORS[mode]["batch_norm"],
            theme.SYMBOLS["batch_norm"],
        ),
    ]  # fmt: skip


def _laws(counts: Array, lines: list[_Line], hover: str, t: Text, mode: str) -> list[dict[str, Any]]:
    """The dashed lines and their entries of the legend; the output's, the last, has its own."""
    exact = [law(t("{name}, theory", name=line.name), *_positive(counts, line.law), line.color, mode, hover)
             for line in lines[:-1]]  # fmt: skip
    output = lines[-1]
    x, y = _positive(counts, output.law)
    if not x.size:
        return [*exact, theory_key(t, mode)]
    name = t("{name}, theory (large N)", name=output.name)
    key = {**theory_key(t, mode), "name": t("theory (large N)"), "legendrank": 1002}
    key["line"] = {**key["line"], "color": theme.mix(output.color, theme.INK[mode], 0.55)}
    return [*exact, law(name, x, y, output.color, mode, hover), theory_key(t, mode), key]


def _positive(x: Array, y: Array) -> tuple[Array, Array]:
    """What has a place on a log axis."""
    keep = np.isfinite(y) & (y > 0)
    return x[keep], y[keep]


def _ticks(estimates: Estimates, alike: bool) -> Array:
    """The numbers of tokens, and ever halves of the smallest down to what the largest batch is worth."""
    counts = estimates.counts.astype(np.float64)
    if not alike:
        return counts
    more = int(np.ceil(np.log2(max(counts[0] / max(float(estimates.effective[-1]), 1.0), 1.0))))
    ticks: Array = np.concatenate([counts[0] / 2.0 ** np.arange(more, 0, -1), counts])
    return ticks


def _independent(counts: Array, hover: str, t: Text, mode: str) -> dict[str, Any]:
    name = t("mean of independent tokens")
    dotted = law(name, counts, 1 / np.sqrt(counts), theme.ACCENT[mode], mode, hover, showlegend=True, legendrank=1000.8)
    return {**dotted, "line": {"color": theme.fade(theme.ACCENT[mode], 0.8), "width": 2, "dash": "dot"}}


def _arrow(estimates: Estimates, mode: str) -> dict[str, Any]:
    """From the largest batch to as many independent tokens as it is worth."""
    color, level = theme.ACCENT[mode], float(estimates.mean_law[-1])
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "showlegend": False,
        "x": [float(estimates.counts[-1]), float(estimates.effective[-1])],
        "y": [level, level],
        "line": {"color": color, "width": 2},
        # An arrow whose tip, not its middle, lies on the line of independent tokens.
        "marker": {
            "symbol": "arrow",
            "angle": -90,
            "size": [0, 14],
            "color": color,
            "opacity": 1,
            "line": {"width": 0},
        },
        "hoverinfo": "skip",
    }


def _worth(estimates: Estimates, t: Text, mode: str) -> dict[str, Any]:
    """Above the drawing, where no marker is."""
    count, worth = int(estimates.counts[-1]), number(float(estimates.effective[-1]))
    return {
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1,
        "xanchor": "right",
        "yanchor": "bottom",
        "text": t("← {count} tokens are worth {worth}", count=count, worth=worth),
        "font": {"color": theme.ACCENT[mode]},
        "showarrow": False,
    }


def _course(estimates: Estimates, lines: list[_Line], alike: bool, t: Text) -> list[str]:
    first, last = int(estimates.counts[0]), int(estimates.counts[-1])
    told = []
    for line in lines:
        words = {"name": line.name, "first": first, "last": last}
        words |= {"a": number(float(line.measured[0])), "b": number(float(line.measured[-1]))}
        if np.isfinite(line.law[-1]):
            law_there = number(float(line.law[-1]))
            told.append(
                t(
                    "{name}: standard deviation {a} at N = {first}, {b} at N = {last} (theory {law}).",
                    law=law_there,
                    **words,
                )
            )
        else:
            told.append(t("{name}: standard deviation {a} at N = {first}, {b} at N = {last}.", **words))
    if alike:
        told.append(
            t(
                "Tokens of one sequence are alike: {count} of them are worth {worth} independent ones.",
                count=last,
                worth=number(float(estimates.effective[-1])),
            )
        )
    return told
