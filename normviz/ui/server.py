"""What does the web process hold once, for everybody? The board of running experiments, the cluster, the store."""

from __future__ import annotations

import gc
from functools import cache
from threading import Lock, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from normviz.jobs.board import Board

_SETTLING_DELAY = 3.0
"""Seconds after the first page; nothing of it may hold up that page's way to the browser."""

_lock = Lock()


@cache
def _board() -> Board:
    from normviz.jobs.board import Board
    from normviz.jobs.cluster import Cluster
    from normviz.jobs.store import open_store

    return Board(Cluster(), open_store())


def board() -> Board:
    """The one board of this process."""
    with _lock:  # `cache` alone would let two first visitors build two boards
        return _board()


def start_afresh() -> None:
    """Forget the board; the next visitor gets a new one, from the environment as it is then."""
    with _lock:
        _board.cache_clear()


@cache
def settle() -> None:
    """Once, some seconds after the first page: warm the cluster up and freeze what is loaded."""
    timer = Timer(_SETTLING_DELAY, _settle)
    timer.daemon = True
    timer.start()


def _settle() -> None:
    """Start the cluster, then take everything loaded out of the garbage collector's sight.

    Streamlit collects garbage after script runs; with a scientific stack loaded a full collection costs tens of
    milliseconds of a click (streamlit#8977).
    """
    board().cluster.start()
    gc.collect()
    gc.freeze()
