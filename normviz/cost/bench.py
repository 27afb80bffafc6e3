"""What is measured when norms are timed, and what do the times say?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from normviz.arrays import Floats, frozen
from normviz.cost.counts import NormCost, norm_cost
from normviz.cost.roofline import Roof
from normviz.cost.sizes import DTYPES, KINDS, WAYS, LayerSizes, check_numbers, choice, size
from normviz.errors import InputError

DEVICES: tuple[str, ...] = ("auto", "cpu", "cuda")
FORMAT = 2
"""Part of every digest: raised when the same configuration would measure something else."""

WHOLE = 0
"""The only slice: what is to be compared is measured in turns, on one worker."""


class Spread(NamedTuple):
    """Median and quartiles over the rounds."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, kw_only=True)
class BenchConfig:
    """Which norms are timed, at which size, how often.

    Parameters
    ----------
    kinds
        Ids of `KINDS`.
    ways
        Ids of `WAYS`.
    tokens, d
        Rows and width of the tensor that is normalized. One that fits into the device's caches is measured in them.
    dtype
        One of `DTYPES`.
    device
        Where: "cpu", "cuda", or "auto" for cuda where there is one.
    repeats
        Rounds; in each, everything is timed once.
    run
        A number that means nothing: another one measures the same anew instead of showing what is stored.

    Raises
    ------
    InputError
        If a field is not usable; the message names it, what is allowed and what came.
    """

    kinds: tuple[str, ...] = ("layer_norm", "rms_norm", "add_rms_norm")
    ways: tuple[str, ...] = tuple(WAYS)
    tokens: int = 4096
    d: int = 2048
    dtype: str = "float32"
    device: str = "auto"
    repeats: int = 12
    run: int = 0

    def __post_init__(self) -> None:
        for name, table in (("kinds", tuple(KINDS)), ("ways", tuple(WAYS))):
            object.__setattr__(self, name, _chosen(getattr(self, name), name, table))
        for name in ("tokens", "d", "repeats", "run"):
            object.__setattr__(self, name, size(getattr(self, name), name))
        choice(self.dtype, "dtype", tuple(DTYPES))
        choice(self.device, "device", DEVICES)
        check_numbers(self.tokens * self.d)

    @property
    def digest(self) -> str:
        """Hexadecimal SHA-256 of the configuration: the name of the benchmark and of its stored result."""
        text = json.dumps({"experiment": "norms", "format": FORMAT, **self.to_dict()}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def variants(self) -> tuple[str, ...]:
        """What is timed, each a kind and a way: "rms_norm/eager"."""
        return tuple(f"{kind}/{way}" for kind in self.kinds for way in self.ways)

    @property
    def memory_bytes(self) -> int:
        """About what the tensors take at once: two inputs, the results, and what the longest chain keeps."""
        entries, own = self.tokens * self.d, DTYPES[self.dtype]
        return entries * (6 * own + 3 * max(4, own))

    @property
    def tensor_bytes(self) -> int:
        """What the tensor that is normalized takes."""
        return self.tokens * self.d * DTYPES[self.dtype]

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold; `BenchConfig(**values)` is the way back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def slices(config: BenchConfig) -> tuple[int, ...]:
    """The slices of a benchmark: one, because only what is timed in turns can be compared."""
    return (WHOLE,)


def check_memory(config: BenchConfig, available: int | None) -> None:
    """Refuse a benchmark whose tensors do not fit.

    Parameters
    ----------
    config
        What is to be measured.
    available
        Bytes that are free; None where nobody knows.

    Raises
    ------
    InputError
        With what it needs and what there is.
    """
    if available is not None and config.memory_bytes > available:
        raise InputError(
            "This benchmark would need about {got:,.1f} GiB of memory; {allowed:,.1f} GiB are free. "
            "Choose fewer tokens N or a smaller width d",
            got=config.memory_bytes / 2**30,
            allowed=available / 2**30,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchPoint:
    """What one benchmark has measured.

    Attributes
    ----------
    seconds
        By variant ("rms_norm/eager"), the time of a call in each round; what could not run is missing.
    copy, fresh
        In each round, the time to copy the tensor into one that is there, and into a new one, as every norm makes it.
    matmul
        In each round, the time of a product of two square matrices.
    side
        Rows and columns of those matrices.
    warm_up
        Calls of each before the first round.
    calls
        By variant, and "copy", "fresh", "matmul": the calls in a row that make one time; short ones need many.
    why_not
        Why a way is missing, by way: what the compiler said.
    device, threads, torch_version
        Where: "cpu", or "cuda" with the GPU's name; threads of the CPU; version of PyTorch.
    finished
        Unix time in seconds.
    far, far_bytes
        In each round, the time of a copy that reads and writes so many bytes together, more than the caches hold; None
        and 0 where the memory had no room for it.
    """

    seconds: Mapping[str, Floats]
    copy: Floats
    fresh: Floats
    matmul: Floats
    side: int
    warm_up: int
    calls: Mapping[str, int]
    device: str
    threads: int
    torch_version: str
    why_not: Mapping[str, str] = field(default_factory=dict)
    finished: float = 0.0
    far: Floats | None = None
    far_bytes: int = 0

    def __post_init__(self) -> None:
        times = {name: _times(name, values) for name, values in self.seconds.items()}
        for name in ("copy", "fresh", "matmul"):
            object.__setattr__(self, name, _times(name, getattr(self, name)))
        if (self.far is None) != (self.far_bytes == 0) or self.far_bytes < 0:
            raise ValueError("A copy beyond the caches has times and bytes, or neither")
        if self.far is not None:
            object.__setattr__(self, "far", _times("far", self.far))
        far = () if self.far is None else (self.far,)
        for values in (*times.values(), self.fresh, self.matmul, *far):
            if values.size != self.copy.size:
                raise ValueError("Everything is timed once in each round")
        object.__setattr__(self, "seconds", MappingProxyType(times))
        object.__setattr__(self, "calls", MappingProxyType(dict(self.calls)))
        object.__setattr__(self, "why_not", MappingProxyType(dict(self.why_not)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping has no pickle, and arrays come out of one writeable; the constructor closes them again.
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {name: dict(values[name]) for name in ("seconds", "calls", "why_not")}
        return partial(BenchPoint, **values), ()

    @property
    def rounds(self) -> int:
        """How often everything was timed."""
        return int(self.copy.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class NormBench:
    """A benchmark and what has arrived of it: nothing yet, or its point."""

    config: BenchConfig
    points: tuple[BenchPoint, ...] = ()

    @property
    def point(self) -> BenchPoint | None:
        """What was measured; None before it arrives."""
        return self.points[0] if self.points else None

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """The variants that ran, in the order of the configuration."""
        there = self.points[0].seconds if self.points else {}
        return tuple(name for name in self.config.variants if name in there)

    def cost(self, variant: str, *, way: str | None = None) -> NormCost:
        """What a variant costs on paper; with `way`, what the same would cost done that way."""
        kind, own = variant.split("/")
        return norm_cost(kind, self.config.tokens, self.config.d, self.config.dtype, way=way or own)

    def spread(self, variant: str) -> Spread:
        """Seconds of one call."""
        return _spread(self._point().seconds[variant])

    def ratio(self, variant: str, other: str) -> Spread:
        """A variant's time over another's, round by round, so that what slows a whole round down cancels out."""
        seconds = self._point().seconds
        return _spread(seconds[variant] / seconds[other])

    def copies(self, variant: str) -> Spread:
        """A variant's time over that of a copy of x into new memory, round by round."""
        point = self._point()
        return _spread(point.seconds[variant] / point.fresh)

    def expected_copies(self, variant: str) -> float:
        """The copies whose bytes are those that the variant moves on paper."""
        return self.cost(variant).bytes / (2 * self.config.tensor_bytes)

    def copy_share(self, variant: str, *, into: str = "fresh") -> float:
        """Median bandwidth as a share of the measured copy's, into "fresh" memory or into memory that is there, "copy".

        Only what one kernel would have to move counts, so that bytes moved for nothing earn no credit.
        """
        point = self._point()
        copy = point.fresh if into == "fresh" else point.copy
        useful = self.cost(variant, way="compiled").bytes / (2 * self.config.tensor_bytes)
        return useful / _spread(point.seconds[variant] / copy).middle

    def roof(self, *, into: str = "copy") -> Roof:
        """Median copy bandwidth and matrix rate of this run."""
        point = self._point()
        copy = point.fresh if into == "fresh" else point.copy
        return Roof(
            bandwidth=2 * self.config.tensor_bytes / _spread(copy).middle,
            rate=2 * point.side**3 / _spread(point.matmul).middle,
        )

    def roof_for(self, sizes: LayerSizes) -> Roof | None:
        """The roof over a computation of other sizes than the tensor's: the bandwidth of memory, not of caches.

        Parameters
        ----------
        sizes
            A layer.

        Returns
        -------
        Roof or None
            None where nothing has been measured, where no copy was larger than the caches, or where the layer has
            another number format than the matrices whose product was timed.
        """
        point = self.point
        if point is None or point.far is None or sizes.dtype != self.config.dtype:
            return None
        return Roof(
            bandwidth=point.far_bytes / _spread(point.far).middle,
            rate=2 * point.side**3 / _spread(point.matmul).middle,
        )

    def to_bytes(self) -> bytes:
        """Content of a result file: npz without pickle, with a JSON header."""
        from normviz.cost.files import packed

        return packed(self)

    def _point(self) -> BenchPoint:
        if not self.points:
            raise ValueError("Nothing has been measured yet")
        return self.points[0]


def collect(config: BenchConfig, points: Iterable[BenchPoint]) -> NormBench:
    """Put what a benchmark has measured into one result; of several points the last counts.

    Raises
    ------
    InputError
        If a point has variants that the configuration has not.
    """
    found = list(points)
    for point in found:
        strange = [name for name in point.seconds if name not in config.variants]
        if strange:
            raise InputError("The benchmark has no variant {got}", got=shown(strange[0]))
    return NormBench(config=config, points=tuple(found[-1:]))


def _chosen(value: Any, field: str, table: tuple[str, ...]) -> tuple[str, ...]:
    """The entries in the table's order: at least one, none twice."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InputError("{field} is a list; got {got}", field=field, got=shown(value))
    entries = [choice(entry, field, table) for entry in value]
    if not entries:
        raise InputError("{field} has at least one entry; got none", field=field)
    for entry in entries:
        if entries.count(entry) > 1:
            raise InputError("{field} holds each entry once; got {got} twice", field=field, got=shown(entry))
    return tuple(sorted(entries, key=table.index))


def _times(name: str, values: Any) -> Floats:
    """Seconds of each round, read-only."""
    times = np.array(values, dtype=np.float64)
    if times.ndim != 1 or not times.size or not (np.isfinite(times) & (times > 0)).all():
        raise ValueError(f"{name} has a positive time for each round")
    return frozen(times)


def _spread(values: Floats) -> Spread:
    return Spread(*map(float, np.quantile(values, (0.25, 0.5, 0.75))))
