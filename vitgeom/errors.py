"""The error tree: every error names the argument, the value, the rule and the way out.

Each class also inherits the builtin that a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


def _restore(cls: type[VitgeomError], message: str, state: dict[str, Any]) -> VitgeomError:
    """Rebuild an error in another process without calling its own constructor."""
    error = cls.__new__(cls)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class VitgeomError(Exception):
    """Root of all errors that vitgeom raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message and attributes, so that an error survives the trip from a worker."""
        return _restore, (type(self), str(self), self.__dict__.copy())

    def __str__(self) -> str:
        """Return the message alone (``KeyError`` and ``OSError`` would decorate it)."""
        return str(self.args[0]) if self.args else ""


class InvalidInput(VitgeomError, ValueError):
    """A caller gave a value that breaks a stated rule."""


class UnknownName(InvalidInput, LookupError):
    """A name that is not in a closed list; the nearest good one is suggested."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        """Compose the message.

        Args:
            kind: What the name is of, as a reader would say it ("dataset", "parameter").
            name: The name that was given.
            known: All names that would have been right.
            hint: One more sentence on the way out.
        """
        choices = sorted(known)
        super().__init__(
            f"unknown {kind} {name!r}.{nearest(name, choices)} Known: {', '.join(choices)}. {hint}".strip()
        )


class StoreError(VitgeomError, OSError):
    """The feature store cannot be used as asked: occupied, unreachable, read-only, full."""


class StoreLocked(StoreError):
    """Another driver holds the lease on this part of the store."""


class IncompleteData(StoreError):
    """Rows that a reader needs were never committed."""

    def __init__(self, message: str, *, missing: Sequence[tuple[str, int, int]] = ()) -> None:
        """Keep the missing (split, start, stop) ranges beside the message."""
        super().__init__(message)
        self.missing = tuple(missing)


class CorruptData(StoreError):
    """Stored bytes do not match their checksum or their recorded digest."""


class NumericalFailure(VitgeomError, ArithmeticError):
    """A computation left the finite numbers or did not converge where that is not acceptable."""


class ResourceShortage(VitgeomError, RuntimeError):
    """The machine or the cluster cannot give what a task declares."""


def nearest(name: str, known: Sequence[str]) -> str:
    """Return `` Did you mean 'x'?`` for the closest known name, or an empty string.

    Args:
        name: The name that was given.
        known: The names that would have been right.
    """
    lowered = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.5)
    return f" Did you mean {lowered[matches[0]]!r}?" if matches else ""
