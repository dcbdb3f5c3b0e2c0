"""Ray's errors in our own words: what the unit raised, or that its worker is gone."""

from __future__ import annotations

from ray import exceptions

from tasks.failure import WorkerDied, WorkerOutOfMemory
from vitgeom.errors import ResourceShortage

_RAY_SAYS_GONE = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.LocalRayletDiedError,
    exceptions.ObjectLostError,
    exceptions.GetTimeoutError,
    exceptions.TaskCancelledError,
)


def translate(error: Exception, *, logs: str) -> Exception:
    """Return the error that a serial run would have raised, or one of the tree in its place.

    Args:
        error: What Ray raised for a unit.
        logs: Where the cluster's log files lie, for messages.
    """
    if isinstance(error, exceptions.RayTaskError):
        cause = error.cause if isinstance(error.cause, Exception) else error
        cause.add_note(f"In the worker: {error}")
        return cause
    if isinstance(error, exceptions.OutOfMemoryError):
        return WorkerOutOfMemory(
            f"the worker was ended because its machine ran out of memory ({_first_line(error)}). Use a smaller batch_size or "
            f"fewer workers (num_cpus, max_in_flight); Ray's logs: {logs}."
        )
    if isinstance(error, _RAY_SAYS_GONE):
        return WorkerDied(f"the worker process died ({_first_line(error)}). Ray's logs: {logs}.")
    if isinstance(error, exceptions.TaskUnschedulableError):
        return ResourceShortage(f"no machine of the cluster can run the unit ({_first_line(error)}).")
    return error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__
