"""What does one line of a depth figure say: over its seeds, in words, and as rows of a table?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.depth.results import DepthSweep
from normviz.figures.words import number
from normviz.placements import PLACEMENTS
from normviz.text import N_, Text

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

WHERE: Mapping[str, str] = MappingProxyType({"last": N_("last layer"), "first": N_("first layer")})
# A change by less than this factor is called steady.
_STEADY = 1.25


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line of a figure with a log axis: the middle and the spread of the seeds at each position `x`.

    Attributes
    ----------
    placement, where
        Which line: a placement id, and "last", "first" or "" (every layer).
    x
        Depths or layer positions.
    center, low, high
        Geometric mean, smallest and largest value over the seeds that have a place on a log axis; NaN where none has.
    seeds, diverged, vanished
        How many seeds there are, how many are inf or nan, how many exactly zero.
    """

    placement: str
    where: str
    x: Array
    center: Array
    low: Array
    high: Array
    seeds: Counts
    diverged: Counts
    vanished: Counts

    @property
    def drawn(self) -> npt.NDArray[np.bool_]:
        """Where at least one seed has a place on a log axis."""
        return self.seeds > self.diverged + self.vanished

    def name(self, t: Text) -> str:
        """The placement, and the layer where it matters."""
        label = t(PLACEMENTS[self.placement].label)
        return t("{name} ({where})", name=label, where=t(WHERE[self.where])) if self.where else label


def summarize(placement: str, where: str, x: Array, columns: Sequence[Array]) -> Curve:
    """The line through one column of non-negative values, one for each seed, at each position."""
    logs = []
    for column in columns:
        usable = column[np.isfinite(column) & (column > 0)]
        logs.append(np.log(usable) if usable.size else np.full(1, np.nan))
    return Curve(
        placement=placement,
        where=where,
        x=x,
        center=np.exp([values.mean() for values in logs]),
        low=np.exp([values.min() for values in logs]),
        high=np.exp([values.max() for values in logs]),
        seeds=np.array([column.size for column in columns], dtype=np.int64),
        diverged=np.array([np.count_nonzero(~np.isfinite(column)) for column in columns], dtype=np.int64),
        vanished=np.array([np.count_nonzero(column == 0) for column in columns], dtype=np.int64),
    )


def story(curves: Sequence[Curve], t: Text, position: str) -> list[str]:
    """One sentence for each line: start, end, and whether a seed diverged; `position` words an `x` as {n}."""
    sentences = []
    for curve in curves:
        if curve.drawn.any():
            sentences.append(_course(curve, t, position))
        for counts, message in (
            (curve.diverged, N_("{name} diverged (inf or nan) at {places}.")),
            (curve.vanished, N_("{name} is exactly zero at {places}.")),
        ):
            if counts.any():
                hits = curve.x[counts > 0]
                places = f"{hits[0]:g}" if hits.size == 1 else f"{hits[0]:g}–{hits[-1]:g}"
                sentences.append(t(message, name=curve.name(t), places=t(position, n=places)))
    return sentences


def _course(curve: Curve, t: Text, position: str) -> str:
    x, y = curve.x[curve.drawn], curve.center[curve.drawn]
    words = {
        "name": curve.name(t),
        "start": t(position, n=f"{x[0]:g}"),
        "end": t(position, n=f"{x[-1]:g}"),
        "places": t(position, n=f"{x[0]:g}–{x[-1]:g}"),
        "a": number(y[0]),
        "b": number(y[-1]),
        "low": number(y.min()),
        "high": number(y.max()),
        "middle": number(float(np.exp(np.log(y).mean()))),
    }
    if y.size == 1:
        return t("{name}: {a} at {start}.", **words)
    if np.log(y.max()) - np.log(y.min()) <= np.log(_STEADY):
        return t("{name} stays near {middle} at {places}.", **words)
    change = np.log(y[-1]) - np.log(y[0])
    if abs(change) <= np.log(_STEADY):
        return t("{name} varies between {low} and {high} at {places}.", **words)
    if change < 0:
        return t("{name} falls from {a} at {start} to {b} at {end}.", **words)
    return t("{name} rises from {a} at {start} to {b} at {end}.", **words)


def arrived(result: DepthSweep, t: Text) -> str:
    """How much of a partial sweep is there; empty for a complete one."""
    total = len(result.config.keys())
    if len(result.points) == total:
        return ""
    return t("So far {done} of {total} models have been measured.", done=len(result.points), total=total)


def tabulate(curves: Sequence[Curve], position: str, t: Text) -> pd.DataFrame:
    """The lines as rows; `position` is the name of the column that holds `x`."""

    def column(name: str) -> list[Any]:
        return [value for curve in curves for value in getattr(curve, name)]

    columns = {t("placement"): [t(PLACEMENTS[curve.placement].label) for curve in curves for _ in curve.x]}
    if any(curve.where for curve in curves):
        columns[t("where")] = [t(WHERE[curve.where]) for curve in curves for _ in curve.x]
    columns |= {
        position: column("x"),
        t("geometric mean"): column("center"),
        t("smallest seed"): column("low"),
        t("largest seed"): column("high"),
        t("seeds"): column("seeds"),
        t("diverged seeds"): column("diverged"),
        t("zero seeds"): column("vanished"),
    }
    return pd.DataFrame(columns)
