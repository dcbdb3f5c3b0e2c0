"""Products with the Hessian of the probe objective when features are in a file and no row is kept, in float32.

The same operator as :class:`vitgeom.probes.hessian.Hessian`. Class probabilities are computed anew in every product, from
the features and the present coefficients: three products with the features instead of two, and nothing of size n.

n = rows, b = rows of a block, q = basis directions + 1, P = problems, K = classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float32, Float64
from torch import Tensor

from vitgeom.probes.fold_weights import FoldWeights, RowWeights
from vitgeom.probes.hessian import through_softmax
from vitgeom.probes.row_file import RowFile


@dataclass(frozen=True, eq=False)
class StreamedHessian:
    """Hessians of P problems at their current points; neither they nor the probabilities there are formed.

    Attributes:
        features: In the basis, last column ones.
        coef: The current points.
        row_weight: Weights of mean 1 (one column: the same in all problems).
        penalty: lambda on weights, a damping (or 0) on the bias.
        chunk_rows: Rows in memory at a time.
    """

    features: RowFile
    coef: Float32[Tensor, "P K q"]
    row_weight: RowWeights
    penalty: Float32[Tensor, "P q"]
    chunk_rows: int

    def __call__(self, v: Float32[Tensor, "P K q"]) -> Float32[Tensor, "P K q"]:
        """Return H v; cost three products of P*K lines with ``[n, q]`` and one reading of the file."""
        lines = v.reshape(-1, v.shape[2])
        product = torch.zeros_like(lines)
        for features, probability, weight in self._blocks():
            move = (lines @ features.T).view(probability.shape)
            through_softmax(move, probability=probability, row_weight=weight)
            product.addmm_(move.view(len(lines), -1), features)
        return product.view(v.shape).addcmul_(self.penalty[:, None], v)

    def class_products(self) -> Float64[Tensor, "P K K"]:
        """Return the weighted mean of p p' over rows."""
        num_problems, num_classes, _ = self.coef.shape
        shape = (num_problems, num_classes, num_classes)
        total = torch.zeros(shape, dtype=torch.float64, device=self.coef.device)
        for _, probability, weight in self._blocks():
            total += torch.bmm(probability * weight[:, None], probability.transpose(1, 2))
        return total

    def keep(self, mask: Bool[Tensor, " P"]) -> StreamedHessian:
        """Return the Hessians of some of the problems."""
        weight = self.row_weight
        if isinstance(weight, FoldWeights):
            weight = weight.of(mask)
        elif weight.shape[1] > 1:
            weight = weight[:, mask]
        return StreamedHessian(self.features, self.coef[mask], weight, self.penalty[mask], self.chunk_rows)

    def _blocks(
        self,
    ) -> Iterator[tuple[Float32[Tensor, "b q"], Float32[Tensor, "P K b"], Float32[Tensor, "w b"]]]:
        """Yield features, class probabilities and weights over n of consecutive rows."""
        num_rows, points = len(self.features), self.coef.flatten(0, 1)
        for start in range(0, num_rows, self.chunk_rows):
            rows = slice(start, start + self.chunk_rows)
            features = self.features[rows]
            logits = (points @ features.T).view(*self.coef.shape[:2], -1)
            yield features, torch.softmax(logits, dim=1), (self.row_weight[rows].T / num_rows).float()
