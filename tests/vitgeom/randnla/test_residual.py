from __future__ import annotations

import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.linop import DenseOperator
from vitgeom.randnla.residual import triplet_residuals

MATRIX = with_singular_values(planted(20)["slow"], rows=25, columns=30)
U, SIGMA, VT = torch.linalg.svd(MATRIX, full_matrices=False)


def test_exact_triplets_have_none() -> None:
    operator = CountingOperator(MATRIX)
    found = triplet_residuals(operator, left_MR=U[:, :4], sigma=SIGMA[:4], right_NR=VT[:4].mT)
    for part in (found.forward, found.backward, found.outside):
        assert float(part.max()) < 1e-13
    assert (operator.jvp, operator.vjp) == (found.products.jvp, found.products.vjp) == (4, 4)


def test_a_turned_vector_is_seen_at_its_size() -> None:
    angle = 1e-3
    turned = VT[:4].mT.clone()
    turned[:, 0] = VT[0] + angle * VT[10]
    found = triplet_residuals(DenseOperator(MATRIX), left_MR=U[:, :4], sigma=SIGMA[:4], right_NR=turned)
    assert torch.allclose(found.forward[0], angle * SIGMA[10], rtol=1e-6)
    assert torch.allclose(found.backward[0], angle * SIGMA[0], rtol=1e-6)
    assert float(found.forward[1:].max()) < 1e-13


def test_float32_residuals_are_at_rounding() -> None:
    operator = DenseOperator(MATRIX.float())
    found = triplet_residuals(operator, left_MR=U[:, :4].float(), sigma=SIGMA[:4], right_NR=VT[:4].mT.float())
    assert float(found.backward.max()) < 1e-6
