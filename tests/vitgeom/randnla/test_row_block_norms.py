from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.block_golub_kahan import block_golub_kahan
from vitgeom.randnla.deflated_probes import deflated_probes
from vitgeom.randnla.row_block_norms import block_energy, deflated_block_norms, row_block_norms


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


MATRIX = with_singular_values(planted(40)["fast"], rows=50, columns=60)
TRUE = torch.stack([(MATRIX[:, 6 * t : 6 * t + 6] ** 2).sum() for t in range(10)])


def test_every_token_is_inside_its_error_bar() -> None:
    operator = CountingOperator(MATRIX)
    found = row_block_norms(operator, num_blocks=10, num_probes=500, generator=generator())
    assert bool(((found.squared_T - TRUE).abs() < 5 * found.stderr_T).all())
    assert (operator.jvp, operator.vjp, found.products.vjp) == (0, 500, 500)


def test_deflation_is_unbiased_and_sharper() -> None:
    operator = DenseOperator(MATRIX)
    basis = block_golub_kahan(operator, width=3, rank=3, max_products=24, generator=generator())
    probes = deflated_probes(operator, basis, num_probes=500, generator=generator(1))
    found = deflated_block_norms(basis, probes, num_blocks=10)
    assert bool(((found.squared_T - TRUE).abs() < 5 * found.stderr_T).all())
    plain = row_block_norms(operator, num_blocks=10, num_probes=500, generator=generator())
    assert float(found.stderr_T.sum()) < float(plain.stderr_T.sum()) / 10


def test_one_sign_is_exact_for_one_output() -> None:
    matrix = torch.arange(6.0).reshape(1, 6)
    found = row_block_norms(DenseOperator(matrix), num_blocks=3, num_probes=2, generator=generator())
    assert found.squared_T.tolist() == [1.0, 13.0, 41.0]
    assert found.stderr_T.tolist() == [0.0, 0.0, 0.0]


def test_an_exhausted_basis_is_exact() -> None:
    operator = DenseOperator(torch.arange(12.0).reshape(2, 6))
    basis = block_golub_kahan(operator, width=2, rank=2, max_products=60, generator=generator())
    found = deflated_block_norms(
        basis, deflated_probes(operator, basis, num_probes=2, generator=generator()), num_blocks=2
    )
    assert found.squared_T.tolist() == pytest.approx(
        [0 + 1 + 4 + 36 + 49 + 64, 9 + 16 + 25 + 81 + 100 + 121], rel=1e-5
    )
    assert found.stderr_T.tolist() == [0.0, 0.0]


def test_block_energy_by_hand() -> None:
    columns = torch.tensor([[1.0, 0], [2, 0], [0, 3], [4, 0]])
    assert block_energy(columns, 2).tolist() == [[5.0, 0.0], [16.0, 9.0]]


def test_blocks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="divide the 60 columns"):
        row_block_norms(DenseOperator(MATRIX), num_blocks=7, num_probes=2, generator=generator())
    with pytest.raises(InvalidInput, match="num_probes must be a whole number >= 2"):
        row_block_norms(DenseOperator(MATRIX), num_blocks=6, num_probes=1, generator=generator())
