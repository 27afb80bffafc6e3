"""How does a measured sweep become bytes, and what is refused on the way back?"""

from __future__ import annotations

import io
import json
import math
import struct
import zlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile

import numpy as np

from normviz.depth.config import MATRICES, SweepConfig
from normviz.depth.points import QUANTITIES, Array, DepthPoint, Profile
from normviz.errors import InputError

KIND = "normviz depth sweep"
FILE_FORMAT = 2
# What a configuration of an earlier format leaves out, as that version of normviz measured it.
EARLIER: Mapping[int, Mapping[str, Any]] = MappingProxyType({1: {"gradients": MATRICES}})
# Uploads come from strangers: the most bytes of one, of what a file unpacks to, and the models that a file may plan.
LARGEST_UPLOAD = 2**26
LARGEST_FILE = 2**28
LARGEST_PLAN = 2**18
# What NumPy, zipfile and json raise on bytes that are not theirs.
DAMAGE = (
    ArithmeticError, AttributeError, BadZipFile, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
    ValueError, struct.error, zlib.error,
)  # fmt: skip


def packed(config: SweepConfig, points: Iterable[DepthPoint]) -> bytes:
    """Content of a result file: npz without pickle, with a JSON header; equal points give equal bytes."""
    points = list(points)
    profiles = [profile for point in points for _, profile in point.ordered()]
    header = {
        "kind": KIND,
        "format": FILE_FORMAT,
        "config": config.to_dict(),
        "points": [
            {
                "key": point.key,
                "seconds": point.seconds,
                "device": point.device,
                "torch_version": point.torch_version,
                "halvings": point.halvings,
                "finished": point.finished,
                "sizes": {name: profile.value.size for name, profile in point.ordered()},
            }
            for point in points
        ],
    }
    file = io.BytesIO()
    np.savez_compressed(
        file,
        header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        layer=np.concatenate([np.zeros(0), *(profile.layer for profile in profiles)]),
        value=np.concatenate([np.zeros(0), *(profile.value for profile in profiles)]),
    )
    return file.getvalue()


def unpacked(data: bytes, *, largest: int) -> tuple[SweepConfig, list[DepthPoint]]:
    """The way back from `packed`, of this format or an earlier one; never unpickles, never unpacks too much.

    Raises
    ------
    InputError
        If the content is damaged or has more than `largest` bytes, comes from a newer version of normviz, or is
        something else.
    """
    if len(data) > largest:
        raise InputError("The file is larger than {limit} MiB", limit=largest // 2**20)
    try:
        header, layer, value = _opened(data)
        return _config(header), _points(header["points"], layer, value)
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError("The file is damaged or is not a result of a depth sweep") from error


def _opened(data: bytes) -> tuple[dict[str, Any], Array, Array]:
    """The header, and the layers and values of all profiles in a row."""
    archive = np.load(io.BytesIO(data), allow_pickle=False)
    if sum(entry.file_size for entry in archive.zip.infolist()) > LARGEST_FILE:
        raise InputError("The file unpacks to more than {limit} MiB", limit=LARGEST_FILE // 2**20)
    header = json.loads(archive["header"].tobytes())
    if header["kind"] != KIND:
        raise InputError("The file holds {got}, not a depth sweep", got=str(header["kind"]))
    if not isinstance(header["format"], int) or header["format"] < 1:
        raise ValueError("the format is no number")
    if header["format"] > FILE_FORMAT:
        raise InputError(
            "The file comes from a newer version of normviz: it has format {got}, and this version reads formats up to "
            "{allowed}",
            got=header["format"],
            allowed=FILE_FORMAT,
        )
    layer, value = (np.asarray(archive[name], dtype=np.float64) for name in ("layer", "value"))
    if layer.ndim != 1 or layer.shape != value.shape:
        raise ValueError("the arrays are no profiles")
    return header, layer, value


def _points(entries: list[Mapping[str, Any]], layer: Array, value: Array) -> list[DepthPoint]:
    points, start = [], 0
    for entry in entries:
        profiles = {}
        for name, size in entry["sizes"].items():
            stop = start + max(0, int(size))
            if name in QUANTITIES:
                profiles[name] = Profile(layer=layer[start:stop], value=value[start:stop])
            start = stop
        placement, depth, seed = entry["key"]
        points.append(
            DepthPoint(
                placement=str(placement),
                depth=int(depth),
                seed=int(seed),
                profiles=profiles,
                seconds=float(entry["seconds"]),
                device=str(entry["device"]),
                torch_version=str(entry["torch_version"]),
                halvings=int(entry.get("halvings", 0)),  # format 1 has neither
                finished=float(entry.get("finished", 0)),
            )
        )
    if start != layer.size:
        raise ValueError("the header and the arrays differ in length")
    return points


def _config(header: Mapping[str, Any]) -> SweepConfig:
    if not isinstance(header["config"], dict):
        raise ValueError("the configuration has no fields")
    fields = {**EARLIER.get(header["format"], {}), **header["config"]}
    planned = math.prod(len(fields.get(name, [None])) for name in ("placements", "depths", "seeds"))
    if planned > LARGEST_PLAN:
        raise InputError("The file plans {got} models; at most {allowed} are read", got=planned, allowed=LARGEST_PLAN)
    return SweepConfig.from_dict(fields)
