"""The shape of one feature store: splits, widths and the aligned row ranges that single writers own. Pure arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.store.schema import STORAGE_DTYPES, TOKENS, ArraySpec, specs_for

_SPLIT_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")


@dataclass(frozen=True)
class FeatureLayout:
    """What fixes every array's shape and chunks.

    Attributes:
        splits: (name, rows) pairs, sorted by name.
        num_layers: L.
        width: D.
        storage_dtype: Of the features on disk.
        rows_per_range: Rows of one chunk and of one unit of work; the last range of a split may be shorter.
        sample_id_width: Bytes reserved for one sample id.
        tokens: Which tokens are stored, in the order of the registry.
    """

    splits: tuple[tuple[str, int], ...]
    num_layers: int
    width: int
    storage_dtype: str
    rows_per_range: int
    sample_id_width: int
    tokens: tuple[str, ...]

    @classmethod
    def checked(
        cls,
        *,
        splits: Mapping[str, int],
        num_layers: int,
        width: int,
        storage_dtype: str,
        rows_per_range: int,
        sample_id_width: int,
        tokens: tuple[str, ...],
    ) -> FeatureLayout:
        """Return a layout after checking every number.

        Raises:
            InvalidInput: A number is below one, a split's name is unfit for a path, or the dtype or tokens are not offered.
        """
        if not splits:
            raise InvalidInput("splits is empty: name at least one split with its number of rows.")
        for name, rows in splits.items():
            if not _SPLIT_NAME.match(name):
                raise InvalidInput(
                    f"split name {name!r} must be 1-64 letters, digits, '_' or '-', the first no sign."
                )
            _at_least_one(f"splits[{name!r}]", rows)
        for label, value in (
            ("num_layers", num_layers),
            ("width", width),
            ("rows_per_range", rows_per_range),
            ("sample_id_width", sample_id_width),
        ):
            _at_least_one(label, value)
        if storage_dtype not in STORAGE_DTYPES:
            raise InvalidInput(
                f"storage_dtype must be one of {', '.join(STORAGE_DTYPES)}, got {storage_dtype!r}."
            )
        specs_for(tokens)
        if not tokens:
            raise InvalidInput(f"tokens is empty: choose from {', '.join(TOKENS)}.")
        return cls(
            splits=tuple(sorted((name, int(rows)) for name, rows in splits.items())),
            num_layers=int(num_layers),
            width=int(width),
            storage_dtype=storage_dtype,
            rows_per_range=int(rows_per_range),
            sample_id_width=int(sample_id_width),
            tokens=tuple(token for token in TOKENS if token in tokens),
        )

    @property
    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays of every split."""
        return specs_for(self.tokens)

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
        sizes = {"n": rows, "L": self.num_layers, "D": self.width, "W": self.sample_id_width}
        return tuple(sizes[dim] for dim in spec.dims)

    def chunks(self, spec: ArraySpec) -> tuple[int, ...]:
        """Return an array's chunk shape: the rows of one range, one layer, everything else."""
        sizes = {"n": self.rows_per_range, "L": 1, "D": self.width, "W": self.sample_id_width}
        return tuple(sizes[dim] for dim in spec.dims)

    def layers(self, spec: ArraySpec) -> list[int | None]:
        """Return the layers whose chunks one range of an array consists of; [None] for an array without layers."""
        return list(range(self.num_layers)) if "L" in spec.dims else [None]

    def chunk_key(self, spec: ArraySpec, start: int, layer: int | None) -> str:
        """Return the key of a chunk below its split's group, as Zarr v3 names it."""
        index = {"n": start // self.rows_per_range, "L": layer or 0, "D": 0, "W": 0}
        return "/".join([spec.name, "c", *(str(index[dim]) for dim in spec.dims)])

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "splits": dict(self.splits), "tokens": list(self.tokens)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FeatureLayout:
        """Return the layout that :meth:`to_json` wrote."""
        return cls.checked(**{**value, "tokens": tuple(value["tokens"])})


def _at_least_one(label: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{label} must be a whole number >= 1, got {value!r}.")
