"""Records that the tracker could not take, kept in one local file until it can.

One JSON line per study. The file is only ever appended to or replaced as a whole, under a lock, so that two drivers lose nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.tracking_record import StudyRecord


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` (made if needed) against every other process on this machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


class TrackingQueue:
    """The waiting records of one project folder."""

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is created before the first ``add``."""
        self.path = path
        self._lock = path.with_suffix(".lock")

    def add(self, record: StudyRecord) -> None:
        """Append a record, once per key: a newer record of the same study takes the place of the older one."""
        with file_lock(self._lock):
            self._replace([*(kept for kept in self._read() if kept.key != record.key), record])

    def drain(self, deliver: Callable[[StudyRecord], object]) -> int:
        """Hand every waiting record to ``deliver`` and drop those that went through; return how many did.

        Stops at the first failure, which is raised: what was not delivered stays.
        """
        if not self.path.exists():
            return 0
        with file_lock(self._lock):
            waiting = self._read()
            delivered = 0
            try:
                for record in waiting:
                    deliver(record)
                    delivered += 1
            finally:
                self._replace(waiting[delivered:])
        return delivered

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> list[StudyRecord]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return [StudyRecord.from_json(json.loads(line)) for line in lines if line]

    def _replace(self, records: list[StudyRecord]) -> None:
        if not records:
            self.path.unlink(missing_ok=True)
            return
        partial = self.path.with_suffix(".partial")
        partial.write_text(
            "".join(json.dumps(record.to_json()) + "\n" for record in records), encoding="utf-8"
        )
        os.replace(partial, self.path)
