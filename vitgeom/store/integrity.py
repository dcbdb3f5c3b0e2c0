"""Finding and removing damage: every committed byte is read again and compared with what was committed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from vitgeom.errors import CorruptData
from vitgeom.store.arrays import METADATA
from vitgeom.store.chunk_reading import ChunkPlace, read_chunk
from vitgeom.store.commit import Marker
from vitgeom.store.declaration import write_missing_metadata
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.manifest import MANIFEST, Manifest
from vitgeom.store.schema import ArraySpec

_PARALLEL_CHUNKS = 8


@dataclass(frozen=True)
class Damage:
    """One damaged object.

    Attributes:
        array: Its array, or None for a done-marker, the manifest or a group.
        chunk: Its key below the store.
        split: Its split, or "" for the manifest.
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


def verify(store: FeatureStore) -> list[Damage]:
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
    ]


def repair(store: FeatureStore) -> list[Damage]:
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
        store.root.remove(damage.chunk)
    write_missing_metadata(store.root, store.layout)
    found = [*metadata, *verify(store)]
    if len(found) > len(metadata):
        store.root.remove(MANIFEST)
    committed = [damage for damage in found if damage not in metadata and damage.split]
    for split, start in sorted({(damage.split, damage.start) for damage in committed}):
        store.markers.remove(split, start)
    for damage in committed:
        if damage.array is not None:
            store.root.remove(damage.chunk)
    store.forget()
    return found


def _damaged_metadata(store: FeatureStore) -> list[Damage]:
    found = []
    for split, rows in store.layout.splits:
        if store.root.get(f"{split}/{METADATA}") is None:
            found.append(
                Damage(None, f"{split}/{METADATA}", split, 0, rows, "the metadata of the group is missing.")
            )
        for spec in store.layout.specs:
            try:
                store.array(split, spec)
            except CorruptData as error:
                found.append(Damage(spec.name, f"{split}/{spec.name}/{METADATA}", split, 0, rows, str(error)))
    return found


def _damaged_markers(store: FeatureStore) -> list[Damage]:
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


def _damaged_manifest(store: FeatureStore) -> list[Damage]:
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


def _damaged_chunks(store: FeatureStore) -> list[Damage]:
    with ThreadPoolExecutor(_PARALLEL_CHUNKS) as pool:
        checked = pool.map(lambda job: _check(store, *job), _committed_chunks(store))
        return [damage for damage in checked if damage is not None]


def _committed_chunks(store: FeatureStore) -> Iterator[tuple[ArraySpec, Marker, int | None]]:
    for split in store.splits:
        readable = [spec for spec in store.layout.specs if _is_readable(store, split, spec)]
        for marker in store.markers.valid(split).values():
            for spec in readable:
                yield from ((spec, marker, layer) for layer in store.layout.layers(spec))


def _is_readable(store: FeatureStore, split: str, spec: ArraySpec) -> bool:
    try:
        store.array(split, spec)
    except CorruptData:
        return False
    return True


def _check(store: FeatureStore, spec: ArraySpec, marker: Marker, layer: int | None) -> Damage | None:
    place = ChunkPlace.of(spec, layout=store.layout, split=marker.split, start=marker.start, layer=layer)
    try:
        read_chunk(
            store.array(marker.split, spec), place=place, expected=marker.chunks[spec.name][layer or 0]
        )
    except CorruptData as error:
        return Damage(
            spec.name, f"{marker.split}/{place.chunk}", marker.split, marker.start, marker.stop, str(error)
        )
    return None
