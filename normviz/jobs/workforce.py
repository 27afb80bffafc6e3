"""Which workers does a cluster have, what do they offer, and can they be used?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from normviz.jobs.versions import Versions, ask, check

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class Workforce:
    """The workers of a cluster at one moment.

    Attributes
    ----------
    offers
        Of each worker, by its address: how many threads it has, and Dask's abstract resources that it offers.
    versions
        What the scheduler and the workers have installed, by address, as far as they were asked.
    """

    offers: Mapping[str, tuple[int, Mapping[str, float]]] = field(default_factory=dict)
    versions: Mapping[str, Versions] = field(default_factory=dict)

    def slots(self, resources: Mapping[str, float]) -> int:
        """How many tasks that need these resources run at a time."""
        return sum(
            min([threads, *(int(offered.get(name, 0.0) // amount) for name, amount in resources.items())])
            for threads, offered in self.offers.values()
        )


def count(client: Client) -> Workforce:
    """The workers that a scheduler has now."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return Workforce({address: (worker["nthreads"], worker["resources"]) for address, worker in workers.items()})


def checked(client: Client, now: Workforce, before: Workforce | None = None) -> Workforce:
    """The workers as they are now, after all that were not there before have told their versions.

    Raises
    ------
    InputError
        If one lacks what slices need, or has it in a version that does not work together with this process's.
    """
    scheduler = str(client.scheduler.address)
    known: dict[str, Versions] = {}
    if before is not None:
        known = {a: versions for a, versions in before.versions.items() if a in now.offers or a == scheduler}
    strangers = now.offers.keys() - known.keys()
    if before is None or strangers:
        found = client.sync(ask, client, strangers)
        check(found, scheduler)
        known = {**known, **{address: {} for address in strangers}, **found}
    return replace(now, versions=known)
