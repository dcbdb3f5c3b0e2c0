from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import planted, with_singular_values
from vitgeom.linop import DenseOperator
from vitgeom.randnla.gram import GramOperator

MATRIX = with_singular_values(planted(6)["fast"], rows=7, columns=9)


class TestGramOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return MATRIX.mT @ MATRIX

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> GramOperator:
        return GramOperator(DenseOperator(MATRIX.to(request.param)))


class TestDeflatedGramOperator(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        known = torch.linalg.svd(MATRIX).Vh[:2].mT
        outside = MATRIX - MATRIX @ known @ known.mT
        return outside.mT @ outside

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> GramOperator:
        known = torch.linalg.svd(MATRIX).Vh[:2].mT
        return GramOperator(DenseOperator(MATRIX.to(request.param)), without_NE=known)
