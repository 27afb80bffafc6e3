"""What does the web process hold once, for everybody? The board of running experiments, the cluster, the store."""

from __future__ import annotations

import gc
from functools import cache
from threading import Lock, Timer

from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.store import open_store

_WARM_UP_DELAY = 3.0
"""Seconds between the first page and the start of the embedded cluster, so that the page is painted first."""

_lock = Lock()


@cache
def _board() -> Board:
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
    """Once, after the imports: take what is loaded out of the garbage collector's sight and warm the cluster up.

    Streamlit collects garbage after every script run; with a scientific stack loaded a full collection costs tens of
    milliseconds of every click (streamlit#8977).
    """
    gc.collect()
    gc.freeze()
    timer = Timer(_WARM_UP_DELAY, lambda: board().cluster.start())
    timer.daemon = True
    timer.start()
