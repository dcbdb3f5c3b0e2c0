"""The best subspace that knows no image: what a learned one has to beat.   n = images, P = N D, R = directions of the targets, r = rank, k = r + spare directions kept.

Of all U with r orthonormal columns the top eigenvectors of M = (1/n) sum_i (1/m_i) V_i V_i^T have the largest mean alignment with the V_i. M is P x P and is not formed: a factor
A [P, k] with A A^T ~ M is carried along, joined by the images' directions some at a time and cut back to its k strongest singular vectors. Each cut takes away from the eigenvalues at most
the energy that it drops, so the sum of what was dropped bounds what the result lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.alignment import alignment, directions_of
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True, eq=False)
class ConstantSubspace:
    """One subspace for all images.

    Attributes:
        directions: U, orthonormal columns, strongest first.
        captured: Mean alignment with the images it was made from, as the factor has it.
        lacking: No subspace has a mean alignment with them above ``captured + lacking``.
        images: Images with at least one direction.
    """

    directions: Float[Tensor, "P r"]
    captured: float
    lacking: float
    images: int

    def alignment(
        self, v: Float[Tensor, "b P R"], *, num_found: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, " b"]:
        """Return the alignment of this subspace with the targets of each image.

        Args:
            v: Orthonormal columns, strongest first.
            num_found: How many there are; None for all.
        """
        return alignment(self.directions.expand(len(v), -1, -1), v, num_found=num_found)


def constant_subspace(
    batches: Iterable[Mapping[str, Tensor]], *, rank: int, spare: int = 100
) -> ConstantSubspace:
    """Return the best constant subspace of some images, going through them once.

    Memory: 8 P (k + columns of a batch) bytes. Cost: 2 P (k + columns of a batch)^2 per batch.

    Args:
        batches: "right_vectors" [b, N, D, R] and "num_found" [b], as :class:`vitgeom.metric.training.Examples` give them.
        rank: r >= 1.
        spare: Directions that are carried along beyond r; more make ``lacking`` smaller.

    Raises:
        InvalidInput: rank or spare out of range, or no image has a direction.
    """
    rank = whole_number("rank", rank, at_least=1)
    kept = rank + whole_number("spare", spare, at_least=0)
    factor, dropped, images = None, 0.0, 0
    for batch in batches:
        columns, some = _columns(batch, rank=rank)
        factor = columns if factor is None else torch.cat([factor, columns], dim=1)
        factor, lost = _cut(factor, kept=kept)
        dropped, images = dropped + lost, images + some
    if factor is None or not images:
        raise InvalidInput("batches must hold at least one image with a direction; got none.")
    if rank > len(factor):
        raise InvalidInput(f"rank must be at most N D = {len(factor)}, got {rank}.")
    squares = factor.square().sum(dim=0)
    directions, _ = torch.linalg.qr(factor[:, :rank])
    return ConstantSubspace(
        directions.float(), float(squares[:rank].sum()) / images, dropped / images, images
    )


def _columns(batch: Mapping[str, Tensor], *, rank: int) -> tuple[Tensor, int]:
    """Return the directions of all images side by side, each divided by the root of how many its image has."""
    v_BPR = batch["right_vectors"].flatten(1, 2).double()
    count_B = directions_of(v_BPR, rank=rank, num_found=batch.get("num_found"))
    v_BPR = v_BPR[:, :, :rank]
    there_BR = torch.arange(v_BPR.shape[2], device=v_BPR.device) < count_B[:, None]
    weights_BR = there_BR / count_B[:, None].clamp_min(1).sqrt()
    scaled_BPR = torch.where(there_BR[:, None, :], v_BPR, 0.0) * weights_BR[:, None, :]
    return scaled_BPR.permute(1, 0, 2).flatten(1), int((count_B > 0).sum())


def _cut(factor_PK: Tensor, *, kept: int) -> tuple[Tensor, float]:
    """Return the strongest left singular vectors times their singular values, and the energy of the others."""
    squares, turn = torch.linalg.eigh(factor_PK.mT @ factor_PK)
    squares, turn = squares.flip(0).clamp_min(0), turn.flip(1)
    return factor_PK @ turn[:, :kept], float(squares[kept:].sum())
