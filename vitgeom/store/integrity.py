"""Finding and removing damage: every committed byte is read again and compared with what was committed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from vitgeom.errors import CorruptData, StoreError
from vitgeom.store.arrays import METADATA, group_metadata
from vitgeom.store.chunk_reading import ChunkPlace, read_chunk
from vitgeom.store.commit import Marker, committed_chunks
from vitgeom.store.declaration import DECLARATION, load_declaration, write_missing_metadata
from vitgeom.store.failures import MissingObject
from vitgeom.store.figures import figures_key, read_figures
from vitgeom.store.manifest import MANIFEST, Manifest
from vitgeom.store.row_layout import ChunkPart
from vitgeom.store.row_store import RowStore
from vitgeom.store.schema import ArraySpec
from vitgeom.store.target_layout import TargetLayout
from vitgeom.store.uri import Root

_PARALLEL_CHUNKS = 8


@dataclass(frozen=True)
class Damage:
    """One damaged object.

    Attributes:
        array: Its array, or None for figures, a done-marker, the manifest, the declaration or a group.
        chunk: Its key below the store.
        split: Its split, or "" for the manifest and the declaration.
        start: First row that depends on it.
        stop: Row after the last.
        problem: What is wrong, as a sentence.
    """

    array: str | None
    chunk: str
    split: str
    start: int
    stop: int
    problem: str


def verify(store: RowStore) -> list[Damage]:
    """Read everything that was committed and return what is damaged; nothing is changed.

    Rows that were never committed are no damage, except in a sealed store. Cost: one read of the whole store.

    Args:
        store: Complete or not.

    Raises:
        StoreError: The place cannot be read.
    """
    store.forget()
    return [
        *_damaged_metadata(store),
        *_damaged_markers(store),
        *_damaged_manifest(store),
        *_damaged_chunks(store),
        *_damaged_figures(store),
    ]


def repair(store: RowStore) -> list[Damage]:
    """Remove what is damaged, so that running the extraction again recomputes exactly these rows; return what was found.

    Array metadata is rewritten at once, since it follows from the declaration. The manifest goes first and the chunks last: a repair
    that is interrupted leaves rows missing, never rows that only seem to be there.

    Args:
        store: Complete or not.

    Raises:
        StoreError: The place cannot be read or written.
    """
    store.forget()
    metadata = _damaged_metadata(store)
    for damage in metadata:
        _take_out(store.root, damage.chunk)
    write_missing_metadata(store.root, store.layout)
    found = [*metadata, *verify(store)]
    if len(found) > len(metadata):
        _take_out(store.root, MANIFEST)
    committed = [damage for damage in found if damage not in metadata and damage.split]
    for split, start in sorted({(damage.split, damage.start) for damage in committed}):
        _take_out(store.root, store.markers.key(split, start))
    for damage in committed:
        if damage.array is not None:
            _take_out(store.root, damage.chunk)
    store.forget()
    return found


def verify_declaration(root: Root, address_path: str) -> Damage | None:
    """Return what is wrong with a store's declaration, or None; only with a whole one can the store be opened and verified.

    Args:
        root: Where stores live.
        address_path: Path of the store below it.

    Raises:
        StoreError: The place cannot be read, or the store was written under another schema version.
    """
    problem = ""
    try:
        load_declaration(root.join(address_path), address_path=address_path)
    except CorruptData:
        problem = "the declaration is damaged"
    except StoreError as error:
        if not isinstance(error.__cause__, MissingObject):
            raise
        problem = "the declaration is missing"
    text = f"{problem}, so nothing else here can be checked; the same benchmark writes it again."
    return Damage(None, DECLARATION, "", 0, 0, text) if problem else None


def repair_declaration(root: Root, address_path: str) -> Damage | None:
    """Remove a damaged declaration, which the same extraction writes again as it was; return what was found.

    Args:
        root: Where stores live.
        address_path: Path of the store below it.

    Raises:
        StoreError: As for :func:`verify_declaration`, or the place cannot be written.
    """
    damage = verify_declaration(root, address_path)
    if damage is not None:
        _take_out(root.join(address_path), DECLARATION)
    return damage


def _take_out(here: Root, key: str) -> None:
    """Remove an object; on a disk also a folder that stands in its place."""
    here.remove(key, recursive=here.is_local)


def _damaged_metadata(store: RowStore) -> list[Damage]:
    found = []
    for split, rows in store.layout.splits:
        problem = _group_problem(store.root, split)
        if problem:
            found.append(Damage(None, f"{split}/{METADATA}", split, 0, rows, problem))
        for spec in store.layout.specs:
            try:
                store.array(split, spec)
            except CorruptData as error:
                found.append(Damage(spec.name, f"{split}/{spec.name}/{METADATA}", split, 0, rows, str(error)))
    return found


def _group_problem(here: Root, split: str) -> str:
    """Return what is wrong with the metadata of a split's group, "" when it says what the store would write."""
    try:
        data = here.get(f"{split}/{METADATA}")
        if data is None:
            return "the metadata of the group is missing."
        found, wanted = json.loads(data), json.loads(group_metadata(split=split))
        good = all(found[key] == wanted[key] for key in ("zarr_format", "node_type", "attributes"))
    except (CorruptData, ValueError, LookupError, TypeError):
        good = False
    return "" if good else "the metadata of the group is not what the store wrote."


def _damaged_markers(store: RowStore) -> list[Damage]:
    sealed = store.is_sealed
    found = []
    for split, start, stop in store.missing():
        problem = ""
        try:
            if store.markers.read(split, start) is None and sealed:
                problem = "the done-marker is missing although the store is sealed."
        except CorruptData as error:
            problem = str(error)
        if problem:
            found.append(Damage(None, store.markers.key(split, start), split, start, stop, problem))
    return found


def _damaged_manifest(store: RowStore) -> list[Damage]:
    if not store.is_sealed:
        return []
    try:
        sealed = store.manifest()
    except CorruptData as error:
        return [Damage(None, MANIFEST, "", 0, 0, str(error))]
    if store.missing():
        return []
    markers = {split: store.markers.valid(split) for split in store.splits}
    if sealed == Manifest.of(address=store.address_path, description=store.description, markers=markers):
        return []
    return [Damage(None, MANIFEST, "", 0, 0, "the manifest does not belong to the done-markers beside it.")]


def _damaged_chunks(store: RowStore) -> list[Damage]:
    with ThreadPoolExecutor(_PARALLEL_CHUNKS) as pool:
        checked = pool.map(lambda job: _check(store, *job), _committed_chunks(store))
        return [damage for damage in checked if damage is not None]


def _damaged_figures(store: RowStore) -> list[Damage]:
    """Return what is wrong with the figures beside the arrays of targets; features have none."""
    if not isinstance(store.layout, TargetLayout):
        return []
    found = []
    for split in store.splits:
        for marker in store.markers.valid(split).values():
            try:
                read_figures(store, split, marker.start)
            except CorruptData as error:
                key = figures_key(split, marker.start)
                found.append(Damage(None, key, split, marker.start, marker.stop, str(error)))
    return found


def _committed_chunks(store: RowStore) -> Iterator[tuple[ArraySpec, Marker, ChunkPart, str]]:
    for split in store.splits:
        readable = [spec for spec in store.layout.specs if _is_readable(store, split, spec)]
        for marker in store.markers.valid(split).values():
            for spec in readable:
                chunks = committed_chunks(marker, spec=spec, layout=store.layout)
                yield from ((spec, marker, part, expected) for part, expected in chunks)


def _is_readable(store: RowStore, split: str, spec: ArraySpec) -> bool:
    try:
        store.array(split, spec)
    except CorruptData:
        return False
    return True


def _check(store: RowStore, spec: ArraySpec, marker: Marker, part: ChunkPart, expected: str) -> Damage | None:
    place = ChunkPlace.of(spec, part, layout=store.layout, split=marker.split)
    try:
        read_chunk(store.array(marker.split, spec), place=place, expected=expected)
    except CorruptData as error:
        return Damage(
            spec.name, f"{marker.split}/{place.chunk}", marker.split, marker.start, marker.stop, str(error)
        )
    return None
