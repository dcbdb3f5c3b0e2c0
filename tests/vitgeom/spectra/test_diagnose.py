from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from tests.oracles.dense_geometry import dense_geometry
from tests.support.counting_operator import CountingOperator
from tests.support.matrices import orthonormal, planted, with_singular_values
from vitgeom.errors import InvalidInput, NumericalFailure, UnknownName
from vitgeom.linop import DenseOperator
from vitgeom.spectra import Diagnosis, Thresholds, diagnose
from vitgeom.spectra.diagnose import choose_recipe

TOKENS = 30
RECIPES = ("exact", "krylov", "reference")


def run(matrix: Tensor, *, recipe: str = "auto", seed: int = 0, **settings: object) -> Diagnosis:
    options = {"rank": 5, "budget": 100, "num_tokens": TOKENS, **settings}
    # Unwrapped: the checks of jaxtyping would refuse another kind first, in other words.
    return inspect.unwrap(diagnose)(
        DenseOperator(matrix), recipe=recipe, **{"generator": torch.Generator().manual_seed(seed), **options}
    )


def made(name: str = "fast", *, rows: int = 150, columns: int = 240) -> Tensor:
    return with_singular_values(planted(150)[name], rows=rows, columns=columns)


@pytest.mark.parametrize("name", ["flat", "slow", "fast", "exponential", "step"])
def test_exact_is_the_dense_geometry(name: str) -> None:
    matrix = made(name)
    found, oracle = run(matrix, recipe="exact"), dense_geometry(matrix, num_tokens=TOKENS, rank=5)
    assert found.kappa_caps_R.tolist() == pytest.approx(oracle.kappa)
    assert found.block_norms_N.tolist() == pytest.approx(oracle.block_norms)
    assert found.ranks.participation_ratio == pytest.approx(oracle.participation_ratio)
    assert found.ranks.entropy_rank == pytest.approx(oracle.entropy_rank)
    assert found.ranks.stable_rank == pytest.approx(oracle.stable_rank)
    assert found.ranks.r_90.to_json() == {
        "status": "exact",
        "value": oracle.r_90,
        "low": oracle.r_90,
        "high": oracle.r_90,
    }
    if name in ("slow", "fast", "exponential"):  # elsewhere the top five are no unique subspace
        assert found.energy_N.tolist() == pytest.approx(oracle.energy)
        assert found.importance_N.tolist() == pytest.approx(oracle.importance)
        assert found.variation.all_tokens == pytest.approx(oracle.variation)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["fast", "exponential"])
def test_krylov_agrees_with_exact(name: str, dtype: torch.dtype) -> None:
    matrix = made(name).to(dtype)
    found, exact = run(matrix, recipe="krylov"), run(matrix, recipe="exact")
    assert found.kappa.low <= exact.kappa.value <= found.kappa.high
    assert found.energy_N.tolist() == pytest.approx(exact.energy_N.tolist(), abs=2e-3)
    assert found.variation.all_tokens == pytest.approx(exact.variation.all_tokens, rel=1e-2)
    assert found.products.total == 100


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", ["flat", "slow", "fast", "step"])
def test_invariants_hold_in_every_recipe(recipe: str, name: str) -> None:
    found = run(made(name), recipe=recipe)
    assert float(found.kappa_caps_R.max()) <= 1.0
    flat = found.right_NDR.reshape(240, 5)
    assert torch.allclose(flat.mT @ flat, torch.eye(5).double(), atol=1e-10)
    assert float(found.energy_N.sum()) == pytest.approx(5.0)
    assert found.kappa.low <= found.kappa.value <= found.kappa.high
    assert found.ranks.r_90.low <= found.ranks.r_90.high


@pytest.mark.parametrize("recipe", ["exact", "krylov"])
def test_turning_the_outputs_changes_nothing(recipe: str) -> None:
    matrix = made()
    found = run(matrix, recipe=recipe)
    turned = run(orthonormal(150, 150, seed=9) @ matrix, recipe=recipe)
    tolerance = 1e-9 if recipe == "exact" else 5e-3
    assert turned.singular_values_R.tolist() == pytest.approx(found.singular_values_R.tolist(), rel=tolerance)
    assert turned.energy_N.tolist() == pytest.approx(found.energy_N.tolist(), abs=tolerance)
    assert turned.kappa.value == pytest.approx(found.kappa.value, rel=tolerance)


@pytest.mark.parametrize("recipe", RECIPES)
def test_permuting_tokens_permutes_their_figures(recipe: str) -> None:
    matrix = made()
    order = torch.randperm(TOKENS, generator=torch.Generator().manual_seed(1))
    permuted = matrix.reshape(150, TOKENS, 8)[:, order].reshape(150, 240)
    found, there = run(matrix, recipe=recipe), run(permuted, recipe=recipe)
    tolerance = {"exact": 1e-9, "krylov": 1e-6, "reference": 0.2}[recipe]
    assert there.energy_N.tolist() == pytest.approx(found.energy_N[order].tolist(), abs=tolerance)
    if recipe != "reference":
        assert there.variation.all_tokens == pytest.approx(found.variation.all_tokens, rel=1e-4)


@pytest.mark.parametrize("recipe", RECIPES)
def test_scaling_scales_the_values_alone(recipe: str) -> None:
    found, scaled = run(made(), recipe=recipe), run(7 * made(), recipe=recipe)
    assert scaled.singular_values_R.tolist() == pytest.approx((7 * found.singular_values_R).tolist())
    assert scaled.norm.value == pytest.approx(49 * found.norm.value)
    assert scaled.kappa.value == pytest.approx(found.kappa.value)
    assert scaled.variation.all_tokens == pytest.approx(found.variation.all_tokens)
    assert scaled.regime.name == found.regime.name


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_zero_jacobian_says_so(recipe: str, dtype: torch.dtype) -> None:
    found = run(torch.zeros(50, 60, dtype=dtype), recipe=recipe)
    assert (found.kappa, found.kappa_caps_R, found.rank) == (None, None, 0)
    assert found.norm.value == 0.0
    assert found.block_norms_N.tolist() == [0.0] * TOKENS
    assert found.regime.name == "undefined"
    assert "Jacobian is zero" in found.advice


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 60), (60, 1), (5, 60), (7, 7)])
def test_rank_beyond_the_shape_gives_every_direction(recipe: str, shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    found = run(matrix, recipe=recipe, rank=20, budget=200, num_tokens=1)
    assert found.rank == min(shape)
    assert found.rank_asked == 20
    assert found.kappa.high == pytest.approx(1.0)
    assert found.kappa.value == pytest.approx(1.0, abs=0.2 if recipe == "reference" else 1e-9)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_low_rank_gives_its_own_directions(recipe: str) -> None:
    found = run(with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=60), recipe=recipe)
    assert found.rank == 3
    assert found.singular_values_R.tolist() == pytest.approx(
        [5.0, 3.0, 1.0], rel=1e-2 if recipe == "reference" else 1e-6
    )


def test_auto_is_exact_where_that_is_no_dearer() -> None:
    assert choose_recipe((200, 5000), recipe="auto", budget=200) == "exact"
    assert choose_recipe((201, 5000), recipe="auto", budget=200) == "krylov"
    assert choose_recipe((5000, 10), recipe="auto", budget=200) == "exact"
    assert choose_recipe((5, 5), recipe="reference", budget=200) == "reference"
    assert run(made(), budget=150).recipe == "exact"
    assert run(made(), budget=149).recipe == "krylov"


@pytest.mark.parametrize("recipe", RECIPES)
def test_products_are_those_that_were_made(recipe: str) -> None:
    operator = CountingOperator(made("slow"))
    found = diagnose(
        operator,
        rank=5,
        recipe=recipe,
        budget=90,
        num_tokens=TOKENS,
        generator=torch.Generator().manual_seed(0),
    )
    assert (found.products.jvp, found.products.vjp) == (operator.jvp, operator.vjp)
    assert found.products.total == (150 if recipe == "exact" else 90)


def test_prefix_tokens_are_left_out_of_the_verdict() -> None:
    matrix = torch.full((300, 60), 0.01, dtype=torch.float64)
    matrix += 1e-3 * torch.randn(300, 60, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    matrix[:, :2] = 0
    matrix[0, 0] = matrix[1, 1] = 100.0
    found = run(matrix, rank=3, num_prefix=1)
    assert found.variation.all_tokens > 2
    assert found.variation.patches < 0.5
    assert found.regime.name == "low_rank_delocalised"
    assert run(matrix, rank=3, num_prefix=0).regime.name == "token_local"


def test_thresholds_are_applied() -> None:
    assert run(made("slow")).regime.name == "high_rank"
    assert run(made("slow"), thresholds=Thresholds(kappa=0.05)).regime.name == "low_rank_delocalised"


@pytest.mark.parametrize("rank", [0, -3, 2.5, True, None])
def test_a_rank_that_is_none_is_refused(rank: object) -> None:
    with pytest.raises(InvalidInput, match="rank must be a whole number >= 1"):
        run(made(), rank=rank)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="budget must be >= 68 products for rank 20"):
        run(made(), recipe="krylov", rank=20, budget=30)
    with pytest.raises(InvalidInput, match="budget must be >= 108 products for rank 20"):
        run(made(), recipe="reference", rank=20, budget=30)
    with pytest.raises(UnknownName, match="Did you mean 'krylov'"):
        run(made(), recipe="krilov")
    with pytest.raises(InvalidInput, match="generator must be a torch"):
        run(made(), generator=None)
    with pytest.raises(InvalidInput, match="num_tokens must divide the 240 columns"):
        run(made(), num_tokens=7)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_product_that_is_not_finite_is_named(recipe: str) -> None:
    operator = CountingOperator(made(), poison=30)
    with pytest.raises(NumericalFailure, match=r"of CountingOperator .* is not finite"):
        diagnose(
            operator,
            rank=5,
            recipe=recipe,
            budget=90,
            num_tokens=TOKENS,
            generator=torch.Generator().manual_seed(0),
        )


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("scale", [1e18, 1e-25])
def test_the_unit_of_the_output_changes_no_share(recipe: str, scale: float) -> None:
    matrix = made("slow").float()
    plain, scaled = (run(each, recipe=recipe) for each in (matrix, matrix * scale))
    assert plain.kappa is not None
    assert scaled.kappa is not None
    assert scaled.kappa.value == pytest.approx(plain.kappa.value, rel=1e-4)
    assert scaled.norm.value == pytest.approx(scale**2 * plain.norm.value, rel=1e-4)
    assert scaled.rank == plain.rank


def test_repeated_singular_values_are_all_found_with_the_least_budget() -> None:
    flat = orthonormal(100, 10, seed=0) @ orthonormal(120, 10, seed=1).mT
    for seed in range(5):
        found = run(flat, recipe="krylov", rank=10, budget=38, seed=seed)
        assert found.rank == 10
        assert found.kappa is not None
        assert found.kappa.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"recipe": None}, "recipe"),
        ({"thresholds": 0.8}, "thresholds must be vitgeom.spectra.Thresholds or None, got 0.8"),
        ({"thresholds": {}}, "thresholds must be"),
    ],
)
def test_what_is_no_setting_is_named(changes: dict[str, object], match: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=match):
        run(made(), **changes)  # type: ignore[arg-type]


def test_a_matrix_is_no_operator() -> None:
    with pytest.raises(InvalidInput, match=r"operator must be a linear operator .* got Tensor"):
        inspect.unwrap(diagnose)(made(), num_tokens=TOKENS, generator=torch.Generator())
    with pytest.raises(InvalidInput, match="kappa must be a number, got 'a'"):
        Thresholds.__post_init__(SimpleNamespace(kappa="a", variation=0.5))  # type: ignore[arg-type]
