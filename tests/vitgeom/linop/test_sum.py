from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator, SumOperator

FIRST = with_singular_values(planted(4)["fast"], rows=5, columns=6)
SECOND = with_singular_values(planted(4)["flat"], rows=5, columns=6, seed=2)


class TestSumOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return FIRST + SECOND

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> SumOperator:
        return SumOperator(DenseOperator(FIRST.to(request.param)), DenseOperator(SECOND.to(request.param)))


def test_another_shape_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"first is 5 x 6, second 6 x 5: a sum needs one shape"):
        SumOperator(DenseOperator(FIRST), DenseOperator(SECOND.mT))


def test_two_dtypes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"first is torch.float64 on cpu, second torch.float32"):
        SumOperator(DenseOperator(FIRST), DenseOperator(SECOND.float()))
