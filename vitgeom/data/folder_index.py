"""The index of an image folder: every usable file with class, split and hash. Made once, read by every worker."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vitgeom.data.dataset import SPLITS, Quarantined
from vitgeom.data.folder_decoding import decode_all
from vitgeom.data.folder_scan import Scan, scan_folder
from vitgeom.data.folder_splits import assign_splits, few
from vitgeom.data.folder_table import read_table
from vitgeom.data.whole_numbers import require_whole
from vitgeom.errors import InvalidInput

VERSION = 1


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One usable image.

    Attributes:
        path: Relative to the root, with "/"; also its sample id.
        label: Index into the classes.
        split: "train", "val" or "test".
        sha256: Of the file.
        group: Index into the sub-populations; -1 where there is none.
    """

    path: str
    label: int
    split: str
    sha256: str
    group: int = -1


@dataclass(frozen=True)
class FolderIndex:
    """An image folder as found at one time.

    Attributes:
        root: Where it was found.
        classes: Names of the class folders with usable images, sorted.
        entries: Usable images, sorted by path.
        quarantine: Files that were found but cannot be used.
        skipped: Kind -> how many were passed over.
        notes: How it was split, and what a reader should know.
        subpopulations: Names of the groups; empty unless a metadata file gave them.
    """

    root: str
    classes: tuple[str, ...]
    entries: tuple[FolderEntry, ...]
    quarantine: tuple[Quarantined, ...]
    skipped: Mapping[str, int]
    notes: tuple[str, ...]
    subpopulations: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Hash over (split, class, path, file hash, group) of every usable image: the same wherever the folder lies."""
        content = hashlib.sha256(f"folder v{VERSION}".encode())
        for entry in self.entries:
            record = [entry.split, self.classes[entry.label], entry.path, entry.sha256]
            if entry.group >= 0:
                record.append(self.subpopulations[entry.group])
            content.update("\0".join(record).encode() + b"\n")
        return content.hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return a mapping that ``from_json`` turns back into an equal index."""
        return {
            "version": VERSION,
            "root": self.root,
            "classes": list(self.classes),
            "entries": [
                [entry.path, entry.label, entry.split, entry.sha256, entry.group] for entry in self.entries
            ],
            "quarantine": [[item.path, item.reason] for item in self.quarantine],
            "skipped": dict(self.skipped),
            "notes": list(self.notes),
            "subpopulations": list(self.subpopulations),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FolderIndex:
        """Read what ``to_json`` wrote.

        Raises:
            InvalidInput: It is no index, or one of another version.
        """
        if data.get("version") != VERSION:
            raise InvalidInput(
                f"folder index has version {data.get('version')!r}, this code reads {VERSION}. Index the folder again."
            )
        try:
            return cls(
                root=data["root"],
                classes=tuple(data["classes"]),
                entries=tuple(FolderEntry(*entry) for entry in data["entries"]),
                quarantine=tuple(Quarantined(*item) for item in data["quarantine"]),
                skipped=dict(data["skipped"]),
                notes=tuple(data["notes"]),
                subpopulations=tuple(data.get("subpopulations", ())),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInput(
                f"folder index is not complete ({error!r}). Index the folder again."
            ) from error


def index_folder(
    root: str | os.PathLike[str],
    *,
    seed: int = 0,
    threads: int = 4,
    on_progress: Callable[[int, int], None] | None = None,
    metadata: str | None = None,
    group: str = "group",
) -> FolderIndex:
    """Decode every image of a folder once and decide the splits.

    Files that fail go to the quarantine with their reason. Without split folders each class is shared out 60/20/20; a missing val or
    test folder is replaced by a fifth of train, and ``notes`` says so. Copies of one image in a class stay in one split.

    Args:
        root: Folder with ``class/image`` or ``split/class/image``.
        seed: Decides the splits that the folder does not.
        threads: Files decoded at once.
        on_progress: Called with (files done, files in all) now and then.
        metadata: A CSV file in the folder that gives class, split and group of every image, instead of its sub-folders; see
            ``folder_table``.
        group: The column of the group, or several with "+" between.

    Raises:
        InvalidInput: The folder is missing or holds no usable images, fewer than two classes, or too few images for its splits; or
            its own splits cannot be measured (one class in train, no trained class in val or test).
    """
    require_whole("seed", seed, at_least=0)
    require_whole("threads", threads, at_least=1)
    folder = Path(root).absolute()
    table = None if metadata is None else read_table(folder, metadata, group=group)
    scan = scan_folder(folder) if table is None else table.scan
    usable, hashes = decode_all(folder, scan, threads=threads, on_progress=on_progress)
    classes = tuple(sorted({candidate.class_name for candidate in usable}))
    _require_classes(folder, classes, scan)
    label_of = {name: label for label, name in enumerate(classes)}
    placed, notes = assign_splits(usable, hashes, seed=seed)
    entries = tuple(
        FolderEntry(
            item.path,
            label_of[item.class_name],
            str(item.split),
            digest,
            -1 if table is None else table.group_of(item.path),
        )
        for item, digest in zip(placed, hashes, strict=True)
    )
    _require_splits(folder, entries, classes)
    quarantine = tuple(sorted(scan.quarantine, key=lambda item: item.path))
    return FolderIndex(
        root=str(folder),
        classes=classes,
        entries=entries,
        quarantine=quarantine,
        skipped=dict(sorted(scan.skipped.items())),
        notes=tuple(notes),
        subpopulations=() if table is None else table.subpopulations,
    )


def _require_classes(folder: Path, classes: tuple[str, ...], scan: Scan) -> None:
    if len(classes) >= 2:
        return
    passed = f"{len(scan.quarantine):,} files could not be used"
    if scan.quarantine:
        passed += f" (first: {scan.quarantine[0].path!r}, {scan.quarantine[0].reason})"
    if scan.skipped:
        passed += ", passed over: " + ", ".join(
            f"{count:,} {kind}" for kind, count in sorted(scan.skipped.items())
        )
    what = f"only one class with images, {classes[0]!r}" if classes else "no usable images"
    raise InvalidInput(
        f"image folder {str(folder)!r} has {what}; {passed}. It needs at least two sub-folders, one per class, with images in each."
    )


def _require_splits(folder: Path, entries: tuple[FolderEntry, ...], classes: tuple[str, ...]) -> None:
    counts = Counter(entry.split for entry in entries)
    for split, purpose in (("train", "training"), ("val", "validation"), ("test", "test")):
        if not counts[split]:
            raise InvalidInput(
                f"image folder {str(folder)!r} leaves no {purpose} images: {len(entries)} usable in all. Add images, so that some class "
                f"has at least three, or a folder {split!r} with images of its own."
            )
    _require_shared_classes(folder, entries, classes)


def _require_shared_classes(folder: Path, entries: tuple[FolderEntry, ...], classes: tuple[str, ...]) -> None:
    """Refuse splits on which nothing can be learned, or nothing that was learned can be measured."""
    found = {split: {classes[item.label] for item in entries if item.split == split} for split in SPLITS}
    trained = found["train"]
    if len(trained) < 2:
        raise InvalidInput(
            f"image folder {str(folder)!r} has usable training images of one class only, {few(sorted(trained))}; val and test have "
            f"{few(sorted(found['val'] | found['test']))}. Put at least two classes below its training folder."
        )
    for split in ("val", "test"):
        if not trained & found[split]:
            raise InvalidInput(
                f"image folder {str(folder)!r} has no {split} image of a class that is trained on: train has {few(sorted(trained))}; "
                f"{split} has {few(sorted(found[split]))}. Use the same class names in every split."
            )


def rows_of(index: FolderIndex, split: str) -> tuple[list[FolderEntry], np.ndarray]:
    """Return the entries of a split and their labels int64 [n]."""
    assert split in SPLITS
    entries = [entry for entry in index.entries if entry.split == split]
    return entries, np.array([entry.label for entry in entries], dtype=np.int64)
