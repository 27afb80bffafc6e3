"""Does a norm wait for memory or for arithmetic?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from normviz.cost.counts import NormCost
from normviz.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Roof:
    r"""What a device can do at most: $\min(I \cdot \text{bandwidth}, \text{rate})$ operations per second.

    Parameters
    ----------
    bandwidth
        Bytes per second that a copy reads and writes.
    rate
        Operations per second of a matrix product.

    Raises
    ------
    InputError
        If one is not a finite number above 0.

    References
    ----------
    Williams, Waterman & Patterson 2009, doi:10.1145/1498765.1498785.
    """

    bandwidth: float
    rate: float

    def __post_init__(self) -> None:
        for field in ("bandwidth", "rate"):
            object.__setattr__(self, field, _positive(getattr(self, field), field))

    @property
    def ridge(self) -> float:
        """The intensity, in FLOP/byte, from which on arithmetic is the limit."""
        return self.rate / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """Operations per second at an intensity."""
        return min(intensity * self.bandwidth, self.rate)


@dataclass(frozen=True, kw_only=True)
class RooflinePoint:
    """Where a computation stands under the roof.

    Attributes
    ----------
    name
        Its key.
    cost
        What was counted.
    intensity
        FLOP/byte.
    attainable
        Operations per second at most.
    seconds
        Time at least.
    limit
        "bandwidth" or "rate": what it waits for.
    """

    name: str
    cost: NormCost
    intensity: float
    attainable: float
    seconds: float
    limit: str


def roofline(roof: Roof, costs: Mapping[str, NormCost]) -> tuple[RooflinePoint, ...]:
    """Place each cost under the roof."""
    return tuple(
        RooflinePoint(
            name=name,
            cost=cost,
            intensity=cost.intensity,
            attainable=roof.attainable(cost.intensity),
            seconds=cost.flops / roof.attainable(cost.intensity),
            limit="bandwidth" if cost.intensity < roof.ridge else "rate",
        )
        for name, cost in costs.items()
    )


def _positive(value: Any, field: str) -> float:
    number = float(value) if isinstance(value, Real) and value is not True and value is not False else math.nan
    if not 0 < number < math.inf:
        raise InputError("{field} is a finite number above 0; got {value}.", field=field, value=repr(value)[:80])
    return number
