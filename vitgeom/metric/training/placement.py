"""Where a training computes, and how precisely."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from vitgeom.metric.training.examples import Examples


@dataclass(frozen=True)
class Placement:
    """A device and a precision.

    Attributes:
        device: Where batches go.
        bfloat16: Whether to compute under autocast.
    """

    device: torch.device
    bfloat16: bool = False

    @classmethod
    def on(cls, device: str, *, precision: str = "float32") -> Placement:
        """Return a placement by name.

        Args:
            device: As PyTorch names it.
            precision: "float32" or "bfloat16".
        """
        return cls(torch.device(device), precision == "bfloat16")

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Compute inside the block with this precision."""
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bfloat16):
            yield

    def batch(self, examples: Examples, rows: Int64[Tensor, " b"]) -> dict[str, Tensor]:
        """Return images on the device, with their numbers as ``rows``.

        Args:
            examples: Where from.
            rows: Which.
        """
        arrays = {**examples.batch(rows), "rows": rows}
        return {name: array.to(self.device, non_blocking=True) for name, array in arrays.items()}
