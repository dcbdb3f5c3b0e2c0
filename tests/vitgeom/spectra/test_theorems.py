from __future__ import annotations

import dataclasses
import json

import pytest
import torch

from tests.support.matrices import orthonormal, planted, with_singular_values
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop import DenseOperator
from vitgeom.spectra import Diagnosis, diagnose
from vitgeom.spectra.theorems import (
    best_tokens_share,
    captured_share,
    first_order_change,
    rank_through_bottleneck,
    truncated_importance,
)

MATRIX = with_singular_values(planted(60)["slow"], rows=60, columns=90)
OPERATOR = DenseOperator(MATRIX)


def diagnosis(recipe: str = "exact", rank: int = 4) -> Diagnosis:
    return diagnose(
        OPERATOR,
        rank=rank,
        recipe=recipe,
        num_tokens=10,
        budget=80,
        generator=torch.Generator().manual_seed(0),
    )


def test_1_the_top_directions_reach_the_bound_and_no_others_do() -> None:
    found = diagnosis()
    best = captured_share(OPERATOR, found.right_NDR.reshape(90, 4), found)
    assert best.measured == pytest.approx(best.bound)
    assert best.holds
    for seed in range(5):
        other = captured_share(OPERATOR, orthonormal(90, 4, seed=seed), found)
        assert other.holds
        assert other.measured < other.bound
    assert best.products.jvp == 4


def test_1_is_violated_by_a_bound_that_is_too_small() -> None:
    found = diagnosis()
    small = dataclasses.replace(found, kappa_caps_R=found.kappa_caps_R / 2)
    assert not captured_share(OPERATOR, found.right_NDR.reshape(90, 4), small).holds


def test_1_refuses_what_it_cannot_judge() -> None:
    found = diagnosis()
    with pytest.raises(InvalidInput, match="directions must be at most 4"):
        captured_share(OPERATOR, orthonormal(90, 5, seed=0), found)
    with pytest.raises(NumericalFailure, match="not orthonormal"):
        captured_share(OPERATOR, torch.ones(90, 2, dtype=torch.float64), found)
    zero = diagnose(
        DenseOperator(torch.zeros(60, 90).double()), num_tokens=10, generator=torch.Generator().manual_seed(0)
    )
    with pytest.raises(InvalidInput, match="zero Jacobian"):
        captured_share(OPERATOR, orthonormal(90, 2, seed=0), zero)


@pytest.mark.parametrize("kept", [1, 3, 7, 10])
def test_2_holds_for_any_weights(kept: int) -> None:
    for seed in range(50):
        weights = torch.rand(10, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) ** 4
        assert best_tokens_share(weights, kept=kept).holds


def test_2_is_tight_for_two_levels_and_says_k_over_n_for_equal_weights() -> None:
    two = torch.tensor([5.0] * 3 + [1.0] * 7, dtype=torch.float64)
    assert best_tokens_share(two, kept=3).bound == pytest.approx(15 / 22)
    assert best_tokens_share(two, kept=3).measured == pytest.approx(15 / 22)
    equal = best_tokens_share(torch.ones(10, dtype=torch.float64), kept=2)
    assert (equal.measured, equal.bound) == pytest.approx((0.2, 0.2))


def test_2_the_tokens_share_is_what_a_change_to_them_alone_can_reach() -> None:
    found = diagnosis()
    energy = torch.stack([(MATRIX[:, 9 * t : 9 * t + 9] ** 2).sum() for t in range(10)])
    best = float(energy.sort(descending=True).values[:3].sum() / energy.sum())
    assert best_tokens_share(found.block_norms_N**2, kept=3).measured == pytest.approx(best)


@pytest.mark.parametrize(
    ("weights", "kept", "message"),
    [
        ([1.0, 1.0], 3, "kept must be at most 2"),
        ([1.0, 1.0], 0, "kept"),
        ([1.0, -1.0], 1, ">= 0"),
        ([0.0, 0.0], 1, "positive sum"),
    ],
)
def test_2_refuses_weights_without_shares(weights: list[float], kept: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        best_tokens_share(torch.tensor(weights, dtype=torch.float64), kept=kept)


@pytest.mark.parametrize("recipe", ["exact", "krylov"])
def test_2_truncated_importance_is_within_the_block_norm(recipe: str) -> None:
    found = diagnosis(recipe)
    check = truncated_importance(found)
    assert check.holds
    worse = dataclasses.replace(found, importance_N=found.importance_N * 3)
    assert not truncated_importance(worse).holds


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_3_behind_a_bottleneck_the_rest_vanishes(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    into, out_of = (torch.randn(n, 6, generator=generator).to(dtype) for n in (90, 60))
    sigma = torch.linalg.svdvals(out_of @ into.mT).double()
    assert rank_through_bottleneck(sigma, bottleneck=6, dtype=dtype).holds
    assert not rank_through_bottleneck(sigma, bottleneck=5, dtype=dtype).holds
    assert rank_through_bottleneck(sigma[:4], bottleneck=6, dtype=dtype).measured == 0.0
    with pytest.raises(InvalidInput, match="bottleneck must be"):
        rank_through_bottleneck(sigma, bottleneck=0, dtype=dtype)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_4_holds_for_a_curved_map_at_any_size(size: float) -> None:
    inner = with_singular_values(planted(60)["fast"], rows=60, columns=90, seed=5)
    at = torch.randn(90, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    jacobian = DenseOperator((1 - torch.tanh(inner @ at)[:, None] ** 2) * inner)
    found = diagnose(
        jacobian, rank=4, recipe="exact", num_tokens=10, generator=torch.Generator().manual_seed(0)
    )
    delta = size * torch.randn(10, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    change = torch.tanh(inner @ (at + delta.reshape(-1))) - torch.tanh(inner @ at)
    check = first_order_change(jacobian, found, delta_ND=delta, change_M=change)
    assert check.holds
    assert check.products.jvp == 1
    if size == 1e-3:
        assert check.measured <= check.bound
        assert check.slack < 1e-2 * check.bound


def test_4_is_tight_for_one_token_along_its_best_direction() -> None:
    matrix = torch.zeros(3, 8, dtype=torch.float64)
    matrix[0, 2] = 5.0
    operator = DenseOperator(matrix)
    found = diagnose(operator, rank=1, num_tokens=4, generator=torch.Generator().manual_seed(0))
    delta = torch.zeros(4, 2, dtype=torch.float64)
    delta[1, 0] = 0.3
    check = first_order_change(operator, found, delta_ND=delta, change_M=matrix @ delta.reshape(-1))
    assert check.measured == pytest.approx(check.bound) == pytest.approx(1.5)
    smaller = dataclasses.replace(found, block_norms_N=found.block_norms_N / 2)
    assert not first_order_change(
        operator, smaller, delta_ND=delta, change_M=matrix @ delta.reshape(-1)
    ).holds
    assert json.loads(json.dumps(check.to_json()))["holds"] is True


def test_4_refuses_shapes_that_do_not_fit() -> None:
    with pytest.raises(InvalidInput, match=r"delta must be \[10, 9\] and change \[60\]"):
        first_order_change(OPERATOR, diagnosis(), delta_ND=torch.zeros(9, 10), change_M=torch.zeros(60))
