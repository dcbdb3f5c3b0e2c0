"""``folder``: images of the user's own, one sub-folder per class."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, Split
from vitgeom.data.decode import decode_image
from vitgeom.data.folder_index import FolderEntry, FolderIndex, index_folder, rows_of
from vitgeom.errors import InvalidInput
from vitgeom.store.uri import Root


def open_folder(
    *, root: str, index: str | None = None, seed: int = 0, metadata: str | None = None, group: str = "group"
) -> ImageDataset:
    """Open a folder of images.

    Args:
        root: The folder: ``class/image``, or ``train/class/image`` with ``val`` and ``test`` beside it.
        index: URI of a stored index (``index_folder(root).to_json()``); without it every file is decoded now.
        seed: Decides the splits that the folder does not; an index has decided already.
        metadata: A CSV file in the folder that gives class, split and group of every image, instead of its sub-folders; see
            ``folder_table``. An index has read it already.
        group: The column of the group, or several with "+" between.

    Raises:
        InvalidInput: The folder or the index cannot be used; see ``index_folder``.
        StoreError: The index cannot be read.
    """
    if index is None:
        found = index_folder(root, seed=seed, metadata=metadata, group=group)
    else:
        found = stored_index(index)
    folder = Path(root)
    source = f"image folder {folder.name!r}, {len(found.entries):,} images; {'; '.join(found.notes)}"
    return ImageDataset(
        name="folder",
        digest=found.digest,
        classes=found.classes,
        splits={split: _split(folder, found, split) for split in SPLITS},
        quarantine=found.quarantine,
        source=source,
        skipped=found.skipped,
        subpopulations=found.subpopulations,
    )


def stored_index(uri: str) -> FolderIndex:
    """Read an index of a folder.

    Args:
        uri: Full path or URL.

    Raises:
        InvalidInput: It is no index, or no full path.
        StoreError: It cannot be read.
    """
    parent, _, name = uri.rpartition("/")
    if not parent or not name:
        raise InvalidInput(f"option 'index' must be the full path or URL of a stored index, got {uri!r}.")
    return FolderIndex.from_json(Root(parent).read_json(name))


def _split(folder: Path, index: FolderIndex, split: str) -> Split:
    entries, labels = rows_of(index, split)
    return entries_split(folder, entries, labels=labels)


def entries_split(folder: Path, entries: Sequence[FolderEntry], *, labels: np.ndarray) -> Split:
    """Return a split whose rows are files of a folder; each is checked against its indexed hash when it is read.

    Args:
        folder: The root of the index.
        entries: One per row.
        labels: int64, one per row.
    """

    def read(row: int) -> Image.Image:
        return decode_image(_unchanged_bytes(folder, entries[row]))

    return Split(
        sample_ids=[entry.path for entry in entries],
        labels=labels,
        groups=np.array([entry.group for entry in entries], dtype=np.int64),
        read=read,
    )


def _unchanged_bytes(folder: Path, entry: FolderEntry) -> bytes:
    """Read a file and check that it is the one that was indexed: labels and addresses rest on that."""
    path = folder / entry.path
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"image {str(path)!r} cannot be read any more ({error.strerror}). Index the folder again."
        ) from error
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise InvalidInput(
            f"image {str(path)!r} has changed since the folder was indexed. Index the folder again."
        )
    return data
