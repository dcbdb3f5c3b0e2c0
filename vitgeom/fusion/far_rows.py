"""Rows that a fitted classifier can say nothing of, because its float32 arithmetic overflows on them.   b = rows of a block."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput


def refuse_overflow(out: Float[Tensor, "b _"], *, first_row: int) -> None:
    """Raise if a row has a NaN where a class or a latent should be told.

    Features may be finite and still so far from those of training that sums of them are infinite; an arg max over NaN would be a class
    that nobody chose.

    Args:
        out: What was computed of consecutive rows: log probabilities (minus infinity is allowed) or latents.
        first_row: Number of the first of them.

    Raises:
        InvalidInput: A value is NaN; the first such row is named.
    """
    bad = torch.isnan(out).any(dim=1).nonzero()[:, 0]
    if len(bad):
        raise InvalidInput(
            f"X must be of the same scale as the training rows, got values that overflow float32, first in row {first_row + int(bad[0])}; "
            "are these features of the same backbone, and not scaled?"
        )
