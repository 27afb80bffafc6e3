"""What does theory say about a line of a depth figure, and from where does it come?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from normviz.depth.config import SweepConfig
from normviz.depth.results import DepthSweep
from normviz.depth.theory import Law, NoLaw, law
from normviz.figures.depth.places import Array, entry
from normviz.placements import PLACEMENTS
from normviz.text import Text

# Pairs of tokens, over the layers of all depths and placements: the recursion takes about 1.6 ms for 32 x 32 of them,
# and everybody's clicks wait meanwhile.
_AFFORDABLE = 500 * 32**2


@dataclass(frozen=True, kw_only=True)
class Dashed:
    """One dashed line: positive finite values `y` at positions `x`, with the law's name (English) and its source."""

    placement: str
    where: str
    x: Array
    y: Array
    name: str
    source: str


def laws_against_depth(result: DepthSweep, quantity: str, places: Sequence[str]) -> list[Dashed]:
    """The laws of each placement with a measured point, at all depths of the sweep; a place without one has no line."""
    lines = []
    placements = _measured(result, quantity)
    depths = [depth for depth in result.config.depths if _affordable(result, depth, len(placements))]
    for placement in placements:
        known = [(depth, found) for depth in depths if (found := _law(result, quantity, placement, depth))]
        if not known:
            continue
        x = np.array([depth for depth, _ in known], dtype=np.float64)
        for place in places:
            y = np.array([found.value[entry(place, found.layer, depth)] for depth, found in known])
            lines += _line(placement, place, x, y, known[-1][1])
    return lines


def laws_over_layers(result: DepthSweep, quantity: str, depth: int, *, root: bool = False) -> list[Dashed]:
    """The laws of each placement that was measured at this depth, over its layers; with `root`, their square roots."""
    lines = []
    placements = _measured(result, quantity, depth)
    for placement in placements if _affordable(result, depth, len(placements)) else ():
        found = _law(result, quantity, placement, depth)
        if found:
            lines += _line(placement, "", found.layer, np.sqrt(found.value) if root else found.value, found)
    return lines


def theory_notes(result: DepthSweep, quantity: str, t: Text) -> list[str]:
    """One sentence for each placement: which law is dashed and from where it comes, or why there is none."""
    notes = []
    placements, depths = result.config.placements, result.config.depths
    for placement in placements:
        label = t(PLACEMENTS[placement].label)
        try:
            found = _cached(result.config, quantity, placement, depths[0])
        except NoLaw as error:
            notes.append(t("{name}: no law. {reason}.", name=label, reason=t.error(error).rstrip(".。")))
        else:
            notes.append(t("{name}: {law} ({source}).", name=label, law=t(found.name), source=t(found.source)))
    if not _affordable(result, depths[-1], len(placements)):
        notes.append(t("Deep models are drawn without theory: working it out would keep the page waiting."))
    return notes


def sources(lines: Sequence[Dashed], t: Text) -> list[str]:
    """One sentence for the alt text that says what the dashed lines are."""
    named = dict.fromkeys(t("{law} ({source})", law=t(line.name), source=t(line.source)) for line in lines)
    return [t("Dashed: {laws}.", laws="; ".join(named))] if named else []


@lru_cache(maxsize=1024)
def _cached(config: SweepConfig, quantity: str, placement: str, depth: int) -> Law:
    # A live figure asks for the same laws twice a second.
    return law(config, quantity, placement, depth)


def _affordable(result: DepthSweep, depth: int, placements: int) -> bool:
    """Whether the laws of all depths up to this one are worked out while a person waits."""
    layers = placements * sum(less for less in result.config.depths if less <= depth)
    return layers * result.config.seq_len**2 <= _AFFORDABLE


def _law(result: DepthSweep, quantity: str, placement: str, depth: int) -> Law | None:
    try:
        return _cached(result.config, quantity, placement, depth)
    except NoLaw:
        return None


def _measured(result: DepthSweep, quantity: str, depth: int | None = None) -> list[str]:
    found = {
        point.placement
        for point in result.points
        if quantity in point.profiles and (depth is None or point.depth == depth)
    }
    return [placement for placement in result.config.placements if placement in found]


def _line(placement: str, where: str, x: Array, y: Array, found: Law) -> list[Dashed]:
    keep = np.isfinite(y) & (y > 0)
    if not keep.any():
        return []
    return [Dashed(placement=placement, where=where, x=x[keep], y=y[keep], name=found.name, source=found.source)]
