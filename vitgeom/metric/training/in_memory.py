"""Examples whose arrays are in memory; images that cannot be learnt from are left out, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput


@dataclass(frozen=True)
class SkippedImage:
    """An image that is left out.

    Attributes:
        row: In the arrays that were given.
        sample_id: Its name.
        reason: Which array is not finite.
    """

    row: int
    sample_id: str
    reason: str


class InMemoryExamples:
    """Arrays with one row per image.

    Args:
        arrays: By name, as :class:`vitgeom.metric.training.Examples` has them; kept as they are, not copied.
        sample_ids: Names of the images; None for their numbers.

    Attributes:
        num_images: Images that can be learnt from.
        skipped: The others.
        sample_ids: Of the images that can be learnt from.

    Raises:
        InvalidInput: No arrays, or arrays of different length.
    """

    def __init__(self, arrays: Mapping[str, Tensor], *, sample_ids: Sequence[str] | None = None) -> None:
        lengths = {name: len(array) for name, array in arrays.items()}
        if "features" not in arrays or len(set(lengths.values())) != 1:
            raise InvalidInput(
                f"arrays must hold 'features' and others with as many rows, got {lengths or 'none'}."
            )
        count = lengths["features"]
        names = [str(row) for row in range(count)] if sample_ids is None else list(sample_ids)
        if len(names) != count:
            raise InvalidInput(f"sample_ids must name all {count} images, got {len(names)} names.")
        broken = {name: ~_finite_rows(array) for name, array in arrays.items()}
        good = ~torch.stack(list(broken.values())).any(dim=0)
        self.skipped = tuple(
            SkippedImage(row, names[row], _reason(broken, row)) for row in (~good).nonzero()[:, 0].tolist()
        )
        self._rows: Int64[Tensor, " n"] = good.nonzero()[:, 0]
        self._arrays = dict(arrays)
        self.sample_ids = tuple(names[row] for row in self._rows.tolist())

    @property
    def num_images(self) -> int:
        """Images that can be learnt from."""
        return len(self._rows)

    def batch(self, rows: Int64[Tensor, " b"]) -> dict[str, Tensor]:
        """Return the arrays of these images.

        Args:
            rows: Numbers in 0 .. num_images - 1.
        """
        wanted = self._rows[rows]
        return {name: array[wanted] for name, array in self._arrays.items()}


def _finite_rows(array: Tensor) -> Bool[Tensor, " n"]:
    return torch.stack([row.isfinite().all() for row in array]) if len(array) else torch.ones(0, dtype=torch.bool)  # fmt: skip


def _reason(broken: Mapping[str, Tensor], row: int) -> str:
    return f"{', '.join(name for name, bad in broken.items() if bad[row])}: not finite"
