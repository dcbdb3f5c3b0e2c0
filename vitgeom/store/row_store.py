"""One store of rows: written in aligned ranges by single writers, sealed when complete, read only when complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vitgeom.errors import CorruptData, IncompleteData, InvalidInput, StoreError, UnknownName
from vitgeom.store.admission import admit
from vitgeom.store.array_reading import read_rows
from vitgeom.store.arrays import open_array
from vitgeom.store.commit import Marker, Markers, checked_seconds, chunk_digests
from vitgeom.store.completeness import incomplete
from vitgeom.store.declaration import Declaration
from vitgeom.store.manifest import MANIFEST, Manifest
from vitgeom.store.row_selection import selected_rows
from vitgeom.store.sample_ids import decode_ids
from vitgeom.store.schema import ArraySpec
from vitgeom.store.uri import Root


class RowStore:
    """One store of rows, whatever arrays its layout names.

    Attributes:
        root: The store's own place.
        address_path: Its path below the root of all stores.
        layout: Shapes, chunks and ranges.
    """

    def __init__(self, root: Root, *, address_path: str, declaration: Declaration) -> None:
        self.root = root
        self.address_path = address_path
        self.layout = declaration.layout
        self.markers = Markers(root, self.layout)
        self._declaration = declaration
        self._arrays: dict[tuple[str, str], Any] = {}

    @property
    def description(self) -> dict[str, Any]:
        """What determines the numbers."""
        return dict(self._declaration.description)

    @property
    def splits(self) -> dict[str, int]:
        """Rows per split."""
        return dict(self.layout.splits)

    @property
    def rows_per_range(self) -> int:
        """Rows of a unit of work."""
        return self.layout.rows_per_range

    def ranges(self, split: str) -> list[tuple[int, int]]:
        """Return all aligned (start, stop) ranges of a split."""
        return self.layout.ranges(split)

    def missing(self, split: str | None = None) -> list[tuple[str, int, int]]:
        """Return the (split, start, stop) ranges without a valid done-marker, in order.

        Args:
            split: Only this one; default all.
        """
        gaps = []
        for name in self.splits if split is None else [split]:
            done = self.markers.valid(name)
            gaps += [(name, start, stop) for start, stop in self.ranges(name) if start not in done]
        return gaps

    def marker(self, split: str, start: int) -> dict[str, Any] | None:
        """Return the done-marker of the range that starts at a row, or None.

        Raises:
            CorruptData: The marker is there but damaged.
        """
        marker = self.markers.read(split, start)
        return None if marker is None else marker.to_json()

    def write_range(
        self,
        split: str,
        start: int,
        stop: int,
        arrays: Mapping[str, np.ndarray | Sequence[str]],
        *,
        seconds: float,
        notes: Mapping[str, Any] | None = None,
        peak_bytes: int = 0,
    ) -> str:
        """Write one range: all data first, then the done-marker. Writing the same values again changes nothing.

        Memory: the range once more when it must be cast, plus a few chunks.

        Args:
            split: Which split.
            start: First row, a multiple of ``rows_per_range``.
            stop: Row after the last: the end of the chunk.
            arrays: Every array of the layout, rows first; sample ids as texts or encoded bytes.
            seconds: What computing them took, for the marker.
            notes: Small JSON values for the marker.
            peak_bytes: Largest memory of the process that computed them, for the marker; 0 if unknown.

        Returns:
            Digest of the range's content.

        Raises:
            InvalidInput: The range is not aligned, or an array is missing, unknown or misshapen.
            NumericalFailure: A value is not finite or does not fit the storage dtype; nothing was stored.
            StoreError: The range was committed before with other values (nothing is overwritten), or the place cannot be written.
        """
        self.layout.check_range(split, start, stop)
        blocks = admit(arrays, layout=self.layout, split=split, start=start, stop=stop)
        marker = Marker(
            split=split,
            start=start,
            stop=stop,
            chunks={
                spec.name: chunk_digests(blocks[spec.name], spec=spec, layout=self.layout)
                for spec in self.layout.specs
            },
            seconds=checked_seconds(seconds),
            notes=dict(notes or {}),
            peak_bytes=peak_bytes,
        )
        record = marker.to_json()
        committed = self._committed(split, start)
        if committed is not None and committed.digest != record["digest"]:
            raise StoreError(
                f"rows {start}:{stop} of split {split!r} at {self.root.uri} were committed before with other values (digest"
                f" {committed.digest[:12]}, now {marker.digest[:12]}); nothing was overwritten. Is another run at work, or did the"
                " computation change without changing the address?"
            )
        for spec in self.layout.specs:
            self.array(split, spec)[start:stop] = blocks[spec.name]
        if committed is None:
            self.markers.write(marker)
        return str(record["digest"])

    def seal(self) -> Manifest:
        """Write the manifest of a complete store and return it; sealing again changes nothing.

        Raises:
            IncompleteData: Rows are missing; they are listed.
            CorruptData: The store was sealed before with other content.
        """
        manifest = Manifest.of(
            address=self.address_path,
            description=self.description,
            markers={split: self._complete(split) for split in self._all_complete()},
        )
        if self.is_sealed:
            if self.manifest() != manifest:
                raise CorruptData(
                    f"{self.root.uri} was sealed with other content than its done-markers now say. Run `vitgeom repair`, then seal again."
                )
            return manifest
        self.root.write_json(MANIFEST, manifest.to_json())
        return manifest

    @property
    def is_sealed(self) -> bool:
        """True when there is a manifest, whole or not."""
        try:
            return self.root.get(MANIFEST) is not None
        except CorruptData:
            return True

    def manifest(self) -> Manifest:
        """Return the manifest of a sealed store.

        Raises:
            IncompleteData: The store is not sealed; missing rows are listed.
            CorruptData: The manifest is damaged.
        """
        if not self.is_sealed:
            self._all_complete()
            raise IncompleteData(
                f"{self.root.uri} is complete but not sealed. Call seal(), or run the same command again."
            )
        return Manifest.from_json(self.root.read_json(MANIFEST))

    def read(
        self,
        split: str,
        name: str,
        *,
        layer: int | None = None,
        rows: slice | Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return one array of a complete split, in the dtype of the disk. Every chunk is checked against its done-marker.

        Only the chunks of the asked layer and rows are read.

        Args:
            split: Which split.
            name: Which array (:mod:`vitgeom.store.schema`).
            layer: One layer of the backbone, from 0; default all that are stored. Only for arrays with layers.
            rows: A slice or row numbers, in the order wanted; default all.

        Returns:
            Rows first, as the registry says; without the axis of layers when ``layer`` is given.

        Raises:
            InvalidInput: The split, array, layer or a row does not exist.
            IncompleteData: The split is not complete; the missing rows are listed.
            CorruptData: A chunk is damaged; array, chunk, split and rows are named.
        """
        spec = self._stored(name)
        place = None if layer is None else self._place(spec, layer)
        chosen = selected_rows(rows, total=self.layout.rows(split), split=split)
        done = self._complete(split)
        return read_rows(
            self.array(split, spec),
            spec=spec,
            layout=self.layout,
            markers=done,
            split=split,
            rows=chosen,
            place=place,
        )

    def sample_ids(self, split: str) -> list[str]:
        """Return the names of a split's images, in order."""
        return decode_ids(self.read(split, "sample_id"))

    def array(self, split: str, spec: ArraySpec) -> Any:
        """Return the Zarr array after checking its metadata against the registry.

        Raises:
            CorruptData: The metadata is missing or differs.
        """
        if (split, spec.name) not in self._arrays:
            rows = self.layout.rows(split)
            self._arrays[split, spec.name] = open_array(
                self.root.join(split), spec=spec, layout=self.layout, rows=rows
            )
        return self._arrays[split, spec.name]

    def forget(self) -> None:
        """Read markers and metadata anew at the next question."""
        self.markers.forget()
        self._arrays.clear()

    def _committed(self, split: str, start: int) -> Marker | None:
        try:
            return self.markers.read(split, start)
        except CorruptData:
            return None

    def _all_complete(self) -> list[str]:
        self._require_none(self.missing())
        return list(self.splits)

    def _complete(self, split: str) -> dict[int, Marker]:
        done = self.markers.valid(split)
        self._require_none([(split, start, stop) for start, stop in self.ranges(split) if start not in done])
        return done

    def _require_none(self, missing: list[tuple[str, int, int]]) -> None:
        if missing:
            raise incomplete(self.root.uri, missing)

    def _stored(self, name: str) -> ArraySpec:
        """Return what is known of an array of this store.

        Raises:
            UnknownName: There is no such array; the nearest is suggested.
        """
        specs = {spec.name: spec for spec in self.layout.specs}
        if name not in specs:
            raise UnknownName("array", name, specs)
        return specs[name]

    def _place(self, spec: ArraySpec, layer: int) -> int:
        """Return where a layer stands on an array's axis of layers."""
        if not spec.has_layers:
            raise InvalidInput(f"array {spec.name!r} has no layers: leave out layer={layer}.")
        stored = self.layout.layers(spec)
        if layer not in stored:
            raise InvalidInput(
                f"array {spec.name!r} holds the layers {', '.join(map(str, stored))} (counted from 0), not layer {layer}: extract with it"
                " in token_layers."
            )
        return stored.index(layer)
