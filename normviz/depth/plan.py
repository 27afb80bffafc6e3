"""Which models of a sweep are measured together?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.cost import slice_cost
from normviz.placements import PLACEMENTS

LIVE_FLOPS = 2.5e10
"""Operations of a slice whose result somebody waits for: some tenths of a second on one core."""

BATCH_FLOPS = 2e12
"""Operations of a slice in a script: larger slices share more."""

SLICE_NUMBERS = 2**29
"""Numbers that a slice may keep in memory (2 GiB in float32), if it can be cut at all."""

Slice = tuple[PointKey, ...]


def slices(config: SweepConfig, *, flops: float = LIVE_FLOPS) -> tuple[Slice, ...]:
    """Cut a sweep into slices, small depths first; together they are `config.keys()`.

    The models of a slice are every combination of some placements, depths and seeds. They share their weights: their
    placements have the same sublayers and scales at initialization, and their depths are several only if no weight and
    no wiring depends on the depth. Within that a slice takes in depths, placements and seeds as long as it stays below
    `flops` and `SLICE_NUMBERS`; it depends on nothing but the configuration.
    """
    found = [
        keys
        for _, names in groupby(sorted(config.placements, key=_likeness), key=_likeness)
        for keys in _alike(config, tuple(names), flops)
    ]
    return tuple(sorted(found, key=lambda keys: max(key.depth for key in keys)))


def _likeness(name: str) -> tuple[bool, bool, bool, str]:
    """What two placements must share to be measured together."""
    placement = PLACEMENTS[name]
    scale = "" if placement.init_scale is None else name
    return placement.knows_depth, placement.inner_norm, placement.qkv_norm, scale


def _alike(config: SweepConfig, names: Sequence[str], flops: float) -> Iterator[Slice]:
    nested = config.init != "gpt2" and not PLACEMENTS[names[0]].knows_depth
    together: list[int] = []
    for depth in config.depths:
        wanted = [*together, depth]
        if together and not (nested and _fits(config, _slice(names, wanted, config.seeds), flops)):
            yield from _cut(config, names, together, flops)
            wanted = [depth]
        together = wanted
    yield from _cut(config, names, together, flops)


def _cut(config: SweepConfig, names: Sequence[str], depths: Sequence[int], flops: float) -> Iterator[Slice]:
    """All models of some depths, with fewer seeds and then fewer placements in a slice where they are too many."""
    some_seeds, some_names = len(config.seeds), len(names)
    while not _fits(config, _slice(names[:some_names], depths, config.seeds[:some_seeds]), flops):
        if some_seeds > 1:
            some_seeds = (some_seeds + 1) // 2
        elif some_names > 1:
            some_names = (some_names + 1) // 2
        else:
            break
    for first in range(0, len(config.seeds), some_seeds):
        for start in range(0, len(names), some_names):
            yield _slice(names[start : start + some_names], depths, config.seeds[first : first + some_seeds])


def _slice(names: Sequence[str], depths: Sequence[int], seeds: Sequence[int]) -> Slice:
    return tuple(PointKey(name, depth, seed) for depth in depths for seed in seeds for name in names)


def _fits(config: SweepConfig, keys: Slice, flops: float) -> bool:
    cost = slice_cost(config, keys)
    return cost.flops <= flops and cost.kept <= SLICE_NUMBERS
