"""Numbered sample ids that are made when asked for, so that a long split costs no memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True)
class NumberedIds(Sequence[str]):
    """The names ``prefix-000000``, ``prefix-000001``, ... as a sequence.

    Attributes:
        prefix: What all names begin with.
        length: How many there are.
    """

    prefix: str
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(self.length))]
        row = index + self.length if index < 0 else index
        if not 0 <= row < self.length:
            raise IndexError(f"row {index} of {self.length} numbered ids {self.prefix!r}")
        return f"{self.prefix}-{row:06d}"
