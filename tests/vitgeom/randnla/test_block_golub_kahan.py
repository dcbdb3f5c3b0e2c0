from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop import DenseOperator
from vitgeom.randnla.block_golub_kahan import BlockGolubKahan, block_golub_kahan
from vitgeom.randnla.orthonormal import orthogonality_error


def run(
    matrix: Tensor, *, width: int = 3, rank: int = 6, max_products: int = 60, seed: int = 0
) -> BlockGolubKahan:
    return block_golub_kahan(
        DenseOperator(matrix),
        width=width,
        rank=rank,
        max_products=max_products,
        generator=torch.Generator().manual_seed(seed),
    )


def check_identities(matrix: Tensor, found: BlockGolubKahan) -> None:
    scale = float(matrix.norm()) or 1.0
    coarse = matrix.dtype == torch.float32
    u, v, k = found.left_MA.double(), found.right_NB.double(), found.coupling_AB
    assert float((matrix.double() @ v - u @ k).norm()) <= (3e-5 if coarse else 1e-11) * scale
    closed = matrix.double().mT @ u[:, : found.closed] - v @ k[: found.closed].mT
    assert float(closed.norm()) <= (3e-4 if coarse else 1e-10) * scale
    for basis in (u, v):
        assert orthogonality_error(basis) < (1e-5 if coarse else 1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["flat", "slow", "fast", "exponential", "step"])
@pytest.mark.parametrize("shape", [(40, 70), (70, 40)])
def test_the_two_recurrences_hold(name: str, dtype: torch.dtype, shape: tuple[int, int]) -> None:
    matrix = with_singular_values(planted(40)[name], rows=shape[0], columns=shape[1]).to(dtype)
    check_identities(matrix, run(matrix))


def test_products_are_counted_and_never_above_the_limit() -> None:
    matrix = with_singular_values(planted(40)["slow"], rows=50, columns=60)
    for limit in (2, 3, 7, 31, 40):
        operator = CountingOperator(matrix)
        found = block_golub_kahan(
            operator, width=4, rank=5, max_products=limit, generator=torch.Generator().manual_seed(0)
        )
        assert (operator.jvp, operator.vjp) == (found.products.jvp, found.products.vjp)
        assert found.products.total <= limit
        assert found.right_NB.shape[1] == limit // 2
        check_identities(matrix, found)


def test_zero_operator_is_exhausted_at_once() -> None:
    found = run(torch.zeros(50, 50))
    assert found.exhausted
    assert found.right_NB.shape == (50, 0)
    assert found.products.total == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_low_rank_is_exhausted_with_its_own_values(dtype: torch.dtype) -> None:
    matrix = with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=40).to(dtype)
    found = run(matrix, width=5)
    assert found.exhausted
    values = torch.linalg.svdvals(found.coupling_AB)
    assert values.tolist() == pytest.approx([5.0, 3.0, 1.0], rel=1e-5)


def test_the_identity_stops_when_the_rank_is_certain() -> None:
    found = run(torch.eye(50, dtype=torch.float64), width=20, rank=20, max_products=200)
    assert found.right_NB.shape == (50, 20)
    assert found.complete == 20
    assert not found.exhausted
    assert torch.linalg.svdvals(found.coupling_AB).tolist() == pytest.approx([1.0] * 20)


def test_repeated_values_need_fresh_blocks_and_get_them() -> None:
    matrix = with_singular_values(torch.tensor([3.0] * 9 + [1.0] * 31), rows=40, columns=60)
    found = run(matrix, width=2, rank=9, max_products=200)
    values = torch.linalg.svdvals(found.coupling_AB)
    assert values[:9].tolist() == pytest.approx([3.0] * 9)
    assert float(values[9]) == pytest.approx(1.0)
    assert found.complete == 9
    assert len({stage.first_left for stage in found.stages}) > 3
    check_identities(matrix, found)


@pytest.mark.parametrize(("shape", "products"), [((1, 1), 2), ((1, 30), 2), ((7, 7), 14), ((30, 1), 4)])
def test_tiny_operators_are_exhausted(shape: tuple[int, int], products: int) -> None:
    matrix = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = run(matrix, width=3, max_products=100)
    assert found.exhausted
    assert found.products.total <= products
    assert float((found.coupling_AB**2).sum()) == pytest.approx(float((matrix**2).sum()))


def test_a_spike_over_a_flat_floor_keeps_the_energy_below_one() -> None:
    sigma = torch.cat([torch.full((20,), 4.0), torch.full((280,), 0.5)])
    matrix = with_singular_values(sigma, rows=300, columns=300)
    found = run(matrix, width=25, rank=20, max_products=200)
    top = (torch.linalg.svdvals(found.coupling_AB)[:20] ** 2).sum()
    assert float(top) == pytest.approx(20 * 16.0, rel=1e-10)


def test_bad_numbers_are_refused() -> None:
    for name, settings in (
        ("width", {"width": 0}),
        ("rank", {"rank": 0}),
        ("max_products", {"max_products": 1}),
    ):
        with pytest.raises(InvalidInput, match=f"{name} must be a whole number >="):
            run(torch.eye(3), **settings)


def test_a_product_that_is_not_finite_is_named() -> None:
    operator = CountingOperator(torch.eye(9), poison=4)
    with pytest.raises(NumericalFailure, match=r"is not finite"):
        block_golub_kahan(
            operator, width=3, rank=3, max_products=30, generator=torch.Generator().manual_seed(0)
        )


def test_a_pair_that_is_not_adjoint_breaks_an_identity() -> None:
    """What the recurrences assume is what this shows: with another transpose J^T U = V K^T fails."""

    class Wrong(DenseOperator):
        def rmatmat(self, u_MK: Tensor) -> Tensor:
            return super().rmatmat(u_MK) + 0.1 * torch.eye(12, dtype=u_MK.dtype) @ u_MK

    matrix = with_singular_values(planted(12)["slow"], rows=12, columns=12)
    found = block_golub_kahan(
        Wrong(matrix), width=3, rank=3, max_products=12, generator=torch.Generator().manual_seed(0)
    )
    u, v, k = found.left_MA[:, : found.closed], found.right_NB, found.coupling_AB[: found.closed]
    assert float((matrix.mT @ u - v @ k.mT).norm()) > 1e-3


def test_every_fresh_vector_estimates_the_norm_without_bias() -> None:
    matrix = with_singular_values(torch.tensor([3.0] * 9 + [1.0] * 31), rows=40, columns=60)
    starts = torch.cat(
        [run(matrix, width=2, rank=9, max_products=200, seed=seed).starts for seed in range(100)]
    )
    assert len(starts) >= 900
    assert abs(float(starts.mean()) - 112.0) < 5 * float(starts.std()) / len(starts) ** 0.5
