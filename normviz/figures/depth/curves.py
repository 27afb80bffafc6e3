"""What does one line of a depth figure say over its seeds, and as rows of a table?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from normviz.figures.depth.places import WHERE, Array
from normviz.placements import PLACEMENTS
from normviz.text import Text

Counts = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line: the middle and the spread of the seeds at each position `x`.

    Attributes
    ----------
    placement, where
        Which line: a placement id, and a key of `places.WHERE` or "" (every layer).
    log
        Whether it is drawn on a log axis; `center` is then the geometric mean, else the mean.
    x
        Depths or layer positions.
    center, low, high
        Middle, smallest and largest value over the seeds that have a place on the axis; NaN where none has.
    seeds, diverged, vanished
        How many seeds there are, how many are inf or nan, how many exactly zero on a log axis.
    """

    placement: str
    where: str
    log: bool
    x: Array
    center: Array
    low: Array
    high: Array
    seeds: Counts
    diverged: Counts
    vanished: Counts

    @property
    def drawn(self) -> Bools:
        """Where at least one seed has a place on the axis."""
        return self.seeds > self.diverged + self.vanished

    def name(self, t: Text) -> str:
        """The placement, and the layer where it matters."""
        label = t(PLACEMENTS[self.placement].label)
        return t("{name} ({where})", name=label, where=t(WHERE[self.where])) if self.where else label


def summarize(
    placement: str, where: str, x: Array, values: Array, *, present: Bools | None = None, log: bool = True
) -> Curve:
    """The line through values [seed, position]; `present` says which of them there are."""
    there = np.ones(values.shape, dtype=np.bool_) if present is None else present
    finite = there & np.isfinite(values)
    zero = finite & (values == 0) if log else np.zeros_like(finite)
    usable = finite & ~zero
    scaled = np.where(usable, values, 1.0)
    scaled = np.log(scaled) if log else scaled
    count = usable.sum(axis=0)
    some = count > 0
    sums = np.where(usable, scaled, 0.0).sum(axis=0)
    low = np.where(usable, scaled, np.inf).min(axis=0, initial=np.inf)
    high = np.where(usable, scaled, -np.inf).max(axis=0, initial=-np.inf)
    middle, low, high = (np.where(some, part, np.nan) for part in (sums / np.maximum(count, 1), low, high))
    back = np.exp if log else np.asarray
    return Curve(
        placement=placement,
        where=where,
        log=log,
        x=x,
        center=back(middle),
        low=back(low),
        high=back(high),
        seeds=there.sum(axis=0),
        diverged=(there & ~np.isfinite(values)).sum(axis=0),
        vanished=zero.sum(axis=0),
    )


def ragged(columns: Sequence[Array]) -> tuple[Array, Bools]:
    """Columns of different length side by side: values [seed, position], and which of them there are."""
    height = max((column.size for column in columns), default=0)
    values, present = np.zeros((height, len(columns))), np.zeros((height, len(columns)), dtype=np.bool_)
    for place, column in enumerate(columns):
        values[: column.size, place], present[: column.size, place] = column, True
    return values, present


def tabulate(curves: Sequence[Curve], position: str, t: Text) -> pd.DataFrame:
    """The lines as rows; `position` is the name of the column that holds `x`."""

    def column(name: str) -> npt.NDArray[np.generic]:
        return np.concatenate([getattr(curve, name) for curve in curves] or [np.zeros(0)])

    sizes = [curve.x.size for curve in curves]

    def words(labels: Sequence[str]) -> npt.NDArray[np.object_]:
        return np.repeat(np.array(labels, dtype=object), sizes)

    columns = {t("placement"): words([t(PLACEMENTS[curve.placement].label) for curve in curves])}
    if any(curve.where for curve in curves):
        columns[t("where")] = words([t(WHERE[curve.where]) if curve.where else "" for curve in curves])
    middle = t("geometric mean") if all(curve.log for curve in curves) else t("mean")
    return pd.DataFrame(
        {
            **columns,
            position: column("x"),
            middle: column("center"),
            t("smallest seed"): column("low"),
            t("largest seed"): column("high"),
            t("seeds"): column("seeds"),
            t("diverged seeds"): column("diverged"),
            t("zero seeds"): column("vanished"),
        }
    )
