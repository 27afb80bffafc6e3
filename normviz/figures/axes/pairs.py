"""What becomes of the distance between two tokens: which differences does a norm throw away?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from normviz.figures import theme
from normviz.figures.axes.lines import Array
from normviz.figures.axes.sharing import token_label
from normviz.figures.depth.lines import note
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph, token_text
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.grid import Batch, Pairs

_ROOM = 1.06
_ZERO = 1e-9


def pairs_picture(
    pairs: Pairs, batch: Batch, chosen: tuple[float, float, float] | None, *, t: Text, mode: str
) -> Picture:
    """The L2 distance of each pair of tokens after LayerNorm and RMSNorm against that before.

    Parameters
    ----------
    pairs
        From `normviz.pairs`. A distance that is NaN, because a norm gives no value to one of the tokens, is not drawn.
    batch
        The tokens, for their words.
    chosen
        The distances before, after LayerNorm and after RMSNorm of the pair that a person built; None if there is
        none.
    t, mode
        The reader's language, and "light" or "dark".
    """
    names = [
        t("{a} and {b}", a=one, b=other)
        for one, other in zip(_called(pairs.first, batch, t), _called(pairs.second, batch, t), strict=True)
    ]
    after = {"rms_norm": pairs.rms_norm, "layer_norm": pairs.layer_norm}
    there = {norm: np.isfinite(y) for norm, y in after.items()}
    built = np.array(chosen or (), dtype=np.float64)
    end = _end([pairs.before, built[:1]])
    top = _end([*after.values(), built[1:]])
    data: list[dict[str, Any]] = [_unchanged(min(end, top), t, mode)]
    data += [
        _cloud(
            norm,
            pairs.before[keep],
            after[norm][keep],
            [name for name, kept in zip(names, keep, strict=True) if kept],
            t,
            mode,
        )
        for norm, keep in there.items()
        if keep.any()
    ]
    if chosen:
        data += [
            _built(norm, chosen[0], own, norm == "layer_norm", t, mode)
            for norm, own in (("rms_norm", chosen[2]), ("layer_norm", chosen[1]))
        ]
    zero = {"zeroline": True, "zerolinecolor": theme.MUTED[mode], "zerolinewidth": 1}
    layout = theme.layout(
        mode,
        height=440,
        tallest=1.3,
        xaxis=theme.axis(mode, t("distance before (L2)"), range=[-0.03 * end, end], nticks=7, **zero),
        yaxis=theme.axis(mode, t("distance after (L2)"), range=[-0.05 * top, top], nticks=6, **zero),
        showlegend=True,
    )
    missing = "" if pairs.before.size else t("One token alone has no pair.")
    if pairs.before.size and not any(keep.any() for keep in there.values()):
        missing = t("No norm gives these tokens a value.")
    if missing:
        data = []
        note(layout, missing, mode)
    title = t("How far two tokens lie apart, before a norm and after it (pairs: {n})", n=pairs.before.size)
    told = [missing] if missing else []
    if chosen:
        told.append(
            t(
                "Your two tokens: {before} before, {layer} after LayerNorm, {rms} after RMSNorm.",
                before=number(chosen[0]),
                layer=number(chosen[1]),
                rms=number(chosen[2]),
            )
        )
    columns = {
        t("distance before"): pairs.before,
        t("distance after {norm}", norm="LayerNorm"): pairs.layer_norm,
        t("distance after {norm}", norm="RMSNorm"): pairs.rms_norm,
    }
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        if known.size:
            ends = {"low": number(float(known.min())), "high": number(float(known.max()))}
            told.append(t("{name}: from {low} to {high}.", name=name, **ends))
    told += [
        t(
            "{norm} gives one of the tokens no value in {n} of the pairs, which are left out.",
            norm=theme.NORM_NAMES[norm],
            n=int(np.count_nonzero(~keep)),
        )
        for norm, keep in there.items()
        if not keep.all()
    ]
    return Picture(
        name="normviz-pairs",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told]),
        spec={"data": data, "layout": layout},
        table=pd.DataFrame(
            {
                t("token"): _spoken(pairs.first, batch, t),
                t("other token"): _spoken(pairs.second, batch, t),
                **columns,
            }
        ),
    )


def _end(values: list[Array]) -> float:
    """Where an axis from 0 ends; rounding errors do not count."""
    drawn = np.concatenate(values)
    largest = float(drawn.max(initial=0.0, where=np.isfinite(drawn)))
    return _ROOM * largest if largest > _ZERO else 1.0


def _called(places: Any, batch: Batch, t: Text) -> list[str]:
    """Tokens as plotly draws them."""
    if batch.words is None:
        return [token_label(b, token, t) for b, token in places.tolist()]
    return [f"{token_text(batch.words[b][token])} ({token_label(b, token, t)})" for b, token in places.tolist()]


def _spoken(places: Any, batch: Batch, t: Text) -> list[str]:
    """Tokens as a table names them."""
    if batch.words is None:
        return [token_label(b, token, t) for b, token in places.tolist()]
    return [f"{batch.words[b][token]} ({token_label(b, token, t)})" for b, token in places.tolist()]


def _unchanged(end: float, t: Text, mode: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": t("as far as before"),
        "x": [0.0, end],
        "y": [0.0, end],
        "line": {"color": theme.MUTED[mode], "width": 1.5, "dash": "dot"},
        "hoverinfo": "skip",
    }


def _cloud(norm: str, before: Array, after: Array, names: list[str], t: Text, mode: str) -> dict[str, Any]:
    color = theme.NORM_COLORS[mode][norm]
    many = before.size > 100
    return {
        "type": "scatter",
        "mode": "markers",
        "name": theme.NORM_NAMES[norm],
        "x": before,
        "y": after,
        "text": names,
        "marker": {"symbol": theme.SYMBOLS[norm], "size": 5 if many else 9, "color": color, "opacity": 0.55},
        "hovertemplate": f"<b>{theme.NORM_NAMES[norm]}</b> %{{text}}<br>%{{x:.4~g}} → %{{y:.4~g}}<extra></extra>",
    }


def _built(norm: str, before: float, after: float, named: bool, t: Text, mode: str) -> dict[str, Any]:
    """The pair that a person built, ringed."""
    name = t("your two tokens")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "showlegend": named,
        "x": [before],
        "y": [after],
        "marker": {
            "symbol": theme.SYMBOLS[norm], "size": 17, "color": theme.NORM_COLORS[mode][norm],
            "line": {"color": theme.INK[mode], "width": 3},
        },
        "cliponaxis": False,
        "hovertemplate": (
            f"<b>{theme.NORM_NAMES[norm]}</b> {name}<br>%{{x:.4~g}} → %{{y:.4~g}}<extra></extra>"
        ),
    }  # fmt: skip
