"""The shape of one feature store: splits, widths and the aligned row ranges that single writers own. Pure arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from vitgeom.errors import InvalidInput
from vitgeom.store.schema import STORAGE_DTYPES, TOKENS, ArraySpec, specs_for
from vitgeom.store.token_chunks import rows_per_chunk

_SPLIT_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")


class ChunkPart(NamedTuple):
    """What one chunk holds: rows [start, stop), and its place on the axis of layers (None for an array without layers)."""

    start: int
    stop: int
    place: int | None


@dataclass(frozen=True)
class FeatureLayout:
    """What fixes every array's shape and chunks.

    Attributes:
        splits: (name, rows) pairs, sorted by name.
        num_layers: L.
        width: D.
        storage_dtype: Of the features on disk.
        rows_per_range: Rows of one unit of work, and of one chunk of every array but ``tokens``, which cuts a range into several chunks;
            the last range of a split may be shorter.
        sample_id_width: Bytes reserved for one sample id.
        tokens: Which tokens are stored, in the order of the registry.
        token_layers: Layers, from 0 and rising, all of whose tokens are stored.
        num_tokens: N; 0 where no layer's tokens are stored.
    """

    splits: tuple[tuple[str, int], ...]
    num_layers: int
    width: int
    storage_dtype: str
    rows_per_range: int
    sample_id_width: int
    tokens: tuple[str, ...]
    token_layers: tuple[int, ...] = ()
    num_tokens: int = 0

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
        token_layers: tuple[int, ...] = (),
        num_tokens: int = 0,
    ) -> FeatureLayout:
        """Return a layout after checking every number.

        Raises:
            InvalidInput: A number is below one, a split's name is unfit for a path, the dtype or tokens are not offered, or a layer is
                not there.
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
        _check_token_layers(token_layers, num_layers=num_layers, num_tokens=num_tokens)
        return cls(
            splits=tuple(sorted((name, int(rows)) for name, rows in splits.items())),
            num_layers=int(num_layers),
            width=int(width),
            storage_dtype=storage_dtype,
            rows_per_range=int(rows_per_range),
            sample_id_width=int(sample_id_width),
            tokens=tuple(token for token in TOKENS if token in tokens),
            token_layers=tuple(int(layer) for layer in token_layers),
            num_tokens=int(num_tokens),
        )

    @property
    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays of every split."""
        return specs_for(self.tokens, all_tokens=bool(self.token_layers))

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
        sizes = self._sizes(rows=rows, num_layers=self.num_layers, num_chosen=len(self.token_layers))
        return tuple(sizes[dim] for dim in spec.dims)

    def chunks(self, spec: ArraySpec) -> tuple[int, ...]:
        """Return an array's chunk shape: the rows of one range or a part of them, one layer, everything else."""
        sizes = self._sizes(rows=self.chunk_rows(spec), num_layers=1, num_chosen=1)
        return tuple(sizes[dim] for dim in spec.dims)

    def chunk_rows(self, spec: ArraySpec) -> int:
        """Return the rows of one chunk of an array: those of a range, or a divisor of them where a row is large."""
        if "N" not in spec.dims:
            return self.rows_per_range
        row_bytes = self.num_tokens * self.width * spec.numpy_dtype(self.storage_dtype).itemsize
        return rows_per_chunk(self.rows_per_range, row_bytes=row_bytes)

    def layers(self, spec: ArraySpec) -> list[int | None]:
        """Return the layers, from 0, in the order of an array's second axis; [None] for an array without layers."""
        if not spec.has_layers:
            return [None]
        return list(range(self.num_layers) if "L" in spec.dims else self.token_layers)

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
        index = self._sizes(rows=start // self.chunk_rows(spec), num_layers=place or 0, num_chosen=place or 0)
        whole = {"N": 0, "D": 0, "W": 0}
        return "/".join([spec.name, "c", *(str({**index, **whole}[dim]) for dim in spec.dims)])

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; nothing is said of token layers where there are none."""
        value = {**asdict(self), "splits": dict(self.splits), "tokens": list(self.tokens)}
        chosen = {"token_layers": list(value.pop("token_layers")), "num_tokens": value.pop("num_tokens")}
        return {**value, **chosen} if self.token_layers else value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FeatureLayout:
        """Return the layout that :meth:`to_json` wrote."""
        listed = {"tokens": tuple(value["tokens"]), "token_layers": tuple(value.get("token_layers", ()))}
        return cls.checked(**{**value, **listed})

    def _sizes(self, *, rows: int, num_layers: int, num_chosen: int) -> dict[str, int]:
        return {
            "n": rows,
            "L": num_layers,
            "L_sel": num_chosen,
            "N": self.num_tokens,
            "D": self.width,
            "W": self.sample_id_width,
        }


def _check_token_layers(layers: tuple[int, ...], *, num_layers: int, num_tokens: int) -> None:
    for layer in layers:
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < num_layers:
            raise InvalidInput(f"token_layers must be layers 0..{num_layers - 1}, got {layer!r}.")
    if list(layers) != sorted(set(layers)):
        raise InvalidInput(f"token_layers must rise from one to the next, got {list(layers)}.")
    if layers:
        _at_least_one("num_tokens", num_tokens)
    elif num_tokens:
        raise InvalidInput(
            f"num_tokens={num_tokens!r} without token_layers: name the layers whose tokens are stored."
        )


def _at_least_one(label: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{label} must be a whole number >= 1, got {value!r}.")
