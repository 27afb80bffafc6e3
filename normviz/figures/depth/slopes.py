"""How steeply does a quantity change with depth, and how sure is that?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from normviz.depth.results import DepthSweep
from normviz.figures.depth.places import PLACES, WHERE, Array, entry, shown_places
from normviz.placements import PLACEMENTS
from normviz.text import Text

# A line through two depths says nothing about how straight they lie.
_FEWEST = 3
# A standard error below this is shown with three digits.
_SMALL = 0.01


@dataclass(frozen=True, kw_only=True)
class Slope:
    """The exponent s of quantity ~ L^s for one placement at one place.

    Attributes
    ----------
    placement, where
        A placement id, and "last", "middle", "first", "input" or "" (a quantity of the whole model).
    slope, error
        The least-squares slope and its standard error; None for fewer than three depths.
    depths
        The depths with a finite positive value.
    """

    placement: str
    where: str
    slope: float
    error: float | None
    depths: tuple[int, ...]

    def words(self, t: Text) -> str:
        """As "slope −0.53 ± 0.02"; without an error for two depths."""
        if self.error is None:
            return t("slope {slope} (two depths)", slope=_fixed(self.slope, 2))
        digits = 2 if self.error >= _SMALL else 3
        return t("slope {slope} ± {error}", slope=_fixed(self.slope, digits), error=_fixed(self.error, digits))


def slopes(result: DepthSweep, quantity: str, where: Sequence[str] = PLACES) -> list[Slope]:
    r"""Fit $\ln y = a + s \ln L$ to all seeds at all depths, for each placement and place.

    Ordinary least squares over the n finite positive values; the standard error is
    $\sqrt{\sum_i r_i^2/(n-2)\,/\,\sum_i(\ln L_i-\overline{\ln L})^2}$ with the residuals $r_i$, so that it also grows
    when the points do not lie on a line. A placement with fewer than two usable depths has no slope.

    Parameters
    ----------
    result
        A sweep, complete or not.
    quantity
        A key of `QUANTITIES`.
    where
        Some of `PLACES`; "first" means the input x_0 for quantities that have one.
    """
    found = []
    for placement in result.config.placements:
        measured = [
            (depth, result.layers(quantity, placement, depth), values)
            for depth in result.config.depths
            if (values := result.values(quantity, placement, depth)).size
        ]
        for place in shown_places(quantity, where):
            points = [
                (depth, value)
                for depth, layers, values in measured
                for value in values[:, entry(place, layers, depth)].tolist()
                if 0 < value < np.inf
            ]
            depths = tuple(dict.fromkeys(depth for depth, _ in points))
            if len(depths) > 1:
                slope, error = _fit(*np.log(np.array(points, dtype=np.float64)).T)
                found.append(
                    Slope(
                        placement=placement,
                        where=place,
                        slope=slope,
                        error=error if len(depths) >= _FEWEST else None,
                        depths=depths,
                    )
                )
    return found


def slope_notes(result: DepthSweep, quantity: str, where: Sequence[str], t: Text) -> list[str]:
    """One sentence for each slope."""
    return [
        t("{name}: {slope}.", name=_name(slope, t), slope=slope.words(t)) for slope in slopes(result, quantity, where)
    ]


def _name(slope: Slope, t: Text) -> str:
    label = t(PLACEMENTS[slope.placement].label)
    return t("{name} ({where})", name=label, where=t(WHERE[slope.where])) if slope.where else label


def _fit(x: Array, y: Array) -> tuple[float, float]:
    away = x - x.mean()
    spread = float(away @ away)
    slope = float(away @ y) / spread
    rest = y - y.mean() - slope * away
    return slope, float(np.sqrt(rest @ rest / max(x.size - 2, 1) / spread))


def _fixed(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")
