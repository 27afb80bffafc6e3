"""What did a depth sweep measure, and how is it kept in a file?"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from normviz.depth.config import PointKey, SweepConfig, check_config
from normviz.depth.files import LARGEST_FILE, LARGEST_UPLOAD, packed, unpacked
from normviz.depth.points import QUANTITIES, Array, DepthPoint, Profile, Quantity
from normviz.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LARGEST_UPLOAD", "QUANTITIES", "DepthPoint", "DepthSweep", "Profile", "Quantity", "collect", "from_bytes", "load",
]  # fmt: skip

COLUMNS = ("placement", "depth", "seed", "quantity", "layer", "value")


@dataclass(frozen=True, kw_only=True)
class DepthSweep:
    """A configuration and the points that arrived; fewer than planned is a valid, shorter result.

    Points stand in the order of `config.keys()`; build one with `collect`.
    """

    config: SweepConfig
    points: tuple[DepthPoint, ...]

    @property
    def complete(self) -> bool:
        """Whether every model of the configuration was measured."""
        return not self.missing()

    @property
    def seconds(self) -> float:
        """Sum of the points' times, whichever machine they ran on."""
        return sum(point.seconds for point in self.points)

    @property
    def finished(self) -> float:
        """Unix time, in seconds, at which the last point was measured; 0 where no file or engine said so."""
        return max((point.finished for point in self.points), default=0.0)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that took part, in order of appearance."""
        return tuple(dict.fromkeys(point.device for point in self.points))

    def missing(self) -> tuple[PointKey, ...]:
        """The models not measured, in the order of `config.keys()`."""
        keys, done = self.config.keys(), {point.key for point in self.points}
        return tuple(key for key in keys if key not in done)

    def _profiles(self, quantity: str, placement: str, depth: int) -> list[Profile]:
        if quantity not in QUANTITIES:
            raise InputError(
                "{field} can be {allowed}; got {got}",
                field="quantity",
                allowed=", ".join(QUANTITIES),
                got=repr(quantity),
            )
        chosen = [point for point in self.points if (point.placement, point.depth) == (placement, depth)]
        return [point.profiles[quantity] for point in chosen if quantity in point.profiles]

    def values(self, quantity: str, placement: str, depth: int) -> Array:
        """A quantity's values [seed, layer], a row for each seed that arrived; [0, 0] where there are none."""
        rows = [profile.value for profile in self._profiles(quantity, placement, depth)]
        return np.stack(rows) if rows else np.zeros((0, 0))

    def layers(self, quantity: str, placement: str, depth: int) -> Array:
        """The layer positions [layer] of the columns of `values`."""
        profiles = self._profiles(quantity, placement, depth)
        return profiles[0].layer if profiles else np.zeros(0)

    def deviation(self, exact: DepthSweep) -> dict[str, float]:
        """Largest relative difference from another run of the same models, for each quantity that both have.

        |a - b| / |b| with b of `exact`, over all models, seeds and layers; inf where one of the two is not finite and
        the other is, or where b is 0 and a is not.
        """
        others = {point.key: point for point in exact.points}
        found: dict[str, float] = {}
        for point in self.points:
            other = others.get(point.key)
            for name, profile in point.ordered():
                if other is None or name not in other.profiles:
                    continue
                a, b = profile.value, other.profiles[name].value
                same = (a == b) | (np.isnan(a) & np.isnan(b))
                with np.errstate(all="ignore"):
                    ratios = np.where(same, 0.0, np.abs(a - b) / np.abs(b))
                largest = float(np.where(np.isnan(ratios), np.inf, ratios).max(initial=0.0))
                found[name] = max(found.get(name, 0.0), largest)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Everything as a tidy table: a row for each value, in the order of points, quantities and layers."""
        import pandas as pd

        parts = [(point, name, profile) for point in self.points for name, profile in point.ordered()]
        sizes = [profile.value.size for _, _, profile in parts]
        columns: tuple[Any, ...] = (
            np.repeat(np.array([point.placement for point, _, _ in parts], dtype=object), sizes),
            np.repeat(np.array([point.depth for point, _, _ in parts], dtype=np.int64), sizes),
            np.repeat(np.array([point.seed for point, _, _ in parts], dtype=np.int64), sizes),
            np.repeat(np.array([name for _, name, _ in parts], dtype=object), sizes),
            np.concatenate([np.zeros(0), *(profile.layer for _, _, profile in parts)]),
            np.concatenate([np.zeros(0), *(profile.value for _, _, profile in parts)]),
        )
        return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))

    def to_bytes(self) -> bytes:
        """Content of a result file: npz without pickle, with a JSON header; an equal result gives equal bytes."""
        return packed(self.config, self.points)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result file that `load` reads; a file that was there stays whole until the new one is.

        Raises
        ------
        InputError
            If the file cannot be written; the message says why.
        """
        data = self.to_bytes()
        try:
            target = Path(os.path.realpath(path))
            if target.exists() and not target.is_file():
                target.write_bytes(data)  # a device or a pipe is written to, not replaced; a folder refuses
            else:
                _replace(target, data)
        except (OSError, ValueError) as error:
            raise InputError("{path} cannot be written: {reason}", path=str(path), reason=_reason(error)) from error


def _replace(target: Path, data: bytes) -> None:
    """Write beside the target, then take its place."""
    beside = target.with_name(f".normviz-{secrets.token_hex(8)}.tmp")
    try:
        beside.write_bytes(data)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _reason(error: OSError | ValueError) -> str:
    # A path with a null character in it is a ValueError.
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def collect(config: SweepConfig, points: Iterable[DepthPoint]) -> DepthSweep:
    """Put the points of a sweep, in any order and not necessarily all of them, into one result.

    Where a model was measured twice, the later point counts.

    Raises
    ------
    InputError
        If `config` is no `SweepConfig`, a point is not one of its models, or the points of a placement and a depth have
        a quantity at different layers.
    """
    check_config(config)
    given = list(points) if isinstance(points, Iterable) else [points]
    for point in given:
        if not isinstance(point, DepthPoint):
            raise InputError("points are the DepthPoints of a sweep; got {got}", got=shown(point))
    found = {point.key: point for point in given}
    keys = config.keys()
    for key in sorted(found.keys() - set(keys)):
        raise InputError(
            "The sweep has no model with placement {placement}, depth {depth} and seed {seed}", **key._asdict()
        )
    _check_layers(found.values())
    return DepthSweep(config=config, points=tuple(found[key] for key in keys if key in found))


def _check_layers(points: Iterable[DepthPoint]) -> None:
    """Refuse points that are no rows of one table [seed, layer]."""
    layers: dict[tuple[str, str, int], Array] = {}
    for point in points:
        for name, profile in point.profiles.items():
            first = layers.setdefault((name, point.placement, point.depth), profile.layer)
            if not np.array_equal(first, profile.layer):
                raise InputError(
                    "The models with placement {placement} and depth {depth} have {quantity} at the same layers; the "
                    "one with seed {seed} has not",
                    placement=point.placement,
                    depth=point.depth,
                    quantity=name,
                    seed=point.seed,
                )


def load(source: str | os.PathLike[str] | IO[bytes]) -> DepthSweep:
    """Read a result file from a path or an open binary file.

    Raises
    ------
    InputError
        If it cannot be read, is damaged or too large, comes from a newer version of normviz, or is something else.
    """
    if isinstance(source, (str, os.PathLike)):
        try:
            with Path(source).open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
        except (OSError, ValueError) as error:
            raise InputError("{path} cannot be read: {reason}", path=str(source), reason=_reason(error)) from error
    elif hasattr(source, "read"):
        data = source.read(LARGEST_FILE + 1)
    else:
        raise InputError("A result is loaded from a path or an open binary file; got {got}", got=shown(source))
    return from_bytes(data, largest=LARGEST_FILE)


def from_bytes(data: bytes, *, largest: int = LARGEST_FILE) -> DepthSweep:
    """Read the content of a result file; never unpickles, never unpacks more than `LARGEST_FILE` bytes.

    Parameters
    ----------
    data
        The content, of this format or an earlier one.
    largest
        The most bytes it may have: `LARGEST_UPLOAD` for what a stranger sends.

    Raises
    ------
    InputError
        If it is damaged or too large, comes from a newer version of normviz, or is something else.
    """
    return collect(*unpacked(data, largest=largest))
