"""Probes of one layer that never saw the rows they speak about: V folds times S strengths, solved together.

n = rows, b = rows of a block, V = folds, S = strengths, D = width, K = classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.fold_weights import fold_weights
from vitgeom.probes.layer_fit import LayerFit, fit_layer
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, STREAM_CHUNK_BYTES, chunk_rows
from vitgeom.probes.row_file import Rows


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Fits that each leave one fold out.

    Attributes:
        fit: V*S probes; problem ``v * S + s`` was fitted at strength s on the rows outside fold v.
        fold: Fold of each training row.
        num_strengths: S.
    """

    fit: LayerFit
    fold: Int[Tensor, " n"]
    num_strengths: int

    def problem(self, *, fold: int, strength: int) -> int:
        """Return the place in ``fit`` of the probe that left a fold out, at a strength (both numbers from 0)."""
        return fold * self.num_strengths + strength

    def logits(self, x: Float[Tensor, "b D"], *, start: int = 0) -> Float64[Tensor, "b S K"]:
        """Return the held-out logits of training rows: each row's come from the probes that left its fold out.

        Args:
            x: Raw features of consecutive training rows.
            start: Number of the first of them.

        Raises:
            InvalidInput: More rows than were trained on.
        """
        if start < 0 or start + len(x) > len(self.fold):
            raise InvalidInput(
                f"x must hold rows of the {len(self.fold)} that were trained on, got rows {start}..{start + len(x) - 1}."
            )
        z, fold = self.fit.standardiser(x.cpu()), self.fold[start : start + len(x)]
        out = torch.empty(len(x), self.num_strengths, self.fit.bias.shape[1], dtype=torch.float64)
        for held_out in fold.unique().tolist():
            here = fold == held_out
            some = slice(held_out * self.num_strengths, (held_out + 1) * self.num_strengths)
            scores = torch.einsum("bd,sdk->bsk", z[here], self.fit.weight[some])
            out[here] = scores + self.fit.bias[some]
        return out

    def logits_blocks(
        self, x: Rows, *, block_rows: int | None = None
    ) -> Iterator[tuple[int, Float64[Tensor, "b S K"]]]:
        """Yield (first row, held-out logits) of consecutive training rows.

        Args:
            x: Raw features of all training rows, in memory or in a file.
            block_rows: Rows of a block; as many as make 16 MiB in float64 if None.
        """
        columns = self.num_strengths * self.fit.bias.shape[1]
        size = block_rows or chunk_rows(width=x.shape[1], columns=columns, chunk_bytes=STREAM_CHUNK_BYTES)
        for start in range(0, len(x), size):
            yield start, self.logits(x[start : start + size], start=start)


def out_of_fold(
    x: Rows,
    target: Int64[Tensor, " n"],
    *,
    fold: Int[Tensor, " m"],
    num_classes: int,
    l2: Float64[Tensor, " S"],
    sample_weight: Float64[Tensor, " n"] | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    byte_budget: int = DEFAULT_BYTE_BUDGET,
) -> OutOfFold:
    """Fit every strength once per fold on all rows outside it, all V*S problems sharing each pass over the features.

    The standardisation is that of all rows, shared by the folds: it sees the held-out rows' features, never their labels,
    and moves the optimum only through the penalty (a probe without one would not change at all). Stored are two bytes per
    row for the folds and no ``[n, V*S]`` weights. A class that has rows in one fold only gets next to no probability from
    the probes that left it out, as it would in any honest held-out fit.

    Args:
        x: Raw features, finite, in memory or in a file (:func:`vitgeom.probes.staged_layer.staged_layer` makes one).
        target: Class indices 0..K-1.
        fold: Fold of each row, 0..V-1, V >= 2, none empty (m = n is checked).
        num_classes: K.
        l2: Strengths, > 0.
        sample_weight: Non-negative row weights.
        tol: Relative gradient norm to reach.
        max_iter: Most Newton steps per problem.
        byte_budget: Problems are solved in batches that fit; a larger layer is streamed.

    Raises:
        InvalidInput: ``fold`` does not fit the rows, has fewer than two folds or an empty one, or as for
            :func:`vitgeom.probes.layer_fit.fit_layer`.
        ResourceShortage: A temporary file cannot be written.
    """
    num_folds = _num_folds(fold, num_rows=len(x))
    table = (1.0 - torch.eye(num_folds, dtype=torch.float64)).repeat_interleave(len(l2), dim=1)
    weight = fold_weights(fold, table=table, base=sample_weight)
    fit = fit_layer(
        x,
        target,
        num_classes=num_classes,
        l2=l2.repeat(num_folds),
        tol=tol,
        max_iter=max_iter,
        sample_weight=weight,
        byte_budget=byte_budget,
    )
    return OutOfFold(fit, weight.fold, len(l2))


def _num_folds(fold: Tensor, *, num_rows: int) -> int:
    """Return V."""
    if len(fold) != num_rows:
        raise InvalidInput(f"fold must have one number per row, {num_rows}, got {len(fold)}.")
    present = fold.unique().tolist()
    if len(present) < 2 or present != list(range(len(present))):
        raise InvalidInput(
            f"fold must number at least 2 folds from 0 without a gap, got {present[:20]}; "
            "for example fold = torch.arange(n) % 5 after shuffling the rows."
        )
    return len(present)
