from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator


class TestDenseOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return with_singular_values(planted(6)["fast"], rows=7, columns=9)

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, dense: Tensor, request: pytest.FixtureRequest) -> DenseOperator:
        return DenseOperator(dense.to(request.param))


@pytest.mark.parametrize("matrix", [torch.ones(3), torch.ones(0, 2), torch.ones(2, 2, dtype=torch.int64)])
def test_what_is_no_matrix_is_refused(matrix: Tensor) -> None:
    with pytest.raises(InvalidInput, match="matrix must be floating-point"):
        DenseOperator(matrix)


def test_an_entry_that_is_not_finite_is_named() -> None:
    matrix = torch.ones(3, 4)
    matrix[1, 2] = torch.nan
    with pytest.raises(InvalidInput, match="not finite at row 1, column 2"):
        DenseOperator(matrix)
