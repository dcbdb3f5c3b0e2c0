"""The folder of a private Ray: a short path that only we may enter, gone when its driver is, however that ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

LONGEST_BASE = 40
"""Socket paths below Ray's folder must stay under 108 characters."""

PREFIX = "vg-ray-"
LOCK = "in-use"


class RayFolder:
    """A folder that is locked as long as its driver lives; the next one removes what killed drivers left behind.

    Attributes:
        path: Where it is.
    """

    def __init__(self, base: Path | None = None) -> None:
        """Make the folder and lock it.

        Args:
            base: Where to; the system's place for temporary files, or ``/tmp`` if that is too long a path.
        """
        base = Path(tempfile.gettempdir()) if base is None else base
        if len(str(base)) > LONGEST_BASE:
            base = Path("/tmp")
        _sweep(base)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder and everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    def keep(self) -> None:
        """Leave the folder to the user, for good."""
        (self.path / LOCK).unlink()
        os.close(self._lock)


def _sweep(base: Path) -> None:
    for lock in base.glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError), lock.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
