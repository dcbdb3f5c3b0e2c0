"""Objects as files below a folder: a file appears whole or not at all."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from vitgeom.store.owner import Owner

PARTIAL = ".partial"
# A partial file of another machine cannot be judged by its process; after this time nobody is still writing it.
ABANDONED_AFTER_SECONDS = 3600.0

_counter = itertools.count()


class LocalFiles:
    """Keys are paths relative to ``folder``, with "/" between the parts.

    Writing goes to ``.<owner>-<number>.partial`` beside the target, is flushed to the disk, and is then renamed, so that a killed
    process or a lost power supply leaves the old file or the new one, never a mixture.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a file, or None when there is none."""
        try:
            return (self.folder / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put(self, key: str, data: bytes | memoryview, *, exclusive: bool = False) -> None:
        """Write a file whole.

        Args:
            key: Where.
            data: What.
            exclusive: Raise FileExistsError, atomically, when the file exists already.
        """
        target = self.folder / key
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.parent / f".{Owner.current().label}-{next(_counter)}{PARTIAL}"
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if exclusive:
                _move_to_free_name(partial, target)
            else:
                partial.replace(target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def exists(self, key: str) -> bool:
        """Return True when there is a file of that name."""
        return (self.folder / key).is_file()

    def children(self, key: str) -> list[str]:
        """Return the names of files and folders directly inside a folder; empty when there is no such folder, or a file in its place."""
        try:
            return [entry.name for entry in os.scandir(self.folder / key) if not entry.name.endswith(PARTIAL)]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, key: str, *, recursive: bool = False) -> None:
        """Remove a file, or with ``recursive`` a folder; nothing happens when it is not there."""
        path = self.folder / key
        try:
            if recursive and path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return

    def sweep(self, key: str) -> list[str]:
        """Remove partial files whose writer is gone and return their keys.

        Files of living processes are left alone, so sweeping beside running writers is safe.
        """
        removed = []
        for path in self._partials(key):
            owner = Owner.from_label(path.name.removeprefix(".").removesuffix(PARTIAL).rpartition("-")[0])
            if _is_abandoned(path, owner):
                path.unlink(missing_ok=True)
                removed.append(path.relative_to(self.folder).as_posix())
        return sorted(removed)

    def _partials(self, key: str) -> Iterator[Path]:
        for folder, _, names in os.walk(self.folder / key):
            yield from (Path(folder) / name for name in names if name.endswith(PARTIAL))


def _move_to_free_name(partial: Path, target: Path) -> None:
    """Rename, but raise FileExistsError when the target is there."""
    try:
        os.link(partial, target)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here: an empty file takes the name first, and for a moment a reader may find it empty.
        target.open("xb").close()
        partial.replace(target)
    else:
        # Renaming one link of a file onto another would do nothing and leave both.
        partial.unlink()


def _is_abandoned(path: Path, owner: Owner | None) -> bool:
    if owner is not None and owner.is_known_dead():
        return True
    if owner is not None and owner.machine == Owner.current().machine:
        return False
    try:
        return time.time() - path.stat().st_mtime > ABANDONED_AFTER_SECONDS
    except FileNotFoundError:
        return False
