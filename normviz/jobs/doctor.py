"""What works here and what does not: versions, device, threads, result store, compute cluster?"""

from __future__ import annotations

import hashlib
import os
import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import perf_counter

from normviz import __version__
from normviz.errors import InputError
from normviz.jobs.cluster import Cluster
from normviz.jobs.serve import DEFAULT_WORKERS, worker_count
from normviz.jobs.store import open_store
from normviz.jobs.tasks import Outcome
from normviz.jobs.versions import summary

_NEEDED = ("numpy", "torch", "pandas", "fsspec", "babel")
_APP = ("streamlit", "plotly", "distributed")
_ANSWER_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was tried.

    Attributes
    ----------
    name
        What was tried.
    ok
        Whether it works.
    needed
        Whether normviz is broken without it; what only the dashboard needs is not.
    detail
        What was found, or why it does not work.
    present
        Whether it is there at all; what is there may still fail.
    """

    name: str
    ok: bool
    needed: bool
    detail: str
    present: bool = True

    @property
    def mark(self) -> str:
        """The word for how it went: "ok", "FAILED" if it is needed, else "failed", or "absent" if it is not there."""
        if self.ok or self.needed:
            return "ok" if self.ok else "FAILED"
        return "failed" if self.present else "absent"


def report() -> list[Check]:
    """Try everything that normviz stands on; takes some seconds, most of them for the cluster."""
    clustered = bool(os.environ.get("NORMVIZ_SCHEDULER", "").strip()) or find_spec("distributed") is not None
    return [
        Check(name="normviz", ok=True, needed=True, detail=f"{__version__}, Python {platform.python_version()}"),
        *(_package(name, needed=True) for name in _NEEDED),
        *(_package(name, needed=False) for name in _APP),
        _attempt("device", _device, needed=True),
        _attempt("threads", _threads, needed=True),
        _attempt("store", _store, needed=bool(os.environ.get("NORMVIZ_STORE", "").strip())),
        _attempt("cluster", _cluster, needed=clustered),
    ]


def _package(name: str, *, needed: bool) -> Check:
    try:
        return Check(name=name, ok=True, needed=needed, detail=version(name))
    except PackageNotFoundError:
        advice = "not installed" if needed else "not installed; the dashboard needs it: pip install 'normviz[app]'"
        return Check(name=name, ok=False, needed=needed, detail=advice, present=False)


def _attempt(name: str, check: Callable[[], str], *, needed: bool) -> Check:
    try:
        return Check(name=name, ok=True, needed=needed, detail=check())
    except InputError as error:
        return Check(name=name, ok=False, needed=needed, detail=str(error))
    except Exception as error:
        return Check(name=name, ok=False, needed=needed, detail=f"{type(error).__name__}: {error}")


def _device() -> str:
    from normviz.depth.device import device_name, resolve_device

    return f"auto is {device_name(resolve_device('auto'))}"


def _threads() -> str:
    import torch

    workers = worker_count() or f"one per core, at most {DEFAULT_WORKERS}"
    return f"{os.cpu_count()} cores, torch uses {torch.get_num_threads()} here; workers: {workers}, one thread each"


def _store() -> str:
    """Write a small file and read it back."""
    store, data = open_store(), os.urandom(32)
    digest = hashlib.sha256(data).hexdigest()
    store.put(digest, data)
    back = store.get(digest)
    store.discard(digest)
    if back != data:
        raise InputError("The result store {url} does not give back what was written", url=store.url)
    return f"{store.url} writes and reads"


def _cluster() -> str:
    """Start or connect, run a task on a worker, let go.

    The settings of a scheduler that NORMVIZ_SCHEDULER names are its own: how often it tries a task on another worker
    after a worker died (Dask's `allowed-failures`), workers' memory limits, and whether they are started again.
    """
    cluster, start = Cluster(), perf_counter()
    try:
        if cluster.wait() != "ready":
            raise cluster.reason or InputError("The compute cluster is still starting")
        seconds = perf_counter() - start
        if cluster.external and cluster.threads == 0:
            raise InputError("The compute cluster has no workers yet")
        outcomes: list[Outcome] = []
        answered = threading.Event()

        def then(outcome: Outcome) -> None:
            outcomes.append(outcome)
            answered.set()

        cluster.submit(platform.python_version, then=then)
        if not answered.wait(_ANSWER_SECONDS) or outcomes[0].value is None:
            raise InputError("The compute cluster at {address} does not finish a task", address=cluster.address)
        python = outcomes[0].value
        found = f"{cluster.address} ready after {seconds:.1f} s, slices at a time: {cluster.threads}, Python {python}"
        if not cluster.external:
            return found
        settings = "; allowed-failures and memory limits are that scheduler's own settings"
        return f"{found}; scheduler and workers have {summary(cluster.versions)}{settings}"
    finally:
        cluster.close()
