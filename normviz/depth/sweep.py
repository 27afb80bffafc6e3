"""How is a depth sweep run from a script?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from normviz.depth.config import PointKey, SweepConfig, check_config
from normviz.depth.points import DepthPoint
from normviz.depth.probes import measure


def sweep(config: SweepConfig, *, skip: Collection[PointKey] = ()) -> Iterator[DepthPoint]:
    """Measure every model of a configuration, small depths first, and yield each as it is done.

    Equal configurations give equal numbers on the same device with the same number of torch threads.

    Parameters
    ----------
    config
        Which models; `normviz.collect(config, points)` makes a result of what arrives.
    skip
        Models already measured, by their keys.

    Raises
    ------
    InputError
        If `config` is no `SweepConfig`; as points are asked for, if the device is not there or its memory runs out.
    """
    check_config(config)
    return (measure(config, key) for key in config.keys() if key not in skip)  # noqa: SIM118  (no mapping)
