"""What a failed unit means: try again, try with less memory, give up this unit, or stop the whole work.

The decision is made in the driver, the same for every engine. Ray's own retries are off.
"""

from __future__ import annotations

import copy
import enum
import random
from dataclasses import dataclass

from vitgeom.errors import (
    CorruptData,
    IncompleteData,
    NumericalFailure,
    ResourceShortage,
    StoreError,
    StoreLocked,
    VitgeomError,
)

_SPREAD = random.Random()
"""Keeps many drivers from retrying in step; no result depends on it."""


class WorkerDied(VitgeomError, RuntimeError):
    """The process or the machine that computed a unit is gone."""


class WorkerOutOfMemory(ResourceShortage, MemoryError):
    """A unit needed more memory than its process could have."""


class EngineClosed(VitgeomError, RuntimeError):
    """The engine was closed before or while it worked."""


class StorageOverflow(NumericalFailure, OverflowError):
    """Features do not fit the number format of the store; a wider one is needed for the whole data set."""


class Verdict(enum.Enum):
    """What to do about an error."""

    RETRY = "the same unit again, after a pause"
    SHRINK = "the same unit again with less memory, if the task knows how"
    GIVE_UP = "this unit fails, the others go on"
    STOP = "nothing new is started"


def judge(error: BaseException) -> Verdict:
    """Decide by the kind of error alone.

    Args:
        error: What the unit raised.
    """
    if isinstance(error, (StorageOverflow, StoreLocked)):
        return Verdict.STOP
    if isinstance(error, MemoryError):
        return Verdict.SHRINK
    if isinstance(error, (IncompleteData, CorruptData, FileNotFoundError)):
        return Verdict.GIVE_UP
    if isinstance(error, (WorkerDied, StoreError, ConnectionError, TimeoutError)):
        return Verdict.RETRY
    return Verdict.GIVE_UP


@dataclass(frozen=True)
class RetryPolicy:
    """How often a unit is tried again, and how long to wait before.

    Attributes:
        retries: Tries after the first one.
        first_pause: Seconds before the second try; doubled each time.
        longest_pause: No pause is longer.
    """

    retries: int = 2
    first_pause: float = 0.5
    longest_pause: float = 30.0

    def pause(self, attempt: int) -> float:
        """Seconds to wait after try number ``attempt`` (1, 2, ...) failed, with up to a quarter of jitter."""
        base = min(self.first_pause * 2.0 ** (attempt - 1), self.longest_pause)
        return base * (1.0 + 0.25 * _SPREAD.random())


def with_message(error: BaseException, message: str) -> BaseException:
    """Return an error of the same kind, with the same attributes, that says ``message``.

    Errors that are not vitgeom's own keep their text and get the message as a note.

    Args:
        error: The original, which becomes the cause.
        message: The new text.
    """
    if not isinstance(error, VitgeomError):
        error.add_note(message)
        return error
    renamed = copy.copy(error)
    renamed.args = (message,)
    renamed.__cause__ = error
    return renamed
