"""What every linear operator must do. Inherit it and give fixtures ``operator`` and ``dense``, the same map as a float64 matrix."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator


class LinearOperatorContract:
    """Relative tolerances are those of the operator's dtype."""

    tolerance: ClassVar = {torch.float32: 2e-5, torch.float64: 1e-10}

    def draw(self, operator: LinearOperator, *, side: int, count: int = 3, seed: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(operator.shape[side], count, generator=generator, dtype=torch.float64)
        return drawn.to(operator.device, operator.dtype)

    def close(self, operator: LinearOperator, found: Tensor, wanted: Tensor) -> bool:
        scale = float(wanted.norm()) or 1.0
        return float((found.double() - wanted.double()).norm()) <= self.tolerance[operator.dtype] * scale

    def test_it_is_a_linear_operator(self, operator: LinearOperator) -> None:
        assert isinstance(operator, LinearOperator)

    def test_products_are_those_of_the_matrix(self, operator: LinearOperator, dense: Tensor) -> None:
        assert operator.shape == tuple(dense.shape)
        v_NK, u_MK = self.draw(operator, side=1), self.draw(operator, side=0, seed=1)
        assert self.close(operator, operator.matmat(v_NK), dense @ v_NK.double())
        assert self.close(operator, operator.rmatmat(u_MK), dense.mT @ u_MK.double())

    def test_it_is_linear(self, operator: LinearOperator) -> None:
        one, two = self.draw(operator, side=1, seed=2), self.draw(operator, side=1, seed=3)
        together = operator.matmat(2 * one - 3 * two)
        assert self.close(operator, together, 2 * operator.matmat(one) - 3 * operator.matmat(two))

    def test_both_sides_are_adjoint(self, operator: LinearOperator) -> None:
        v_NK, u_MK = self.draw(operator, side=1, count=5), self.draw(operator, side=0, count=5, seed=1)
        left = (operator.matmat(v_NK).double() * u_MK.double()).sum(dim=0)
        right = (v_NK.double() * operator.rmatmat(u_MK).double()).sum(dim=0)
        scale = v_NK.double().norm(dim=0) * operator.rmatmat(u_MK).double().norm(dim=0) + 1e-300
        assert float(((left - right).abs() / scale).max()) <= self.tolerance[operator.dtype]

    def test_no_vectors_give_no_products(self, operator: LinearOperator) -> None:
        rows, columns = operator.shape
        assert operator.matmat(self.draw(operator, side=1, count=0)).shape == (rows, 0)
        assert operator.rmatmat(self.draw(operator, side=0, count=0)).shape == (columns, 0)

    def test_operands_stay_as_they_were(self, operator: LinearOperator) -> None:
        v_NK = self.draw(operator, side=1)
        before = v_NK.clone()
        product = operator.matmat(v_NK)
        assert torch.equal(v_NK, before)
        assert product.dtype == operator.dtype
        assert not product.requires_grad

    def test_an_operand_of_another_length_is_refused(self, operator: LinearOperator) -> None:
        rows, columns = operator.shape
        with pytest.raises(InvalidInput, match=rf"must be \[{columns}, K\]"):
            operator.matmat(torch.zeros(columns + 1, 2, dtype=operator.dtype, device=operator.device))
        with pytest.raises(InvalidInput, match=rf"must be \[{rows}, K\]"):
            operator.rmatmat(torch.zeros(rows + 1, 2, dtype=operator.dtype, device=operator.device))

    def test_an_operand_of_another_dtype_is_refused(self, operator: LinearOperator) -> None:
        with pytest.raises(InvalidInput, match=r"Convert it with"):
            operator.matmat(torch.zeros(operator.shape[1], 2, dtype=torch.float16, device=operator.device))
