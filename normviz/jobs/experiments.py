"""Which experiments can be run as jobs, and what must the board know of each?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.results import DepthSweep, collect, from_bytes


def _equal(key: Any) -> float:
    return 1.0


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A computation that falls into independent slices, one point each.

    Parameters
    ----------
    name
        Its id in `EXPERIMENTS`.
    config_type
        Class of its configurations: frozen, picklable, with a `digest` (hexadecimal) that no configuration of any
        other experiment has; the digest names the job and its stored result.
    keys
        The slices of a configuration, in the order in which they are sent out.
    measure
        "module:function" of `measure(config, key) -> point`, imported by the worker only, so that the web process
        never loads what it needs.
    collect
        `collect(config, points) -> result`, where the result has `config` and `points`; fewer points than planned
        are a valid, shorter result.
    to_bytes, from_bytes
        The result's file format; `from_bytes` raises whatever it likes on a damaged file.
    weight
        How long a slice takes, in any unit: the time left is estimated with it.
    """

    name: str
    config_type: type[Any]
    keys: Callable[[Any], Sequence[Hashable]]
    measure: str
    collect: Callable[[Any, Iterable[Any]], Any]
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]
    weight: Callable[[Any], float] = _equal


def _depth(key: PointKey) -> float:
    return float(key.depth)


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.name: experiment
        for experiment in (
            Experiment(
                name="sweep",
                config_type=SweepConfig,
                keys=SweepConfig.keys,
                measure="normviz.depth.sweep:measure",
                collect=collect,
                to_bytes=DepthSweep.to_bytes,
                from_bytes=from_bytes,
                weight=_depth,
            ),
        )
    }
)


def run_slice(measure: str, config: Any, key: Hashable) -> Any:
    """One point: what a worker does.

    Parameters
    ----------
    measure
        "module:function", as in `Experiment`.
    config, key
        The function's arguments.
    """
    module, _, function = measure.partition(":")
    return getattr(import_module(module), function)(config, key)
