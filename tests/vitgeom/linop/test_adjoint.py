from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import AdjointOperator, DenseOperator

MATRIX = with_singular_values(planted(4)["slow"], rows=5, columns=6)


class TestAdjointOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return MATRIX.mT

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> AdjointOperator:
        return AdjointOperator(DenseOperator(MATRIX.to(request.param)))


def test_twice_is_the_operator_itself() -> None:
    v = torch.eye(6, dtype=torch.float64)
    twice = AdjointOperator(AdjointOperator(DenseOperator(MATRIX)))
    assert torch.equal(twice.matmat(v), DenseOperator(MATRIX).matmat(v))


def test_what_is_no_operator_is_refused() -> None:
    with pytest.raises(InvalidInput, match="operator must be a linear operator"):
        AdjointOperator(None)
