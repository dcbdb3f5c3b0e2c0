"""Row weights of many problems that depend only on the fold a row is in.   n = rows, V = folds, P = problems."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput

MAX_FOLDS = 32_767


@dataclass(frozen=True, eq=False)
class FoldWeights:
    """Weight of row i in problem p: ``table[fold[i], p] * base[i]``; a matrix [n, P] that is never formed.

    Attributes:
        fold: Fold of each row, 0..V-1, two bytes each.
        table: Weight of each fold in each problem.
        base: Weight of each row in all problems; None: 1.
    """

    fold: Int[Tensor, " n"]
    table: Float64[Tensor, "V P"]
    base: Float64[Tensor, " n"] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, P)."""
        return len(self.fold), self.table.shape[1]

    def __len__(self) -> int:
        return len(self.fold)

    def __getitem__(self, rows: slice) -> Float64[Tensor, "b P"]:
        """Return the weights of consecutive rows."""
        weight = self.table[self.fold[rows].long()]
        return weight if self.base is None else weight * self.base[rows, None]

    def of(self, problems: Int64[Tensor, " M"] | Tensor) -> FoldWeights:
        """Return the weights of some problems, chosen by number or by mask."""
        return FoldWeights(self.fold, self.table[:, problems], self.base)

    def to(self, device: torch.device) -> FoldWeights:
        """Return the same weights elsewhere."""
        base = None if self.base is None else self.base.to(device)
        return FoldWeights(self.fold.to(device), self.table.to(device), base)

    def scaled(self) -> FoldWeights:
        """Return weights whose mean over rows is 1 in every problem.

        Raises:
            InvalidInput: A problem has no row with a positive weight.
        """
        per_fold = torch.zeros(len(self.table), dtype=torch.float64, device=self.table.device)
        base = torch.ones(len(self.fold), dtype=torch.float64, device=self.table.device)
        per_fold.index_add_(0, self.fold.long(), base if self.base is None else self.base)
        total = per_fold @ self.table
        if bool((total <= 0).any()):
            raise InvalidInput(
                f"every problem needs rows of positive weight, got none in problem {int((total <= 0).nonzero()[0])}; "
                "look at the table of fold weights and at the folds that have rows."
            )
        return FoldWeights(self.fold, self.table * (len(self.fold) / total), self.base)


def fold_weights(
    fold: Int[Tensor, " n"], *, table: Float64[Tensor, "V P"], base: Float64[Tensor, " m"] | None = None
) -> FoldWeights:
    """Return weights by fold after checking them.

    Args:
        fold: Fold of each row, 0..V-1.
        table: Non-negative weight of each fold in each problem, mostly 0 or 1.
        base: Non-negative weight of each row in all problems (m = n is checked).

    Raises:
        InvalidInput: A fold that the table does not have, or a weight that is negative or not finite.
    """
    num_folds = len(table)
    if not 1 <= num_folds <= MAX_FOLDS:
        raise InvalidInput(f"table must have 1..{MAX_FOLDS} folds, got {num_folds}.")
    if len(fold) and not 0 <= int(fold.min()) <= int(fold.max()) < num_folds:
        raise InvalidInput(
            f"fold must hold numbers 0..{num_folds - 1}, one per row of table, got {int(fold.min())}..{int(fold.max())}."
        )
    if base is not None and len(base) != len(fold):
        raise InvalidInput(f"base must have one weight per row, {len(fold)}, got {len(base)}.")
    for name, weight in (("table", table), ("base", base)):
        if weight is not None and not bool((torch.isfinite(weight) & (weight >= 0)).all()):
            raise InvalidInput(f"{name} must be finite and non-negative.")
    return FoldWeights(fold.to(torch.int16), table, base)


RowWeights = Float64[Tensor, "n w"] | FoldWeights
"""Weights [n, 1] for all problems together, [n, P] with a column each, or by fold; all know ``shape`` and slices of rows."""
