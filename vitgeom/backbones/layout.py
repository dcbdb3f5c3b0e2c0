"""Where each kind of token sits in the sequence that a backbone's blocks see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TokenLayout:
    """Order of the tokens: class token, distillation token, registers, then patches row by row.

    A model has a class token or not, and either a distillation token or registers, never both kinds; patches always come last.
    """

    num_cls: int
    num_registers: int
    num_distill: int
    grid: tuple[int, int]

    @property
    def num_prefix(self) -> int:
        """Tokens before the first patch."""
        return self.num_cls + self.num_distill + self.num_registers

    @property
    def num_patches(self) -> int:
        """Patch tokens, rows times columns."""
        return self.grid[0] * self.grid[1]

    @property
    def num_tokens(self) -> int:
        """All tokens of one image."""
        return self.num_prefix + self.num_patches

    def to_json(self) -> dict[str, Any]:
        """Return the layout as plain JSON values."""
        return {**asdict(self), "grid": list(self.grid)}
