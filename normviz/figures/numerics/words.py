"""How are numbers that may be infinite or NaN, and claims about them, put into words?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from normviz.figures.words import number, spaced
from normviz.text import N_, Text

if TYPE_CHECKING:
    from normviz.floats import Claim

SHORT: Mapping[str, str] = {
    "x": "x",
    "sum_x": "Σx",
    "mean": "μ",
    "centered": "x − μ",
    "square": N_("square"),
    "sum": N_("sum"),
    "mean_square": N_("mean"),
    "eps": "ε",
    "plus_eps": "+ ε",
    "root": "√",
    "reciprocal": "1/√",
    "normalized": "x̂",
    "weight": "w",
    "scale": "1+w",
    "cast": N_("cast"),
    "product": N_("× scale"),
    "output": N_("output"),
}
"""Id of a step -> what stands beside it, short enough for a phone."""

_DIGITS = 4


def held(value: float, digits: int = _DIGITS) -> str:
    """A number as `normviz.figures.words.number` writes it; ∞, −∞ or NaN where it is none."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return number(value, digits)


def claim_text(claim: Claim, t: Text) -> str:
    """The sentence of a claim in the reader's language, with its numbers."""
    return spaced(t(claim.sentence, **{name: held(float(value)) for name, value in claim.values.items()}))
