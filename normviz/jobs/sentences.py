"""Why does a job not go on, in words?"""

from __future__ import annotations

from normviz.errors import InputError
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import Job

_LONGEST_REASON = 300  # characters of an exception's text that a person is shown


def shortage(cluster: Cluster, job: Job) -> InputError | None:
    """Why no worker of a cluster that is ready can take the job's slices."""
    if cluster.threads == 0:
        return InputError("The compute cluster has no workers yet")
    if cluster.slots(job.resources) == 0:
        needed = " ".join(f"{name}={amount:g}" for name, amount in job.resources.items())
        return InputError(
            "No worker of the compute cluster offers {needed}. Start one with `dask worker {address} --resources "
            "{needed}`, or choose another device",
            needed=needed,
            address=cluster.address,
        )
    return None


def interruption(lost: str, job: Job) -> InputError:
    """What a job was interrupted by: its "worker" or the "cluster" is gone."""
    done, total = len(job.points), job.total
    if lost == "worker":
        return InputError(
            "A compute worker stopped in the middle, out of memory or killed, after {done} of {total} parts",
            done=done,
            total=total,
        )
    return InputError(
        "The connection to the compute cluster was lost after {done} of {total} parts", done=done, total=total
    )


def sentence(error: BaseException) -> InputError:
    """An error as a person reads it: never a traceback."""
    if isinstance(error, InputError):
        return error
    text = " ".join(str(error).split())
    if len(text) > _LONGEST_REASON:
        text = text[:_LONGEST_REASON] + " …"
    return InputError(
        "The computation stopped with an error: {reason}", reason=f"{type(error).__name__}: {text}".rstrip(": ")
    )
