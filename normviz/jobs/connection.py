"""How does this process reach a Dask scheduler, and say clearly why it cannot?"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from normviz.errors import InputError
from normviz.jobs.serve import QUIET
from normviz.jobs.workforce import Workforce, count
from normviz.text import N_

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_SECONDS = 10.0
_GREETINGS = 3
_ADDRESS_ADVICE = N_("Start it or correct the address, then try again.")


def connect(address: str) -> tuple[Client, Workforce]:
    """A client of the scheduler, and its workers.

    Raises
    ------
    InputError
        If nobody listens there, or no Dask scheduler answers within some seconds.
    """
    _knock(address)
    if "distributed" not in sys.modules:
        import dask

        dask.config.set(QUIET)
    from distributed import Client

    found: list[tuple[Client, Workforce]] = []
    trouble: list[str] = []
    late = threading.Event()

    def connect_and_count() -> None:
        try:
            client = _greeted(lambda: Client(address, timeout=_CONNECT_SECONDS, set_as_default=False, name="normviz"))
            found.append((client, count(client)))
            if late.is_set():
                client.close(timeout=1)
        except Exception as error:  # not passed on: its traceback would keep a half-built client alive
            trouble.append(f"{type(error).__name__}: {error}")

    # distributed waits for ever for a listener that accepts and then says nothing.
    caller = threading.Thread(target=connect_and_count, name="normviz-connect", daemon=True)
    caller.start()
    caller.join(2 * _CONNECT_SECONDS)
    if found:
        return found[0]
    late.set()
    raise InputError(
        "What answers at {address} is no Dask scheduler that can be used ({reason}). {advice}",
        address=address,
        reason=trouble[0] if trouble else N_("it does not speak"),
        advice=_ADDRESS_ADVICE,
    )


def _greeted(attempt: Callable[[], Client]) -> Client:
    """The client of the first attempt in which the scheduler's greeting came alone.

    distributed asserts that it does. A worker that joins at that moment sends its news in the same batch.
    """
    for _ in range(_GREETINGS - 1):
        with suppress(AssertionError):
            return attempt()
    return attempt()


def _knock(address: str) -> None:
    """Refuse an address where nobody listens; distributed itself would try for its whole timeout."""
    parts = urlsplit(address)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number
        host, port = None, None
    if parts.scheme not in ("tcp", "tls") or not host or not port:
        raise InputError(
            "{field} is an address like tcp://host:8786 or tls://host:8786; got {got}",
            field="NORMVIZ_SCHEDULER",
            got=repr(address),
        )
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise InputError(
            "No Dask scheduler answers at {address} ({reason}). {advice}",
            address=address,
            reason=error.strerror or str(error),
            advice=_ADDRESS_ADVICE,
        ) from error


async def import_modules(modules: Iterable[str]) -> None:
    """On a worker, beside its tasks: import what they will need."""

    def imports() -> None:
        for module in modules:
            import_module(module)

    await asyncio.to_thread(imports)
