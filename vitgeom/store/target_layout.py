"""The shape of one store of targets: the directions and tokens to which a decoder's output reacts, image by image. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vitgeom.store.row_layout import RowLayout, at_least_one, checked_rows
from vitgeom.store.schema import TARGETS, ArraySpec

KIND = "targets"


@dataclass(frozen=True, kw_only=True)
class TargetLayout(RowLayout):
    """What fixes every array's shape and chunks in a store of targets.

    Attributes:
        num_tokens: N, prefix tokens included.
        width: D.
        rank: R, the directions that are stored per image.
    """

    num_tokens: int
    width: int
    rank: int

    @classmethod
    def checked(
        cls,
        *,
        splits: Mapping[str, int],
        num_tokens: int,
        width: int,
        rank: int,
        storage_dtype: str,
        rows_per_range: int,
        sample_id_width: int,
    ) -> TargetLayout:
        """Return a layout after checking every number.

        Raises:
            InvalidInput: A number is below one, a split's name is unfit for a path, or the dtype is not offered.
        """
        rows = checked_rows(
            splits=splits,
            storage_dtype=storage_dtype,
            rows_per_range=rows_per_range,
            sample_id_width=sample_id_width,
        )
        for label, value in (("num_tokens", num_tokens), ("width", width), ("rank", rank)):
            at_least_one(label, value)
        return cls(**rows, num_tokens=num_tokens, width=width, rank=rank)

    @property
    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays of every split."""
        return tuple(TARGETS.values())

    def layers(self, spec: ArraySpec) -> list[int | None]:
        """Return [None]: no array of targets has layers."""
        return [None]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "splits": dict(self.splits), "kind": KIND}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TargetLayout:
        """Return the layout that :meth:`to_json` wrote.

        Raises:
            KeyError: It is of another kind.
        """
        if value["kind"] != KIND:
            raise KeyError(value["kind"])
        return cls.checked(**{key: given for key, given in value.items() if key != "kind"})

    def _lengths(self) -> dict[str, int]:
        return {"N": self.num_tokens, "D": self.width, "R": self.rank, "W": self.sample_id_width}
