"""How many single products with J and with its transpose a result cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Products:
    """Single products: one vector through J or J^T counts one, a block of K vectors K.

    Attributes:
        jvp: Products J v. For a square operator that is known by ``matmat`` alone, all of them.
        vjp: Products J^T u.
    """

    jvp: int = 0
    vjp: int = 0

    @property
    def total(self) -> int:
        """Both together, the unit of every budget."""
        return self.jvp + self.vjp

    def __add__(self, other: Products) -> Products:
        """Return the cost of doing both."""
        return Products(self.jvp + other.jvp, self.vjp + other.vjp)

    def to_json(self) -> dict[str, int]:
        """Return both counts and their sum."""
        return {**asdict(self), "total": self.total}


NOTHING_SPENT = Products()
