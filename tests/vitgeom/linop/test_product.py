from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator, ProductOperator

LEFT = with_singular_values(planted(4)["fast"], rows=5, columns=6)
RIGHT = with_singular_values(planted(4)["step"], rows=6, columns=9, seed=2)


class TestProductOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return LEFT @ RIGHT

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> ProductOperator:
        return ProductOperator(DenseOperator(LEFT.to(request.param)), DenseOperator(RIGHT.to(request.param)))


def test_sizes_that_do_not_meet_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"left is 6 x 9, right 5 x 6: columns of left must be rows"):
        ProductOperator(DenseOperator(RIGHT), DenseOperator(LEFT))


def test_two_dtypes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"left is torch.float32 on cpu, right torch.float64"):
        ProductOperator(DenseOperator(LEFT.float()), DenseOperator(RIGHT))


def test_a_bare_matrix_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"right must be a linear operator .* got Tensor"):
        ProductOperator(DenseOperator(LEFT), RIGHT)
