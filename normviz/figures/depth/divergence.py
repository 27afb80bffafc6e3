"""From which depth on is a number inf or nan?"""

from __future__ import annotations

import numpy as np

from normviz.depth.results import DepthSweep
from normviz.placements import PLACEMENTS
from normviz.text import Text


def divergence_notes(result: DepthSweep, quantity: str, t: Text) -> list[str]:
    """One sentence for each placement with an inf or nan: the depth at which it begins, and in how many seeds there.

    Parameters
    ----------
    result
        A sweep, complete or not.
    quantity
        A key of `QUANTITIES`; all its layers count.
    t
        The reader's language.
    """
    notes = []
    for placement in result.config.placements:
        for depth in result.config.depths:
            values = result.values(quantity, placement, depth)
            lost = ~np.isfinite(values)
            if not lost.any():
                continue
            words = {
                "name": t(PLACEMENTS[placement].label),
                "depth": depth,
                "part": int(lost.any(axis=1).sum()),
                "all": len(values),
            }
            deeper = [result.values(quantity, placement, more) for more in result.config.depths if more > depth]
            arrived = [more for more in deeper if more.size]
            if arrived and not any(np.isfinite(more).all() for more in arrived):
                notes.append(t("{name}: inf or nan from {depth} layers on ({part} of {all} seeds).", **words))
            else:
                notes.append(t("{name}: inf or nan at {depth} layers ({part} of {all} seeds).", **words))
            break
    return notes
