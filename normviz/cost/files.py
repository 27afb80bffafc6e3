"""How does a measured benchmark become bytes, and what is refused on the way back?"""

from __future__ import annotations

import io
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from normviz.cost.bench import BenchConfig, BenchPoint, NormBench, collect
from normviz.errors import InputError

KIND = "normviz norm benchmark"
FILE_FORMAT = 1
LARGEST_FILE = 2**22
"""Bytes that a file has and unpacks to at most; a real one has some kilobytes."""

_REFERENCES = ("copy", "fresh", "matmul")
# What NumPy, zipfile and json raise on bytes that are not theirs.
_DAMAGE = (
    ArithmeticError, AttributeError, BadZipFile, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
    ValueError, struct.error, zlib.error,
)  # fmt: skip

if TYPE_CHECKING:
    from normviz.arrays import Floats


def packed(result: NormBench) -> bytes:
    """Content of a result file; equal results give equal bytes."""
    header: dict[str, Any] = {
        "kind": KIND,
        "format": FILE_FORMAT,
        "config": result.config.to_dict(),
        "points": [
            {
                "variants": list(point.seconds),
                "side": point.side,
                "warm_up": point.warm_up,
                "calls": dict(point.calls),
                "why_not": dict(point.why_not),
                "device": point.device,
                "threads": point.threads,
                "torch_version": point.torch_version,
                "finished": point.finished,
                "far_bytes": point.far_bytes,
            }
            for point in result.points
        ],
    }
    arrays: dict[str, Floats] = {}
    for place, point in enumerate(result.points):
        far = [] if point.far is None else [point.far]
        rows = [*(getattr(point, name) for name in _REFERENCES), *far, *point.seconds.values()]
        arrays[f"seconds_{place}"] = np.stack(rows)
    file = io.BytesIO()
    np.savez_compressed(
        file, allow_pickle=False, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays
    )
    return file.getvalue()


def from_bytes(data: bytes, *, largest: int = LARGEST_FILE) -> NormBench:
    """Read the content of a result file; never unpickles, never unpacks more than `LARGEST_FILE` bytes.

    Raises
    ------
    InputError
        If it is damaged or too large, comes from a newer version of normviz, or is something else.
    """
    if len(data) > largest:
        raise InputError("The file is larger than {limit} MiB", limit=largest // 2**20)
    try:
        return _opened(data)
    except InputError:
        raise
    except _DAMAGE as error:
        raise InputError("The file is damaged or is not a result of a norm benchmark") from error


def _opened(data: bytes) -> NormBench:
    archive = np.load(io.BytesIO(data), allow_pickle=False)
    if sum(entry.file_size for entry in archive.zip.infolist()) > LARGEST_FILE:
        raise InputError("The file unpacks to more than {limit} MiB", limit=LARGEST_FILE // 2**20)
    header = json.loads(archive["header"].tobytes())
    if header["kind"] != KIND:
        raise InputError("The file holds {got}, not a norm benchmark", got=str(header["kind"]))
    if not isinstance(header["format"], int) or header["format"] < 1:
        raise ValueError("the format is no number")
    if header["format"] > FILE_FORMAT:
        raise InputError(
            "The file comes from a newer version of normviz: it has format {got}, and this version reads formats up to "
            "{allowed}",
            got=header["format"],
            allowed=FILE_FORMAT,
        )
    config = BenchConfig(**header["config"])
    points = [_point(entry, archive[f"seconds_{place}"]) for place, entry in enumerate(header["points"])]
    return collect(config, points)


def _point(entry: dict[str, Any], rows: Floats) -> BenchPoint:
    far = ["far"] if entry["far_bytes"] else []
    names = [*_REFERENCES, *far, *map(str, entry["variants"])]
    times = dict(zip(names, rows, strict=True))
    copy, fresh, matmul = (times.pop(name) for name in _REFERENCES)
    beyond = times.pop("far", None)
    return BenchPoint(
        seconds=times,
        copy=copy,
        fresh=fresh,
        matmul=matmul,
        side=int(entry["side"]),
        warm_up=int(entry["warm_up"]),
        calls={str(name): int(count) for name, count in entry["calls"].items()},
        why_not={str(name): str(reason) for name, reason in entry["why_not"].items()},
        device=str(entry["device"]),
        threads=int(entry["threads"]),
        torch_version=str(entry["torch_version"]),
        finished=float(entry["finished"]),
        far=beyond,
        far_bytes=int(entry["far_bytes"]),
    )
