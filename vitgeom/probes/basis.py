"""An orthonormal basis in which the features' covariance is diagonal.   n = rows, D = width, r = min(n, D).

Turning features and weights by the same orthonormal matrix changes neither logits nor ``||W||_F``, hence neither the
objective nor the norm of its gradient; but it makes a diagonal preconditioner exact for the covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.probes.row_file import RowFile, Rows
from vitgeom.probes.standardise import Standardiser


@dataclass(frozen=True, eq=False)
class EigenBasis:
    """Directions and variances of standardised features.

    Attributes:
        directions: Orthonormal columns that span every row of the features.
        variances: Mean square of the features along each direction, ascending.
    """

    directions: Float64[Tensor, "D r"]
    variances: Float64[Tensor, " r"]


def eigenbasis(x: Rows, *, standardiser: Standardiser, chunk_rows: int) -> EigenBasis:
    """Return the eigenvectors of Z'Z / n for standardised Z.

    With n < D the rows span at most n directions and the optimum of a penalised probe has no component outside them
    (its gradient there is lambda W): QR of Z' gives these n directions first, so the eigenproblem is n x n.
    Cost: n D min(n, D) products plus one eigendecomposition of order min(n, D), in float64.

    Args:
        x: Raw features, in memory or in a file.
        standardiser: What to standardise them with.
        chunk_rows: Rows turned to float64 at a time.
    """
    num_rows, width = x.shape
    if num_rows < width:
        directions, triangle = torch.linalg.qr(standardiser(x[:]).T)
        variances, rotation = torch.linalg.eigh(triangle @ triangle.T / num_rows)
        return EigenBasis(directions @ rotation, variances.clamp(min=0))
    gram = torch.zeros(width, width, dtype=torch.float64, device=x.device)
    for rows in x.split(chunk_rows):
        z = standardiser(rows)
        gram.addmm_(z.T, z)
    variances, directions = torch.linalg.eigh(gram / num_rows)
    return EigenBasis(directions, variances.clamp(min=0))


def rotated_features(
    x: Float[Tensor, "n D"], *, standardiser: Standardiser, basis: EigenBasis, chunk_rows: int
) -> Float[Tensor, "n q"]:
    """Return float32 features in the basis, with a last column of ones for the bias (q = r + 1).

    Args:
        x: Raw features.
        standardiser: What to standardise them with.
        basis: Where to turn them.
        chunk_rows: Rows turned to float64 at a time.
    """
    rank = len(basis.variances)
    turned = torch.ones(len(x), rank + 1, dtype=torch.float32, device=x.device)
    for start in range(0, len(x), chunk_rows):
        rows = slice(start, start + chunk_rows)
        turned[rows, :rank] = (standardiser(x[rows]) @ basis.directions).float()
    return turned


def rotated_file(x: Rows, *, standardiser: Standardiser, basis: EigenBasis, chunk_rows: int) -> RowFile:
    """Return what :func:`rotated_features` does in a file; the caller closes it.

    Args:
        x: Raw features, in memory or in a file.
        standardiser: What to standardise them with.
        basis: Where to turn them.
        chunk_rows: Rows turned to float64 at a time.

    Raises:
        ResourceShortage: The file cannot be written.
    """
    turned = RowFile(width=len(basis.variances) + 1, dtype=torch.float32, device=x.device)
    for rows in x.split(chunk_rows):
        turned.append(rotated_features(rows, standardiser=standardiser, basis=basis, chunk_rows=len(rows)))
    return turned
