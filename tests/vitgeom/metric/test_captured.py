"""The share of sensitivity that directions hold, against the Jacobian itself."""

from __future__ import annotations

import pytest
import torch

from tests.support.matrices import with_singular_values
from vitgeom.metric.captured import captured_share
from vitgeom.seeding import generator_for


def jacobian() -> torch.Tensor:
    return with_singular_values(torch.linspace(3, 0.5, 9, dtype=torch.float64), rows=9, columns=12)


def case(modes: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """A Jacobian [9, 12] and its first modes as targets of one image."""
    _, sigma, right = torch.linalg.svd(jacobian(), full_matrices=False)
    return sigma, {
        "right_vectors": right.mT[None, :, :modes],
        "singular_values": sigma[None, :modes],
        "norm_squared": sigma.square().sum()[None],
    }


def columns(count: int) -> torch.Tensor:
    drawn = torch.randn(12, count, generator=generator_for(0, "columns"), dtype=torch.float64)
    return torch.linalg.qr(drawn)[0]


def test_with_all_modes_it_is_that_of_the_jacobian() -> None:
    _, targets = case(9)
    u = columns(4)
    dense = jacobian()
    oracle = (dense @ u).square().sum() / dense.square().sum()
    assert captured_share(u[None], **targets)[0] == pytest.approx(float(oracle))


def test_with_fewer_modes_it_is_a_lower_bound() -> None:
    u = columns(4)[None]
    shares = [float(captured_share(u, **case(modes)[1])[0]) for modes in (3, 6, 9)]
    assert shares == sorted(shares)
    cut = {**case(9)[1], "num_found": torch.tensor([3])}
    assert float(captured_share(u, **cut)[0]) == pytest.approx(shares[0])


def test_the_best_directions_reach_the_ceiling_and_no_others_pass_it() -> None:
    sigma, targets = case(9)
    ceiling = float(sigma[:4].square().sum() / sigma.square().sum())
    best = targets["right_vectors"][:, :, :4]
    assert float(captured_share(best, **targets)[0]) == pytest.approx(ceiling)
    assert float(captured_share(columns(4)[None], **targets)[0]) < ceiling


def test_a_zero_jacobian_has_no_share() -> None:
    _, targets = case(9)
    zero = {**targets, "singular_values": torch.zeros(1, 9), "norm_squared": torch.zeros(1)}
    assert captured_share(columns(4)[None], **zero).isnan().all()
