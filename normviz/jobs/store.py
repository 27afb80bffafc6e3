"""Where do finished results stay, so that nothing is computed twice?"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from normviz.errors import InputError
from normviz.text import N_

SUFFIX = ".npz"  # the format of every result so far; the store itself never looks inside
_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_UNREADABLE = N_("The result store {url} cannot be read: {reason}")
_UNWRITABLE = N_("The result store {url} cannot be written: {reason}")
# A page waits for the store: one that does not answer is given up soon (s3fs by itself tries for twenty seconds).
_S3 = {"config_kwargs": {"connect_timeout": 3, "read_timeout": 10, "retries": {"total_max_attempts": 2}}}
_OPTIONS: dict[str, dict[str, Any]] = {"s3": _S3, "s3a": _S3}
_OBJECT_STORES = frozenset({"abfs", "abfss", "az", "gcs", "gs", "s3", "s3a"})
_STALE_SECONDS = 3600.0  # a temporary file this old belongs to a process that died while it wrote


class Store:
    """Results by digest, each in one immutable file.

    A result appears whole or not at all in a local folder, where it is renamed into place, and in object stores
    (s3://, gs://, abfs://) and memory://, where one call writes a whole object. Other file systems that fsspec
    reaches, such as sftp://, may show half of a result while it is written, or after its writer died: readers take
    what they cannot read for absent, and write it anew.

    Nothing is touched until the first `get` or `put`, so an unusable address never stops a program from starting.

    Parameters
    ----------
    url
        A folder, or any address that fsspec knows: file://, memory://, s3://bucket/folder.
    max_bytes
        Bound on the size of a local folder; the least recently used results make room. A remote store is bounded by
        its owner.
    """

    def __init__(self, url: str, *, max_bytes: int = 2**30) -> None:
        if max_bytes < 1:
            raise InputError("max_bytes is a whole number of at least 1; got {got}", got=max_bytes)
        self.url = url
        self.max_bytes = max_bytes

    @cached_property
    def _place(self) -> tuple[Any, str, bool]:
        """File system, root in it, and whether it is a local folder."""
        import fsspec
        from fsspec.implementations.local import LocalFileSystem

        protocol = fsspec.utils.get_protocol(self.url)
        own = fsspec.config.conf.get(protocol, {})
        options = {name: value for name, value in _OPTIONS.get(protocol, {}).items() if name not in own}
        system, root = fsspec.url_to_fs(self.url, **options)
        return system, root.rstrip("/") or "/", isinstance(system, LocalFileSystem)

    def get(self, digest: str) -> bytes | None:
        """The stored result, or None.

        Raises
        ------
        InputError
            If the digest is not hexadecimal or the store cannot be read.
        """
        name = _checked(digest) + SUFFIX
        with self._trouble_as_a_sentence(_UNREADABLE):
            system, root, local = self._place
            path = f"{root}/{name}"
            try:
                data = bytes(system.cat_file(path))
            except (FileNotFoundError, NotADirectoryError):
                return None
            if local:
                with contextlib.suppress(OSError):  # a read-only store serves results all the same
                    os.utime(path)
        return data

    def has(self, digest: str) -> bool:
        """Whether there is a result, damaged or not.

        Raises
        ------
        InputError
            If the digest is not hexadecimal or the store cannot be read.
        """
        name = _checked(digest) + SUFFIX
        with self._trouble_as_a_sentence(_UNREADABLE):
            system, root, _ = self._place
            try:
                return bool(system.info(f"{root}/{name}")["type"] == "file")
            except (FileNotFoundError, NotADirectoryError):
                return False

    def put(self, digest: str, data: bytes) -> None:
        """Store a result; what was there under its digest is replaced.

        Raises
        ------
        InputError
            If the digest is not hexadecimal, the result is larger than the whole store may be, or the store cannot
            be written.
        """
        name = _checked(digest) + SUFFIX
        with self._trouble_as_a_sentence(_UNWRITABLE):
            system, root, local = self._place
            if not local:
                # An object store has no folders, and a bucket that is not there is a wrong address.
                if _OBJECT_STORES.isdisjoint(_protocols(system)):
                    system.makedirs(root, exist_ok=True)
                system.pipe_file(f"{root}/{name}", data)
                return
            if len(data) > self.max_bytes:
                raise InputError(
                    "A result of {size} bytes does not fit into the result store, which holds {allowed} bytes",
                    size=len(data),
                    allowed=self.max_bytes,
                )
            folder = Path(root)
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder / name, data)
            self._evict(folder, keep=name)

    def discard(self, digest: str) -> None:
        """Remove a result if it is there.

        Raises
        ------
        InputError
            If the digest is not hexadecimal or the store cannot be written.
        """
        name = _checked(digest) + SUFFIX
        with self._trouble_as_a_sentence(_UNWRITABLE), contextlib.suppress(FileNotFoundError):
            system, root, _ = self._place
            system.rm_file(f"{root}/{name}")

    @contextlib.contextmanager
    def _trouble_as_a_sentence(self, template: str) -> Iterator[None]:
        """Say whatever goes wrong in one of two sentences."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            raise InputError(template, url=self.url, reason=_why(error)) from error

    def _evict(self, folder: Path, *, keep: str) -> None:
        """Remove the least recently used results until the folder is within its bound, never the one just written."""
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process may evict at the same time
                    status = entry.stat()
                    if entry.name.endswith(SUFFIX):
                        found.append((entry.name != keep, status.st_mtime_ns, status.st_size, entry.path))
                    elif entry.name.endswith(".part") and time.time() - status.st_mtime > _STALE_SECONDS:
                        os.unlink(entry.path)
        total = sum(size for _, _, size, _ in found)
        for other, _, size, path in sorted(found, key=lambda item: item[1]):
            if total <= self.max_bytes:
                return
            if other:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                total -= size


def open_store() -> Store:
    """The store that NORMVIZ_STORE names, else the `normviz` folder in the user's cache folder."""
    return Store(os.environ.get("NORMVIZ_STORE", "").strip() or str(_cache_folder() / "normviz" / "results"))


def _cache_folder() -> Path:
    try:
        home = Path.home()
    except RuntimeError:  # a container's user without a home
        return Path(tempfile.gettempdir())
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)


def _checked(digest: str) -> str:
    """The digest, which becomes a file name."""
    if not _DIGEST.fullmatch(digest):
        raise InputError("A digest has 8 to 128 hexadecimal digits (0-9, a-f); got {got}", got=repr(digest[:200]))
    return digest


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.stem}-{uuid.uuid4().hex}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _why(error: Exception) -> str:
    """What the operating system says, without the path that the sentence already names."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}"
