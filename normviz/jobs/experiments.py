"""Which experiments can be run as jobs, and what must the board know of each?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from normviz import cost
from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.plan import slices
from normviz.depth.results import DepthSweep, collect, from_bytes


def _one(key: Any) -> int:
    return 1


def _nothing(config: Any) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A computation that falls into independent slices, each of one or several points.

    Parameters
    ----------
    name
        Its id in `EXPERIMENTS`.
    config_type
        Class of its configurations: frozen, picklable, with a `digest` (hexadecimal) that no configuration of any
        other experiment has; the digest names the job and its stored result.
    keys
        The slices of a configuration, hashable, in the order in which they are sent out.
    measure
        "module:function" of `measure(config, key) -> sequence of points`, imported by the worker only, so that the web
        process never loads what it needs.
    collect
        `collect(config, points) -> result`, where the result has `config` and `points`; fewer points than planned
        are a valid, shorter result.
    to_bytes, from_bytes
        The result's file format; `from_bytes` raises whatever it likes on a damaged file.
    points
        How many points a slice gives.
    weight
        How long a slice takes, in any unit: the time left is estimated with it.
    resources
        What a worker of an existing cluster must offer to be sent a slice of this configuration: Dask's abstract
        resources, such as {"GPU": 1}. The own cluster's workers are all alike, and are not asked.
    """

    name: str
    config_type: type[Any]
    keys: Callable[[Any], Sequence[Hashable]]
    measure: str
    collect: Callable[[Any, Iterable[Any]], Any]
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]
    points: Callable[[Any], int] = _one
    weight: Callable[[Any], float] = _one
    resources: Callable[[Any], Mapping[str, float]] = _nothing

    def total(self, config: Any) -> int:
        """How many points a whole result of this configuration has."""
        return sum(self.points(key) for key in self.keys(config))


def _depths(keys: Sequence[PointKey]) -> float:
    return float(sum(key.depth for key in keys))


def _gpu(config: SweepConfig | cost.BenchConfig) -> Mapping[str, float]:
    return {"GPU": 1.0} if config.device == "cuda" else {}


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.name: experiment
        for experiment in (
            Experiment(
                name="sweep",
                config_type=SweepConfig,
                keys=slices,
                measure="normviz.depth.sweep:measure_slice",
                collect=collect,
                to_bytes=DepthSweep.to_bytes,
                from_bytes=from_bytes,
                points=len,
                weight=_depths,
                resources=_gpu,
            ),
            Experiment(
                name="norms",
                config_type=cost.BenchConfig,
                keys=cost.slices,
                measure="normviz.cost.timing:measure",
                collect=cost.collect,
                to_bytes=cost.NormBench.to_bytes,
                from_bytes=cost.from_bytes,
                resources=_gpu,
            ),
        )
    }
)


def run_slice(measure: str, config: Any, key: Hashable) -> tuple[Any, ...]:
    """The points of one slice: what a worker does.

    Parameters
    ----------
    measure
        "module:function", as in `Experiment`.
    config, key
        The function's arguments.
    """
    module, _, function = measure.partition(":")
    return tuple(getattr(import_module(module), function)(config, key))
