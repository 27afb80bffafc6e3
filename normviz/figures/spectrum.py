"""Which singular values has the Jacobian of a norm?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures import theme
from normviz.figures.backward import NAMES
from normviz.figures.picture import Picture
from normviz.figures.ticks import log_ticks
from normviz.figures.words import listed, number, paragraph, spaced
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.geometry import Spectrum

Array = npt.NDArray[np.float64]

_SPAN = 10.0  # an axis of singular values spans at least this factor
_ZERO = 0.55  # decades from the smallest value down to the row of zeros
_WRITTEN = 8  # up to so many entries, an unseen direction is written out


def spectrum_picture(spectra: Mapping[str, Spectrum], *, t: Text, mode: str) -> Picture:
    """The singular values of each norm's Jacobian, falling, on a log axis; those that are 0 stand in a row below.

    Parameters
    ----------
    spectra
        From `normviz.spectrum`, by norm, at least one.
    t, mode
        The reader's language, and "light" or "dark".
    """
    positive = {norm: one.values[: one.rank] for norm, one in spectra.items()}
    low, high = log_range(list(positive.values()))
    zeros = low / 10**_ZERO
    d = max(one.values.size for one in spectra.values())
    missing = any(one.rank < one.values.size for one in spectra.values())
    data: list[dict[str, Any]] = []
    for norm, one in spectra.items():
        data += _falling(norm, one, zeros, t, mode)
    values, labels = log_ticks(low, high)
    if missing:
        values, labels = [zeros, *values], ["0", *labels]
    ends = [float(np.log10(zeros if missing else low)) - 0.15, float(np.log10(high)) + 0.1]
    layout = theme.layout(
        mode,
        height=400,
        margin={"l": 68, "r": 14, "t": 16, "b": 104},
        xaxis=theme.axis(
            mode, t("singular value, from the largest"), dtick=max(1, 2 ** ((d - 1).bit_length() - 3)), tick0=1,
            range=[1 - max(0.5, 0.03 * d), d + max(0.5, 0.03 * d)],
        ),
        yaxis=theme.axis(mode, "", type="log", range=ends, tickvals=values, ticktext=labels),
        showlegend=True,
    )  # fmt: skip
    ranks = [
        t("{name} has rank {rank} of {d}", name=NAMES[norm], rank=one.rank, d=one.values.size)
        for norm, one in spectra.items()
    ]
    title = spaced(t("Singular values of the Jacobian: {ranks}", ranks=listed(t, ranks)))
    return Picture(
        name="normviz-spectrum",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *(_told(norm, one, t) for norm, one in spectra.items())]),
        spec={"data": data, "layout": layout},
        table=pd.concat(
            [
                pd.DataFrame(
                    {
                        t("norm"): NAMES[norm],
                        t("number"): np.arange(1, one.values.size + 1),
                        t("singular value"): one.values,
                        t("counts as"): np.where(np.arange(one.values.size) < one.rank, t("above 0"), t("zero")),
                    }
                )
                for norm, one in spectra.items()
            ],
            ignore_index=True,
        ),
    )


def _falling(norm: str, one: Spectrum, zeros: float, t: Text, mode: str) -> list[dict[str, Any]]:
    color, symbol, d = theme.NORM_COLORS[mode][norm], theme.SYMBOLS[norm], one.values.size
    place = np.arange(1, d + 1)
    # One norm's marks are open and larger, so that both are seen where they agree.
    open_, size = norm == "layer_norm", 8 if d <= 64 else 5
    marker = {
        "symbol": f"{symbol}-open" if open_ else symbol,
        "size": size + 5 if open_ else size,
        "color": color,
        "line": {"color": color, "width": 2 if open_ else 0},
    }
    lines = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": NAMES[norm],
        "legendgroup": norm,
        "x": place[: one.rank],
        "y": one.values[: one.rank],
        "line": {"color": color, "width": 1.5},
        "marker": marker,
        "hovertemplate": f"<b>{NAMES[norm]}</b> %{{x}}: %{{y:.5~g}}<extra></extra>",
    }
    zero = {
        **lines,
        "mode": "markers",
        "showlegend": one.rank == 0,
        "x": place[one.rank :],
        "y": np.full(d - one.rank, zeros),
        "hovertemplate": f"<b>{NAMES[norm]}</b> %{{x}}: 0<extra></extra>",
    }
    return [part for part, size in ((lines, one.rank), (zero, d - one.rank)) if size]


def _told(norm: str, one: Spectrum, t: Text) -> str:
    unseen = one.values.size - one.rank
    said = []
    if one.rank:
        said.append(
            t(
                "{name}: {rank} singular values above 0, from {high} to {low}.",
                name=NAMES[norm],
                rank=one.rank,
                high=number(float(one.values[0])),
                low=number(float(one.values[one.rank - 1])),
            )
        )
    if unseen == 1:
        said.append(t("{name} cannot see a change of x along one direction.", name=NAMES[norm]))
        if one.values.size <= _WRITTEN:
            (row,) = one.unseen
            # Either sign is the same direction.
            entries = ", ".join(number(value) for value in (row if row.sum() >= 0 else -row).tolist())
            said.append(t("It is ({entries}).", entries=entries))
    elif unseen:
        said.append(t("{name} cannot see changes of x along {n} directions.", name=NAMES[norm], n=unseen))
    return paragraph(t, said)


def log_range(lines: list[Array]) -> tuple[float, float]:
    """The ends of a log axis on which the positive values of all lines have their place."""
    values = np.concatenate([line[line > 0] for line in lines] or [np.zeros(0)])
    if not values.size:
        return 0.1, 10.0
    low, high = float(values.min()), float(values.max())
    more = max(1.0, np.sqrt(_SPAN / (high / low)))
    return low / more, high * more
