"""The index of a folder of shifted test images: ``class/image`` below one folder, every file decoded once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vitgeom.data.folder_decoding import decode_all
from vitgeom.data.folder_index import FolderEntry, FolderIndex
from vitgeom.data.folder_scan import scan_classes
from vitgeom.data.whole_numbers import require_whole
from vitgeom.errors import InvalidInput, UnknownName


def index_shifted_folder(
    root: str,
    *,
    corruption: str | None = None,
    severity: int | None = None,
    threads: int = 4,
    on_progress: Callable[[int, int], None] | None = None,
) -> FolderIndex:
    """Decode every image of a test folder once; what fails is quarantined with its reason.

    All entries are in the split ``test``. The index is stored and read like that of any image folder; its classes are the folder's own.

    Args:
        root: ``root/corruption/severity/class/image``, or ``root/class/image`` where neither of the next two is given.
        corruption: Name of a folder.
        severity: Number of a folder below it.
        threads: Files decoded at once.
        on_progress: Called with (files done, files in all) now and then.

    Raises:
        UnknownName: There is no such folder; the nearest one is suggested.
        InvalidInput: The folder is missing or holds no usable images, or only one of corruption and severity is given.
    """
    require_whole("threads", threads, at_least=1)
    folder = _folder(Path(root).absolute(), corruption, severity)
    scan = scan_classes(folder)
    usable, hashes = decode_all(folder, scan, threads=threads, on_progress=on_progress)
    if not usable:
        first = (
            f" (first: {scan.quarantine[0].path!r}, {scan.quarantine[0].reason})" if scan.quarantine else ""
        )
        raise InvalidInput(
            f"folder {str(folder)!r} has no usable images; {len(scan.quarantine)} files could not be used{first}. "
            "It needs one sub-folder per class, with images in each."
        )
    classes = tuple(sorted({item.class_name for item in usable}))
    label_of = {name: label for label, name in enumerate(classes)}
    entries = tuple(
        FolderEntry(item.path, label_of[item.class_name], "test", digest)
        for item, digest in zip(usable, hashes, strict=True)
    )
    quarantine = tuple(sorted(scan.quarantine, key=lambda item: item.path))
    notes = ("all images are test images",)
    return FolderIndex(str(folder), classes, entries, quarantine, dict(sorted(scan.skipped.items())), notes)


def _folder(root: Path, corruption: str | None, severity: int | None) -> Path:
    if (corruption is None) != (severity is None):
        raise InvalidInput(
            f"options 'corruption' and 'severity' belong together, got {corruption!r} and {severity!r}. Give both, or neither for a "
            "folder of classes."
        )
    if corruption is None:
        return root
    folder = root
    for kind, name in (("corruption folder", corruption), ("severity folder", str(severity))):
        known = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
        if name not in known:
            raise UnknownName(kind, name, known, hint=f"They are the folders in {str(folder)!r}.")
        folder = folder / name
    return folder
