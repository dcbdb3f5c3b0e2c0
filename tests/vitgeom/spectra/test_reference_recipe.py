from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.spectra.reference_recipe import least_reference_budget, reference_sketch


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


MATRIX = with_singular_values(planted(100)["slow"], rows=100, columns=120)


@pytest.mark.parametrize(("budget", "density"), [(200, False), (280, True)])
def test_it_costs_what_the_recipe_says(budget: int, density: bool) -> None:
    operator = CountingOperator(MATRIX)
    found = reference_sketch(operator, rank=20, budget=budget, num_tokens=12, generator=generator())
    assert operator.jvp + operator.vjp == found.products.total == budget
    assert (found.density is not None) == density
    assert found.residuals_R is None


def test_norm_and_second_moment_are_unbiased() -> None:
    squared = planted(100)["slow"] ** 2
    norms, squares = [], []
    for seed in range(100):
        found = reference_sketch(
            DenseOperator(MATRIX), rank=2, budget=40, num_tokens=12, generator=generator(seed)
        )
        norms.append(found.norm.value)
        squares.append(found.square or 0.0)
    for values, true in ((norms, float(squared.sum())), (squares, float((squared**2).sum()))):
        sample = torch.tensor(values, dtype=torch.float64)
        assert abs(float(sample.mean()) - true) < 5 * float(sample.std()) / 10


def test_the_norm_is_never_below_the_energy_of_the_directions() -> None:
    matrix = with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=40)
    for seed in range(10):
        found = reference_sketch(
            DenseOperator(matrix), rank=3, budget=30, num_tokens=8, generator=generator(seed)
        )
        assert found.norm.low >= 35.0 * (1 - 1e-12)


def test_a_budget_below_the_recipe_is_refused() -> None:
    assert least_reference_budget(20) == 108
    with pytest.raises(
        InvalidInput, match=r"budget must be >= 108 products for rank 20 with recipe='reference'"
    ):
        reference_sketch(DenseOperator(MATRIX), rank=20, budget=107, num_tokens=12, generator=generator())
