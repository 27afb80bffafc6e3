"""What is known of the cluster at one moment?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from normviz.errors import InputError
from normviz.jobs.child import ADVICE
from normviz.jobs.tasks import Tasks
from normviz.jobs.workforce import Workforce

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class Moment:
    """All that is known of a cluster; replaced as a whole, so that readers need no lock.

    Attributes
    ----------
    state, session, reason, address
        As the properties of `normviz.jobs.cluster.Cluster`.
    client, tasks
        The connection and its tasks, if the state is "ready".
    workforce
        Its workers.
    """

    state: str
    session: int = 0
    reason: InputError | None = None
    client: Client | None = None
    tasks: Tasks | None = None
    address: str = ""
    workforce: Workforce = field(default_factory=Workforce)

    def not_ready(self) -> InputError:
        """Why nothing can be sent now."""
        return self.reason or InputError("The compute cluster is still starting")


def lost() -> InputError:
    """Say that a cluster that was ready is gone."""
    return InputError("The connection to the compute cluster was lost. {advice}", advice=ADVICE)
