"""How is a depth sweep run from a script?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.points import DepthPoint
from normviz.depth.probes import measure, resolve_device

__all__ = ["measure", "resolve_device", "sweep"]


def sweep(config: SweepConfig, *, skip: Collection[PointKey] = ()) -> Iterator[DepthPoint]:
    """Measure every model of a configuration, small depths first, and yield each as it is done.

    Parameters
    ----------
    config
        Which models; `normviz.collect(config, points)` makes a result of what arrives.
    skip
        Models already measured, by their keys.

    Raises
    ------
    InputError
        If the device is not there or its memory runs out.
    """
    for key in config.keys():  # noqa: SIM118  (a tuple of models, not a mapping)
        if key not in skip:
            yield measure(config, key)
