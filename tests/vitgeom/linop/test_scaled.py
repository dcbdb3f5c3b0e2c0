from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator, ScaledOperator

MATRIX = with_singular_values(planted(4)["slow"], rows=5, columns=6)


class TestScaledOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return -2.5 * MATRIX

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> ScaledOperator:
        return ScaledOperator(DenseOperator(MATRIX.to(request.param)), factor=-2.5)


def test_a_whole_number_is_a_factor_and_zero_too() -> None:
    v = torch.ones(6, 1, dtype=torch.float64)
    assert not ScaledOperator(DenseOperator(MATRIX), factor=0).matmat(v).any()


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), "2", True, torch.ones(5)])
def test_what_is_no_finite_number_is_refused(factor: object) -> None:
    with pytest.raises(InvalidInput, match=r"must be a finite number"):
        ScaledOperator(DenseOperator(MATRIX), factor=factor)
