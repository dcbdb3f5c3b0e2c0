from __future__ import annotations

import pytest
import torch
from torch import Tensor

from vitgeom.metric import PullbackMetric, spectral_loss
from vitgeom.metric.spectral_loss import energy_errors
from vitgeom.seeding import generator_for

P, R = 24, 3
SIGMA = torch.tensor([[4.0, 2.0, 1.0], [9.0, 3.0, 0.1]], dtype=torch.float64)


def columns(name: str, r: int = R) -> Tensor:
    drawn = torch.randn(2, P, r, dtype=torch.float64, generator=generator_for(0, name, r))
    return torch.linalg.qr(drawn).Q


def metric(u: Tensor, energies: Tensor) -> PullbackMetric:
    return PullbackMetric(u.reshape(2, 6, 4, -1), energies)


def loss(
    u: Tensor, energies: Tensor, *, v: Tensor | None = None, sigma: Tensor = SIGMA, found=None, beta=0.5
):
    v = columns("v") if v is None else v
    return spectral_loss(metric(u, energies), right_vectors=v, singular_values=sigma, num_found=found, beta=beta)  # fmt: skip


def test_the_truth_has_no_loss() -> None:
    terms = loss(columns("v"), SIGMA.square())
    for name in ("total", "subspace", "energy"):
        assert float(terms[name]) == pytest.approx(0, abs=1e-12)


def test_it_is_the_formula() -> None:
    u, lam = columns("u"), torch.tensor([[10.0, 5.0, 2.0], [50.0, 9.0, 0.2]], dtype=torch.float64)
    terms = loss(u, lam, beta=0.5)
    subspace = [1 - float((u[i].T @ columns("v")[i]).square().sum()) / R for i in range(2)]
    energy = [float((lam[i].log() - SIGMA[i].square().log()).square().mean()) for i in range(2)]
    assert float(terms["subspace"]) == pytest.approx(sum(subspace) / 2)
    assert float(terms["energy"]) == pytest.approx(sum(energy) / 2)
    assert float(terms["total"]) == pytest.approx(sum(subspace) / 2 + 0.5 * sum(energy) / 2)


def test_degenerate_modes_have_no_energy_term() -> None:
    sigma = torch.tensor([[2.0, 2.0, 1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    lam = torch.full((2, 3), 7.0, dtype=torch.float64)
    errors = energy_errors(metric(columns("u"), lam), singular_values=sigma)
    assert errors.tolist() == pytest.approx([torch.tensor(7.0).log().item() ** 2, 0.0])


def test_all_modes_degenerate_leaves_the_subspace_alone() -> None:
    lam = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    u = columns("u").requires_grad_()
    terms = loss(u, lam, sigma=torch.ones(2, 3, dtype=torch.float64))
    assert float(terms["energy"].detach()) == 0
    terms["total"].backward()
    assert u.grad.isfinite().all()
    assert lam.grad.tolist() == [[0.0] * 3] * 2


def test_an_image_without_energy_counts_for_nothing() -> None:
    u, lam = columns("u").requires_grad_(), torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    sigma = SIGMA.clone()
    sigma[0] = 0
    v = columns("v")
    v[0] = 0
    terms = loss(u, lam, v=v, sigma=sigma, found=torch.tensor([0, 3]))
    alone = 1 - float((u[1].T @ v[1]).square().sum().detach()) / R
    assert float(terms["subspace"].detach()) == pytest.approx(alone / 2)
    terms["total"].backward()
    assert u.grad[0].abs().max() == lam.grad[0].abs().max() == 0
    assert u.grad.isfinite().all()


def test_fewer_directions_than_the_rank_are_all_that_count() -> None:
    u, lam, v = columns("u"), SIGMA.square(), columns("v")
    v[0, :, 1:] = torch.nan
    terms = loss(u, lam, v=v, found=torch.tensor([1, 3]))
    wanted = 2 - float((u[0].T @ columns("v")[0, :, :1]).square().sum()) - float((u[1].T @ v[1]).square().sum()) / R  # fmt: skip
    assert float(terms["subspace"]) == pytest.approx(wanted / 2)
    assert float(terms["energy"]) == pytest.approx(0, abs=1e-12)


def test_targets_with_fewer_or_more_stored_directions_than_the_rank() -> None:
    wide = metric(columns("u", 5), torch.ones(2, 5, dtype=torch.float64))
    assert energy_errors(wide, singular_values=SIGMA).shape == (2,)
    narrow = metric(columns("u", 2), SIGMA.square()[:, :2])
    assert energy_errors(narrow, singular_values=SIGMA).tolist() == pytest.approx([0, 0], abs=1e-12)


def test_the_gradient_is_the_derivative() -> None:
    u, lam = columns("u").requires_grad_(), (SIGMA.square() + 0.3).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: loss(a, b)["total"], (u, lam))
