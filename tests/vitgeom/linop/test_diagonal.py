from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from vitgeom.errors import InvalidInput
from vitgeom.linop import DiagonalOperator

WEIGHTS = torch.tensor([2.0, 0.0, -1.0, 0.5], dtype=torch.float64)


class TestDiagonalOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return torch.diag(WEIGHTS)

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> DiagonalOperator:
        return DiagonalOperator(WEIGHTS.to(request.param))


@pytest.mark.parametrize(
    "weights", [torch.ones(2, 2), torch.ones(0), torch.ones(3, dtype=torch.int64), [1.0]]
)
def test_what_are_no_weights_is_refused(weights: object) -> None:
    with pytest.raises(InvalidInput, match=r"weights must be a floating-point tensor \[N\]"):
        DiagonalOperator(weights)


def test_a_weight_that_is_not_finite_is_named() -> None:
    with pytest.raises(InvalidInput, match="not finite at entry 1"):
        DiagonalOperator(torch.tensor([1.0, torch.nan]))
