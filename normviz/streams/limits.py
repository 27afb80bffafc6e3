"""Which numbers are taken for a kind, a share or a seed?"""

from __future__ import annotations

from reprlib import repr as shown

from normviz.arrays import finite_number
from normviz.errors import InputError

LARGEST_SEED = 2**31 - 1
"""Seeds above this are cut by the browser's and the cluster's number types."""


def check_kind(kind: str, allowed: tuple[str, ...]) -> None:
    """Refuse a kind that is not one of the ids."""
    if kind not in allowed:
        raise InputError("kind is one of {allowed}; got {value}.", allowed=", ".join(allowed), value=shown(kind))


def number_within(value: float, field: str, low: float, high: float) -> float:
    """`value` as a float from `low` to `high`, both included."""
    number = finite_number(value, field)
    if not low <= number <= high:
        raise InputError(
            "{field} is a number from {low:g} to {high:g}; got {value:g}.",
            field=field,
            low=low,
            high=high,
            value=number,
        )
    return number
