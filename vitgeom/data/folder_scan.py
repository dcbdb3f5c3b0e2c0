"""Which files of a folder are candidates for images, and how the folder says class and split.

Two layouts: ``root/class/.../image`` and ``root/split/class/.../image``. A class is the folder's name; deeper folders do not matter.
Which of the two it is must be plain: images beside a folder "train" could be classes or left-overs, so they are refused.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vitgeom.data.dataset import Quarantined
from vitgeom.data.decode import EXTENSIONS
from vitgeom.errors import InvalidInput

_NAMES_SHOWN = 5
SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
    "testing": "test",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that looks like an image.

    Attributes:
        path: Relative to the root, with "/".
        class_name: Name of its class folder.
        split: "train", "val" or "test", or None where the layout has no split folders.
    """

    path: str
    class_name: str
    split: str | None


@dataclass
class Scan:
    """What a walk over the folder found; ``candidates`` are sorted by path."""

    candidates: list[Candidate] = field(default_factory=list)
    quarantine: list[Quarantined] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def scan_folder(root: Path) -> Scan:
    """Walk a folder of images without opening any file.

    Hidden names, unknown extensions and stray files are counted in ``skipped``. Links that lead out of the root or to themselves are
    refused one by one in ``quarantine``, as are folders that may not be read; linked folders inside the root are not entered (their
    images would count twice).

    Args:
        root: The folder.

    Raises:
        InvalidInput: It is missing or not a folder, its split folders contradict each other, or images lie beside a folder "train",
            which may then be a split or a class.
    """
    _require_folder(root)
    walk = _Walk(root.resolve())
    splits = _split_folders(root)
    if splits:
        _require_no_images_beside(root, splits)
        for split, folder in splits.items():
            walk.classes(folder, split)
        walk.leftovers(set(splits.values()))
    else:
        walk.classes("", None)
    walk.scan.candidates.sort(key=lambda candidate: candidate.path)
    return walk.scan


def scan_classes(root: Path) -> Scan:
    """Walk a folder of images that has no split folders, whatever its classes are called; else like :func:`scan_folder`.

    Args:
        root: The folder.

    Raises:
        InvalidInput: It is missing or not a folder.
    """
    _require_folder(root)
    walk = _Walk(root.resolve())
    walk.classes("", None)
    walk.scan.candidates.sort(key=lambda candidate: candidate.path)
    return walk.scan


def _require_folder(root: Path) -> None:
    if not root.is_dir():
        found = "is not a folder" if root.exists() else "does not exist"
        raise InvalidInput(
            f"image folder {str(root)!r} {found}. Give a folder that holds one sub-folder of images per class."
        )


def _split_folders(root: Path) -> Mapping[str, str]:
    """Return split -> folder name; empty for the layout without split folders."""
    folders = _folders(root)
    named = [(SPLIT_NAMES[name.lower()], name) for name in folders if name.lower() in SPLIT_NAMES]
    chosen = dict(named)
    if not chosen or ("train" not in chosen and len(named) < len(folders)):
        return {}  # a class may well be called "test"
    if len(chosen) < len(named):
        names = ", ".join(name for _, name in named)
        raise InvalidInput(
            f"image folder {str(root)!r} has two folders for one split among {names}. Keep one of them."
        )
    if "train" not in chosen:
        raise InvalidInput(
            f"image folder {str(root)!r} has {', '.join(folders)} but no 'train'. Add root/train/class/image."
        )
    return chosen


def _folders(root: Path) -> list[str]:
    """Return the names of the folders in the root; os.path.isdir, because Path.is_dir raises on some links."""
    return sorted(name for name in os.listdir(root) if os.path.isdir(root / name) and name[0] != ".")


def _require_no_images_beside(root: Path, splits: Mapping[str, str]) -> None:
    """Refuse images in folders beside the split folders: either these are no splits but classes, or the images would be lost silently."""
    folders = [name for name in _folders(root) if name not in splits.values()]
    beside = [name for name in folders if not _points_inside(root, name) and _holds_images(root / name)]
    if not beside:
        return
    named = ", ".join(beside[:_NAMES_SHOWN]) + (", ..." if len(beside) > _NAMES_SHOWN else "")
    others = "1 other folder" if len(beside) == 1 else f"{len(beside):,} other folders"
    split_names = " and ".join(repr(name) for name in splits.values())
    raise InvalidInput(
        f"image folder {str(root)!r}: {split_names} would be taken as its split folders, but {others} with images lie beside "
        f"({named}). If {splits['train']!r} is a class, rename it; if all are classes, put them below train/, val/ and test/; if the "
        "others do not belong to the dataset, move them out, or let their names begin with a dot."
    )


def _points_inside(root: Path, name: str) -> bool:
    """Whether a folder is a link to a place in the root, whose images are seen there."""
    return (root / name).is_symlink() and (root / name).resolve().is_relative_to(root.resolve())


def _holds_images(folder: Path) -> bool:
    """Whether any file at any depth has the extension of an image; hidden ones do not count."""
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name[0] != "."]
        if any(os.path.splitext(name)[1].lower() in EXTENSIONS for name in files if name[0] != "."):
            return True
    return False


class _Walk:
    """One walk; collects into ``scan``."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.scan = Scan()

    def classes(self, folder: str, split: str | None) -> None:
        """Take each sub-folder of ``folder`` as a class; files beside them belong to none."""
        for entry in self._entries(folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not self._may_enter(entry, path):
                self._count_file(entry, "file outside of class folders")
            else:
                self._images(path, entry.name, split)

    def leftovers(self, used: set[str]) -> None:
        """Count what lies beside the split folders."""
        for entry in self._entries(""):
            if entry.name not in used:
                self.scan.skipped["beside the split folders"] += 1

    def _images(self, folder: str, class_name: str, split: str | None) -> None:
        for entry in self._entries(folder):
            path = f"{folder}/{entry.name}"
            if self._may_enter(entry, path):
                self._images(path, class_name, split)
            elif not entry.is_dir() and self._is_image(entry, path):
                self.scan.candidates.append(Candidate(path, class_name, split))

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """Yield what a folder holds, by name, without hidden things."""
        try:
            with os.scandir(self._root / folder) as handle:
                entries = sorted(handle, key=lambda entry: entry.name)
        except OSError as error:
            self._refuse(folder, f"folder cannot be read: {error.strerror}")
            return
        for entry in entries:
            if entry.name.startswith("."):
                self.scan.skipped["hidden"] += 1
            elif reason := _why_unreachable(entry):
                self._refuse(f"{folder}/{entry.name}" if folder else entry.name, reason)
            else:
                yield entry

    def _may_enter(self, entry: os.DirEntry[str], path: str) -> bool:
        if not entry.is_dir():
            return False
        if not entry.is_symlink():
            return True
        if self._stays_inside(entry):
            self.scan.skipped["linked folder"] += 1
        else:
            self._refuse(path, "link leads out of the folder")
        return False

    def _is_image(self, entry: os.DirEntry[str], path: str) -> bool:
        extension = os.path.splitext(entry.name)[1].lower()
        if extension not in EXTENSIONS:
            self.scan.skipped[f"extension {extension or '(none)'}"] += 1
            return False
        if entry.is_symlink() and not self._stays_inside(entry):
            self._refuse(path, "link leads out of the folder")
            return False
        if not self._is_regular(entry):
            self._refuse(path, "broken link or special file")
            return False
        if not _is_text(path):
            self._refuse(path, "the name is not valid UTF-8")
            return False
        return True

    def _count_file(self, entry: os.DirEntry[str], kind: str) -> None:
        if not entry.is_dir():
            self.scan.skipped[kind] += 1

    def _refuse(self, path: str, reason: str) -> None:
        self.scan.quarantine.append(Quarantined(path.encode(errors="replace").decode(), reason))

    def _stays_inside(self, entry: os.DirEntry[str]) -> bool:
        return Path(entry.path).resolve().is_relative_to(self._root)

    @staticmethod
    def _is_regular(entry: os.DirEntry[str]) -> bool:
        try:
            return stat.S_ISREG(entry.stat().st_mode)
        except OSError:
            return False


def _why_unreachable(entry: os.DirEntry[str]) -> str | None:
    """Return why a link cannot be followed, or None; a target that is not there is left to the checks of files."""
    if not entry.is_symlink():
        return None
    try:
        entry.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return (
            "a link that leads to itself"
            if error.errno == errno.ELOOP
            else f"link cannot be followed: {error.strerror}"
        )
    return None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
