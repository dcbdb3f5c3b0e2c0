"""Rows of images in splits, cut into aligned ranges that single writers own, whatever arrays hold them. Pure arithmetic."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vitgeom.errors import InvalidInput
from vitgeom.store.schema import LAYER_DIMS, STORAGE_DTYPES, ArraySpec
from vitgeom.store.token_chunks import rows_per_chunk

_SPLIT_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")


class ChunkPart(NamedTuple):
    """What one chunk holds: rows [start, stop), and its place on the axis of layers (None for an array without layers)."""

    start: int
    stop: int
    place: int | None


@dataclass(frozen=True, kw_only=True)
class RowLayout(ABC):
    """What fixes every array's shape and chunks.

    Attributes:
        splits: (name, rows) pairs, sorted by name.
        storage_dtype: Of the floating-point arrays on disk.
        rows_per_range: Rows of one unit of work, and of one chunk of every array but those with all tokens, which cut a range into several
            chunks; the last range of a split may be shorter.
        sample_id_width: Bytes reserved for one sample id.
    """

    splits: tuple[tuple[str, int], ...]
    storage_dtype: str
    rows_per_range: int
    sample_id_width: int

    @property
    @abstractmethod
    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays of every split."""

    @abstractmethod
    def layers(self, spec: ArraySpec) -> list[int | None]:
        """Return the layers, from 0, in the order of an array's second axis; [None] for an array without layers."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""

    @abstractmethod
    def _lengths(self) -> dict[str, int]:
        """Return the length of every axis but that of rows."""

    @property
    def num_bytes(self) -> int:
        """Bytes of all values of a complete store; on disk the last chunk of a split is padded and each has a checksum."""
        return sum(
            math.prod(self.shape(spec, rows)) * spec.numpy_dtype(self.storage_dtype).itemsize
            for _, rows in self.splits
            for spec in self.specs
        )

    def rows(self, split: str) -> int:
        """Return the number of rows of a split.

        Raises:
            InvalidInput: The split is not part of this store.
        """
        for name, rows in self.splits:
            if name == split:
                return rows
        raise InvalidInput(
            f"split {split!r} is not in this store; it holds {', '.join(name for name, _ in self.splits)}."
        )

    def ranges(self, split: str) -> list[tuple[int, int]]:
        """Return all aligned (start, stop) ranges of a split, in order."""
        rows = self.rows(split)
        step = self.rows_per_range
        return [(start, min(start + step, rows)) for start in range(0, rows, step)]

    def check_range(self, split: str, start: int, stop: int) -> None:
        """Refuse a range that does not own its chunks.

        Raises:
            InvalidInput: The range starts off a chunk border or ends before its chunk does.
        """
        rows, step = self.rows(split), self.rows_per_range
        if 0 <= start < rows and start % step == 0 and stop == min(start + step, rows):
            return
        raise InvalidInput(
            f"rows {start}:{stop} of split {split!r} ({rows} rows) are no aligned range: start must be a multiple of {step} and"
            f" stop the end of its chunk; take one of store.ranges({split!r})."
        )

    def shape(self, spec: ArraySpec, rows: int) -> tuple[int, ...]:
        """Return an array's shape for a number of rows."""
        sizes = {**self._lengths(), "n": rows}
        return tuple(sizes[dim] for dim in spec.dims)

    def chunks(self, spec: ArraySpec) -> tuple[int, ...]:
        """Return an array's chunk shape: the rows of one range or a part of them, one layer, everything else."""
        sizes = {**self._lengths(), "n": self.chunk_rows(spec), **dict.fromkeys(LAYER_DIMS, 1)}
        return tuple(sizes[dim] for dim in spec.dims)

    def chunk_rows(self, spec: ArraySpec) -> int:
        """Return the rows of one chunk of an array: those of a range, or a divisor of them where a row is large."""
        if "N" not in spec.dims:
            return self.rows_per_range
        lengths = self._lengths()
        values = math.prod(lengths[dim] for dim in spec.dims if dim not in ("n", *LAYER_DIMS))
        row_bytes = values * spec.numpy_dtype(self.storage_dtype).itemsize
        return rows_per_chunk(self.rows_per_range, row_bytes=row_bytes)

    def places(self, spec: ArraySpec) -> list[int | None]:
        """Return the places on an array's axis of layers; [None] for an array without layers."""
        return list(range(len(self.layers(spec)))) if spec.has_layers else [None]

    def parts(self, spec: ArraySpec, start: int, stop: int) -> list[ChunkPart]:
        """Return the chunks that one range of an array consists of, layer by layer: the order of the digests in a done-marker."""
        step = self.chunk_rows(spec)
        cuts = [(first, min(first + step, stop)) for first in range(start, stop, step)]
        return [ChunkPart(*cut, place) for place in self.places(spec) for cut in cuts]

    def chunk_key(self, spec: ArraySpec, start: int, place: int | None) -> str:
        """Return the key of a chunk below its split's group, as Zarr v3 names it."""
        index = {"n": start // self.chunk_rows(spec), **dict.fromkeys(LAYER_DIMS, place or 0)}
        return "/".join([spec.name, "c", *(str(index.get(dim, 0)) for dim in spec.dims)])


def checked_rows(
    *, splits: Mapping[str, int], storage_dtype: str, rows_per_range: int, sample_id_width: int
) -> dict[str, Any]:
    """Return the fields of :class:`RowLayout` after checking every one.

    Raises:
        InvalidInput: A number is below one, a split's name is unfit for a path, or the dtype is not offered.
    """
    if not splits:
        raise InvalidInput("splits is empty: name at least one split with its number of rows.")
    for name, rows in splits.items():
        if not _SPLIT_NAME.match(name):
            raise InvalidInput(
                f"split name {name!r} must be 1-64 letters, digits, '_' or '-', the first no sign."
            )
        at_least_one(f"splits[{name!r}]", rows)
    at_least_one("rows_per_range", rows_per_range)
    at_least_one("sample_id_width", sample_id_width)
    if storage_dtype not in STORAGE_DTYPES:
        raise InvalidInput(
            f"storage_dtype must be one of {', '.join(STORAGE_DTYPES)}, got {storage_dtype!r}."
        )
    return {
        "splits": tuple(sorted((name, int(rows)) for name, rows in splits.items())),
        "storage_dtype": storage_dtype,
        "rows_per_range": int(rows_per_range),
        "sample_id_width": int(sample_id_width),
    }


def at_least_one(label: str, value: object) -> None:
    """Refuse what is no whole number from 1 on.

    Args:
        label: The argument.
        value: What was given.

    Raises:
        InvalidInput: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{label} must be a whole number >= 1, got {value!r}.")
