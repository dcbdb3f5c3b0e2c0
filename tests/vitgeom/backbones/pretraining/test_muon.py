from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.backbones.pretraining.muon import Muon, orthogonalise


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 20, 6), (2, 6, 20)])
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_singular_values_come_near_one_and_vectors_stay(shape, scale):
    matrices = scale * torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    u, sigma, vh = torch.linalg.svd(matrices, full_matrices=False)
    core = u.mT @ orthogonalise(matrices) @ vh.mT
    diagonal = core.diagonal(dim1=1, dim2=2)
    assert (core - torch.diag_embed(diagonal)).abs().max() < 1e-8
    well_conditioned = sigma / sigma.norm(dim=1, keepdim=True) > 0.02
    assert diagonal[well_conditioned].min() > 0.5
    assert diagonal.max() < 1.3


def test_zero_stays_zero():
    assert torch.equal(orthogonalise(torch.zeros(2, 3, 4)), torch.zeros(2, 3, 4))


def test_first_step_is_one_orthogonal_update_of_each_matrix():
    """Oracle: the same update by a singular value decomposition, up to the tolerance of the iteration."""
    generator = torch.Generator().manual_seed(1)
    parameters = [nn.Parameter(torch.randn(4, 4, generator=generator)) for _ in range(2)]
    before = [p.detach().clone() for p in parameters]
    for p in parameters:
        p.grad = torch.linalg.qr(torch.randn(4, 4, generator=generator))[0] * 7
    Muon(parameters, lr=0.1, momentum=0.9, weight_decay=0.5).step()
    for p, start in zip(parameters, before, strict=True):
        update = (start * (1 - 0.05) - p.detach()) / 0.1
        assert torch.linalg.svdvals(update).sub(1).abs().max() < 0.35
        assert torch.nn.functional.cosine_similarity(update.flatten(), p.grad.flatten(), dim=0) > 0.99


def test_tall_matrices_take_larger_steps():
    tall, flat = nn.Parameter(torch.zeros(16, 4)), nn.Parameter(torch.zeros(4, 16))
    gradient = torch.randn(16, 4, generator=torch.Generator().manual_seed(0))
    tall.grad, flat.grad = gradient.clone(), gradient.T.clone()
    Muon([tall, flat], lr=1.0).step()
    torch.testing.assert_close(tall.detach(), 2 * flat.detach().T, rtol=1e-4, atol=1e-5)


def test_a_quadratic_is_minimised():
    goal = torch.randn(6, 6, generator=torch.Generator().manual_seed(0))
    parameter = nn.Parameter(torch.zeros(6, 6))
    for step in range(200):
        optimiser = Muon([parameter], lr=0.2 * (1 - step / 200), momentum=0.0, weight_decay=0.0)
        optimiser.zero_grad()
        (parameter - goal).square().sum().backward()
        optimiser.step()
    assert (parameter - goal).norm() < 0.1 * goal.norm()
