"""Bounds at one image: every theorem that applies, tight where it should be, and what is left out where nothing can be said."""

from __future__ import annotations

import pytest
import torch

from tasks.bound_checks import STEP, bound_checks, towards_mean
from tests.support.directed_results import PREFIX, TOKENS, WIDTH, diagnosed, linear_decoder
from vitgeom.linop import DenseOperator

NUM_PREFIX = sum(PREFIX.values())


def test_all_theorems_without_a_bottleneck_are_checked_and_hold() -> None:
    decoder = linear_decoder()
    checks = bound_checks(diagnosed(decoder), DenseOperator(decoder.matrix), decoder)
    assert {name: check.theorem for name, check in checks.items()} == {
        "truncated_importance": 2,
        "best_tokens": 2,
        "captured_share": 1,
        "first_order_change": 4,
    }
    assert all(check.holds for check in checks.values())
    assert sum(check.products.total for check in checks.values()) == 3 + 1


def test_the_directions_found_reach_kappa_cap() -> None:
    decoder = linear_decoder()
    check = bound_checks(diagnosed(decoder), DenseOperator(decoder.matrix), decoder)["captured_share"]
    assert check.measured == pytest.approx(check.bound, rel=1e-9)


def test_a_linear_decoder_leaves_no_remainder() -> None:
    decoder = linear_decoder()
    check = bound_checks(diagnosed(decoder), DenseOperator(decoder.matrix), decoder)["first_order_change"]
    moved = decoder.matrix @ towards_mean(decoder.features, num_prefix=NUM_PREFIX).flatten()
    assert check.measured == pytest.approx(float(moved.norm()))
    assert check.slack < 1e-9


def test_another_derivative_than_the_decoders_breaks_theorem_1() -> None:
    decoder = linear_decoder()
    checks = bound_checks(diagnosed(decoder), DenseOperator(1.2 * decoder.matrix), decoder)
    assert not checks["captured_share"].holds


def test_a_zero_jacobian_has_no_shares_to_check() -> None:
    decoder = linear_decoder(scale=0.0)
    checks = bound_checks(diagnosed(decoder), DenseOperator(decoder.matrix), decoder)
    assert set(checks) == {"truncated_importance", "first_order_change"}
    assert all(check.holds for check in checks.values())


def test_patches_move_a_step_to_their_mean_and_prefix_tokens_stay() -> None:
    features = torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(0))
    moved = features + towards_mean(features, num_prefix=NUM_PREFIX)
    assert torch.equal(moved[:NUM_PREFIX], features[:NUM_PREFIX])
    centre = features[NUM_PREFIX:].mean(dim=0)
    assert torch.allclose(
        moved[NUM_PREFIX:] - centre, (1 - STEP) * (features[NUM_PREFIX:] - centre), atol=1e-6
    )
    assert not towards_mean(features, num_prefix=TOKENS).any()
