"""Is a result stored, as far as a page can wait for the answer?"""

from __future__ import annotations

import threading
from collections import OrderedDict
from time import monotonic

from normviz.errors import InputError
from normviz.jobs.store import Store

_BELIEVED_SECONDS = 2.0  # how long an answer of the store is believed
_REST_SECONDS = 30.0  # how long a store that did not answer is left alone


class Known:
    """What a store said lately; may be asked from any thread.

    Parameters
    ----------
    store
        Which store.
    remembered
        How many answers are kept.
    """

    def __init__(self, store: Store, remembered: int) -> None:
        self._store = store
        self._remembered = remembered
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, tuple[float, bool]] = OrderedDict()
        self._rests_until = 0.0

    def has(self, digest: str) -> bool:
        """Whether the store has a result; one that cannot be read has none, and is not asked again for a while."""
        now = monotonic()
        with self._lock:
            asked, stored = self._answers.get(digest, (-_BELIEVED_SECONDS, False))
            if now - asked < _BELIEVED_SECONDS:
                return stored
            if now < self._rests_until:
                return False
        try:
            stored, rest = self._store.has(digest), 0.0
        except InputError:
            stored, rest = False, _REST_SECONDS
        with self._lock:
            self._rests_until = monotonic() + rest
            self._answers[digest] = (now, stored)
            while len(self._answers) > self._remembered:
                self._answers.popitem(last=False)
        return stored
