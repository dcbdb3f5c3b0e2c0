from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.matrices import orthonormal, planted, with_singular_values
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop import DeflatedOperator, DenseOperator

MATRIX = with_singular_values(planted(5)["slow"], rows=6, columns=7)
LEFT, RIGHT = orthonormal(6, 2, seed=8), orthonormal(7, 3, seed=9)


class TestDeflatedFromTheLeft(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return (torch.eye(6, dtype=torch.float64) - LEFT @ LEFT.mT) @ MATRIX

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> DeflatedOperator:
        return DeflatedOperator(DenseOperator(MATRIX.to(request.param)), LEFT.to(request.param), side="left")


class TestDeflatedFromTheRight(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        return MATRIX @ (torch.eye(7, dtype=torch.float64) - RIGHT @ RIGHT.mT)

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> DeflatedOperator:
        return DeflatedOperator(
            DenseOperator(MATRIX.to(request.param)), RIGHT.to(request.param), side="right"
        )


def test_energy_splits_into_what_the_basis_holds_and_the_rest() -> None:
    rest = DeflatedOperator(DenseOperator(MATRIX), RIGHT, side="right").matmat(
        torch.eye(7, dtype=torch.float64)
    )
    torch.testing.assert_close((MATRIX @ RIGHT).square().sum() + rest.square().sum(), MATRIX.square().sum())


def test_an_empty_basis_takes_nothing_away() -> None:
    empty = torch.zeros(6, 0, dtype=torch.float64)
    eye = torch.eye(7, dtype=torch.float64)
    assert torch.equal(DeflatedOperator(DenseOperator(MATRIX), empty, side="left").matmat(eye), MATRIX)


def test_a_whole_basis_leaves_nothing() -> None:
    whole = DeflatedOperator(DenseOperator(MATRIX), orthonormal(7, 7, seed=1), side="right")
    assert float(whole.matmat(torch.eye(7, dtype=torch.float64)).abs().max()) < 1e-12


@pytest.mark.parametrize("basis", [2 * RIGHT, RIGHT[:, [0, 0]], RIGHT * torch.nan])
def test_a_basis_that_is_not_orthonormal_is_refused(basis: Tensor) -> None:
    with pytest.raises(
        InvalidInput, match=r"basis must have orthonormal columns, but max .* Give torch.linalg.qr"
    ):
        DeflatedOperator(DenseOperator(MATRIX), basis, side="right")


def test_a_basis_of_the_other_side_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"basis must be \[6, K\]"):
        DeflatedOperator(DenseOperator(MATRIX), RIGHT, side="left")


def test_another_side_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown side 'rigth'. Did you mean 'right'"):
        DeflatedOperator(DenseOperator(MATRIX), RIGHT, side="rigth")
