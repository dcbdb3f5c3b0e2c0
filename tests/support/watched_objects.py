"""A wrapper around a place that counts what is read and written, and fails where it is told to."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable

from vitgeom.store.objects import Objects
from vitgeom.store.uri import Root

Fault = Callable[[str, str], Exception | None]


class WatchedObjects:
    """Counts per key; ``fault(action, key)`` may return an error, which is raised instead of acting."""

    def __init__(self, below: Objects, *, fault: Fault = lambda action, key: None) -> None:
        self.below = below
        self.fault = fault
        self.reads: Counter[str] = Counter()
        self.writes: Counter[str] = Counter()

    def get(self, key: str) -> bytes | None:
        self._act("get", key)
        self.reads[key] += 1
        return self.below.get(key)

    def put(self, key: str, data: bytes | memoryview, *, exclusive: bool = False) -> None:
        self._act("put", key)
        self.writes[key] += 1
        self.below.put(key, data, exclusive=exclusive)

    def exists(self, key: str) -> bool:
        self._act("exists", key)
        return self.below.exists(key)

    def children(self, key: str) -> list[str]:
        self._act("list", key)
        return self.below.children(key)

    def remove(self, key: str, *, recursive: bool = False) -> None:
        self._act("remove", key)
        self.below.remove(key, recursive=recursive)

    def sweep(self, key: str) -> list[str]:
        return self.below.sweep(key)

    def _act(self, action: str, key: str) -> None:
        error = self.fault(action, key)
        if error is not None:
            raise error


def watched(root: Root, *, fault: Fault = lambda action, key: None) -> tuple[Root, WatchedObjects]:
    """The same place, watched."""
    objects = WatchedObjects(root.objects, fault=fault)
    return Root.over(objects, uri=root.uri, prefix=root.prefix), objects


def fails_on_write(number: int, *, after: int = 0) -> Fault:
    """A fault for every write after the first ``after`` ones, as the operating system would report it."""
    done = 0

    def fault(action: str, key: str) -> Exception | None:
        nonlocal done
        if action != "put":
            return None
        done += 1
        return OSError(number, os.strerror(number), key) if done > after else None

    return fault


def disk_full(*, after: int = 0) -> Fault:
    """No space left after so many writes."""
    return fails_on_write(errno.ENOSPC, after=after)
