"""Products with the Hessian of the probe objective, and a preconditioner for it, in float32.

H = (1/n) sum_i w_i (diag p_i - p_i p_i') (x) z_i z_i' + lambda I (on the bias row a damping in place of lambda).

n = rows, q = basis directions + 1, P = problems, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float32, Float64
from torch import Tensor

LEAST_CURVATURE = 1e-7
"""Share of the largest class curvature below which float32 probabilities carry no information."""


@dataclass(frozen=True, eq=False)
class Hessian:
    """Hessians of P problems at their current points; never formed.

    Attributes:
        features: In the basis, last column ones.
        probability: Class probabilities.
        row_weight: Weights over n (one line: the same in all problems).
        penalty: lambda on weights, a damping (or 0) on the bias.
    """

    features: Float32[Tensor, "n q"]
    probability: Float32[Tensor, "P K n"]
    row_weight: Float32[Tensor, "w n"]
    penalty: Float32[Tensor, "P q"]

    def __call__(self, v: Float32[Tensor, "P K q"]) -> Float32[Tensor, "P K q"]:
        """Return H v; cost two products of P*K lines with ``[n, q]``."""
        move = (v.reshape(-1, v.shape[2]) @ self.features.T).view(self.probability.shape)
        through_softmax(move, probability=self.probability, row_weight=self.row_weight)
        product = (move.view(-1, move.shape[2]) @ self.features).view(v.shape)
        return product.addcmul_(self.penalty[:, None], v)

    def class_products(self) -> Float64[Tensor, "P K K"]:
        """Return the weighted mean of p p' over rows."""
        weighted = self.probability * self.row_weight[:, None]
        return torch.bmm(weighted, self.probability.transpose(1, 2)).double()

    def keep(self, mask: Bool[Tensor, " P"]) -> Hessian:
        """Return the Hessians of some of the problems."""
        weight = self.row_weight if len(self.row_weight) == 1 else self.row_weight[mask]
        return Hessian(self.features, self.probability[mask], weight, self.penalty[mask])


@runtime_checkable
class HasCurvature(Protocol):
    """What a preconditioner is built from."""

    @property
    def penalty(self) -> Tensor:
        """Lambda on weights, a damping (or 0) on the bias ``[P, q]``."""
        ...

    def class_products(self) -> Tensor:
        """Return the weighted mean of p p' over rows ``[P, K, K]``."""
        ...


def through_softmax(
    move: Float32[Tensor, "P K n"],
    *,
    probability: Float32[Tensor, "P K n"],
    row_weight: Float32[Tensor, "w n"],
) -> None:
    """Turn moves of logits into weighted moves of probabilities, ``w (diag p - p p') move``, in place.

    Args:
        move: Changed.
        probability: p.
        row_weight: Weights over n (one line: the same in all problems).
    """
    move.mul_(probability)
    move.addcmul_(probability, move.sum(dim=1, keepdim=True), value=-1.0)
    move *= row_weight[:, None]


@dataclass(frozen=True, eq=False)
class KroneckerPreconditioner:
    """Inverse of B (x) Lambda + lambda I, B the mean class curvature and Lambda the feature variances.

    Replacing every row's ``diag p - p p'`` by the mean B over rows makes the Hessian a Kronecker product, which the
    eigenvectors of B and of the covariance turn into a diagonal. With B = (I - 11'/K) / 2 this would be the bound of
    Boehning (1992); the mean at the current point is much closer once the probe is sure of most rows, and it knows rare
    classes. The direction that adds a constant to all classes is projected out: gradients have none of it.

    Attributes:
        rotation: Eigenvectors of B.
        inverse: 1 / (variance_j beta_k + lambda_j), and 0 on the constant over classes.
    """

    rotation: Float32[Tensor, "P K K"]
    inverse: Float32[Tensor, "P K q"]

    def __call__(self, v: Float32[Tensor, "P K q"]) -> Float32[Tensor, "P K q"]:
        """Return the preconditioned vectors; cost 4 q P K^2 operations."""
        turned = torch.bmm(self.rotation.transpose(1, 2), v)
        turned *= self.inverse
        return torch.bmm(self.rotation, turned)

    def keep(self, mask: Bool[Tensor, " P"]) -> KroneckerPreconditioner:
        """Return the preconditioners of some of the problems."""
        return KroneckerPreconditioner(self.rotation[mask], self.inverse[mask])


def kronecker_preconditioner(
    hessian: HasCurvature, *, variances: Float64[Tensor, " q"]
) -> KroneckerPreconditioner:
    """Build the preconditioner at the Hessian's point.

    Cost: n P K^2 products and P eigendecompositions of order K.

    Args:
        hessian: Where the problems stand.
        variances: Mean square of each feature column (1 for the column of ones).
    """
    beta, rotation = torch.linalg.eigh(_lifted_class_curvature(hessian))
    beta = beta.maximum(LEAST_CURVATURE * beta[:, -2:-1]).clamp(min=0)
    scale = beta[:, :, None] * variances + hessian.penalty.double()[:, None]
    # A batch that is sure of every row has no curvature left, and the bias no penalty either: 0 rather than 1/0.
    inverse = torch.where(scale > 0, 1.0 / scale, 0.0)
    # The optimum has no such constant, in weights or bias: dividing its rounding by a tiny lambda would put one there.
    inverse[:, -1] = 0.0
    return KroneckerPreconditioner(rotation.float(), inverse.float())


def _lifted_class_curvature(hessian: HasCurvature) -> Float64[Tensor, "P K K"]:
    """Return B = mean of w (diag p - p p'), with the constant over classes lifted to the top of its spectrum.

    The rows of B sum to 0, so its diagonal is minus the sum of the rest: no difference of nearly equal numbers, however
    sure the probe is. Lifting tells the null direction apart from directions that are merely flat.
    """
    together = hessian.class_products()
    together = 0.5 * (together + together.transpose(1, 2))
    together.diagonal(dim1=1, dim2=2).zero_()
    curvature = torch.diag_embed(together.sum(dim=2)) - together
    lift = 2.0 * torch.linalg.matrix_norm(curvature).clamp(min=1e-30)
    return curvature + lift[:, None, None] / curvature.shape[1]
