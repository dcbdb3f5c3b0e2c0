from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import AdjointOperator, CountedOperator, DenseOperator

MATRIX = with_singular_values(planted(4)["slow"], rows=5, columns=6)


class TestCountedOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return MATRIX

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> CountedOperator:
        return CountedOperator(DenseOperator(MATRIX.to(request.param)))


def test_both_sides_are_counted_by_columns() -> None:
    counted = CountedOperator(DenseOperator(MATRIX))
    assert counted.products == 0
    counted.matmat(torch.ones(6, 3, dtype=torch.float64))
    counted.matmat(torch.ones(6, 0, dtype=torch.float64))
    counted.rmatmat(torch.ones(5, 2, dtype=torch.float64))
    assert (counted.matmats, counted.rmatmats, counted.products) == (3, 2, 5)


def test_the_transpose_counts_on_the_other_side() -> None:
    counted = CountedOperator(DenseOperator(MATRIX))
    AdjointOperator(counted).matmat(torch.ones(5, 4, dtype=torch.float64))
    assert (counted.matmats, counted.rmatmats) == (0, 4)


def test_refused_operands_are_not_counted() -> None:
    counted = CountedOperator(DenseOperator(MATRIX))
    with pytest.raises(InvalidInput, match=r"must be \[6, K\]"):
        counted.matmat(torch.ones(5, 2, dtype=torch.float64))
    assert counted.products == 0
