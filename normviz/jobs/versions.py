"""Do a cluster's scheduler and workers have what this process has, in versions that work together?"""

from __future__ import annotations

import asyncio
import pkgutil
import platform
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from normviz.errors import InputError
from normviz.text import N_

if TYPE_CHECKING:
    from distributed import Client

_ANSWER_SECONDS = 5.0
_FIRST = 1  # a major version: NumPy's pickled arrays, torch's results
_TWO = 2  # Python's bytecode, and distributed's protocol, which changes from month to month
_WHOLE = 99

# How many of a version's numbers have to agree. A build, such as torch's +cu130, is no part of them.
PACKAGES: Mapping[str, int] = {"Python": _TWO, "distributed": _TWO, "numpy": _FIRST, "torch": _FIRST, "normviz": _WHOLE}
_FOR_WORKERS_ONLY = ("torch",)  # a scheduler also unpacks what is sent to workers, but measures nothing

Versions = Mapping[str, str]


def versions_here() -> dict[str, str]:
    """The version of each of `PACKAGES` in this process; what is missing is left out."""
    found = {}
    for package in PACKAGES:
        function, argument = _question(package)
        try:
            found[package] = function(*argument)
        except ImportError:
            continue
    return found


async def ask(client: Client, workers: Iterable[str]) -> Mapping[str, Versions]:
    """What the scheduler and these workers have, by address; "" stands for a missing package.

    Who does not answer within some seconds is left out: a worker may have ended, or be too busy to speak.
    """
    asked = list(workers)
    answers = await asyncio.gather(*(_ask_all(client, asked, package) for package in PACKAGES))
    found: dict[str, dict[str, str]] = {}
    for package, answer in zip(PACKAGES, answers, strict=True):
        for address, version in answer.items():
            found.setdefault(address, {})[package] = version
    return found


def check(found: Mapping[str, Versions], scheduler: str) -> None:
    """Refuse a cluster that lacks a package or has one that does not work together with this process's.

    Parameters
    ----------
    found
        As from `ask`.
    scheduler
        Which of the addresses is the scheduler's.

    Raises
    ------
    InputError
        Which package, in which versions, and what to do.
    """
    here = versions_here()
    for address, packages in found.items():
        for package, there in packages.items():
            values = {
                "who": N_("scheduler") if address == scheduler else N_("worker"),
                "address": address,
                "package": package,
                "here": here.get(package, "?"),
            }
            if not there:
                raise InputError(
                    "The {who} {address} of the compute cluster has no {package}; this process has {here}. "
                    "Install that version there and start the {who} again.",
                    **values,
                )
            if package in here and not _agree(package, there, here[package]):
                raise InputError(
                    "The {who} {address} of the compute cluster has {package} {there}; this process has {here}. "
                    "Install the same version on both and start them again.",
                    there=there,
                    **values,
                )


def summary(found: Mapping[str, Versions]) -> str:
    """All versions that were found, those of the same package side by side."""
    rows = {package: sorted({packages.get(package, "") for packages in found.values()} - {""}) for package in PACKAGES}
    return ", ".join(f"{package} {' and '.join(versions)}" for package, versions in rows.items() if versions)


def _agree(package: str, one: str, other: str) -> bool:
    numbers = PACKAGES[package]
    first, second = (version.partition("+")[0].split(".")[:numbers] for version in (one, other))
    return first == second


def _question(package: str) -> tuple[Callable[..., str], tuple[str, ...]]:
    """What tells a version. Only functions of the standard library, which pickle finds where normviz is missing."""
    if package == "Python":
        return platform.python_version, ()
    if package == "normviz":  # a clone on the import path is not known to importlib.metadata
        return pkgutil.resolve_name, ("normviz:__version__",)
    return metadata.version, (package,)


async def _ask_all(client: Client, workers: list[str], package: str) -> dict[str, str]:
    function, arguments = _question(package)
    answers: dict[str, Any] = {}

    async def ask_scheduler() -> None:
        if package not in _FOR_WORKERS_ONLY:
            answers[client.scheduler.address] = await _answer(client.run_on_scheduler(function, *arguments))

    async def ask_workers() -> None:
        if workers:
            found = await _answer(client.run(function, *arguments, workers=workers, on_error="return"))
            answers.update(found if isinstance(found, dict) else {})

    await asyncio.gather(ask_scheduler(), ask_workers())
    versions = {address: "" if isinstance(answer, ImportError) else answer for address, answer in answers.items()}
    return {address: version for address, version in versions.items() if isinstance(version, str)}


async def _answer(question: Awaitable[Any]) -> Any:
    try:
        return await asyncio.wait_for(question, _ANSWER_SECONDS)
    except Exception as error:
        return error
