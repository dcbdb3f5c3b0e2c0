"""Task: index an image folder once and keep the index beside the features, where every worker can read it.

The index is found again by a fingerprint of the folder's listing (names, sizes, times of change), which opens no file. A folder that
changed gets a new index; features are addressed by content, so an index that was made twice costs time and changes nothing.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from tasks.footprint import peak_bytes
from tasks.receipt import Receipt
from tasks.request import Request
from vitgeom.data import DatasetRef
from vitgeom.data.folder_index import VERSION, FolderIndex, index_folder
from vitgeom.data.folder_scan import scan_folder
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

SCRATCH = "memory://vitgeom-index"


class IndexRequest(Request):
    """The folder ``root``, indexed for the store at ``store``; ``seed`` decides the splits that the folder does not."""

    task: ClassVar[str] = "index_dataset"

    store: str
    root: str
    seed: int = Field(default=0, ge=0)

    @property
    def key(self) -> str:
        """The folder."""
        return self.root


def run(request: IndexRequest) -> Receipt:
    """Return where the index of a folder lies, making it if the folder is new or has changed.

    Returns:
        ``uri`` of the index and ``digest`` of the folder's content; ``detail`` holds the reference of the dataset, the class names,
        and what could not be used.

    Raises:
        InvalidInput: The folder is missing or holds no usable images; see ``index_folder``.
        StoreError: The store cannot be written.
    """
    began = time.perf_counter()
    folder = Path(request.root).absolute()
    store, place = Root(request.store), _place(folder, request.seed)
    cached = store.exists(place)
    if not cached:
        store.write_json(place, index_folder(folder, seed=request.seed).to_json())
    index = FolderIndex.from_json(store.read_json(place))
    return Receipt(
        task=request.task,
        key=request.key,
        uri=f"{store.uri}/{place}",
        digest=index.digest,
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        cached=cached,
        rows=len(index.entries),
        detail=_detail(index, DatasetRef.from_options("folder", root=folder, index=f"{store.uri}/{place}")),
    )


def look(request: IndexRequest) -> Receipt:
    """Do as ``run`` without writing to the store: an index that is not there yet is made in memory, for this process alone.

    Raises:
        InvalidInput: The folder is missing or holds no usable images; see ``index_folder``.
        StoreError: The store cannot be read.
    """
    known = Root(request.store).exists(_place(Path(request.root).absolute(), request.seed))
    return run(request if known else request.model_copy(update={"store": SCRATCH}))


def _place(folder: Path, seed: int) -> str:
    """Return where the index of a folder in its present state lies in a store."""
    label = DatasetRef.from_options("folder", root=folder).slug
    return f"indexes/{label}-{_listing(folder, seed)[:16]}.json"


def _detail(index: FolderIndex, dataset: DatasetRef) -> dict[str, Any]:
    return {
        "dataset": dataset.to_json(),
        "classes": list(index.classes),
        "quarantine": [[item.path, item.reason] for item in index.quarantine],
        "skipped": dict(index.skipped),
        "notes": list(index.notes),
    }


def _listing(folder: Path, seed: int) -> str:
    """Return a fingerprint of everything that is known about the folder without opening a file."""
    scan = scan_folder(folder)
    files = [[item.path, *_state(folder / item.path)] for item in scan.candidates]
    refused = sorted([item.path, item.reason] for item in scan.quarantine)
    return fingerprint(
        {"version": VERSION, "seed": seed, "files": files, "refused": refused, "skipped": dict(scan.skipped)}
    )


def _state(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns
