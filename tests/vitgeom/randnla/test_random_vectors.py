from __future__ import annotations

import inspect

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.randnla.random_vectors import Draw, gaussian, signs, sphere


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("draw", [signs, gaussian, sphere])
def test_second_moments_are_those_of_the_identity(draw: Draw) -> None:
    z = draw(4, 40_000, generator=generator())
    # An off-diagonal mean has standard deviation 1 / sqrt(K), a diagonal one at most sqrt(2 / K).
    assert float((z @ z.mT / z.shape[1] - torch.eye(4)).abs().max()) < 5 * (2 / 40_000) ** 0.5


def test_signs_and_sphere_have_one_length() -> None:
    for draw in (signs, sphere):
        assert torch.allclose(
            draw(7, 50, generator=generator()).norm(dim=0), torch.tensor(7.0).double().sqrt()
        )


def test_sphere_has_no_variance_on_a_multiple_of_the_identity_and_the_stated_one_elsewhere() -> None:
    z = sphere(6, 60_000, generator=generator())
    assert float((z * 3 * z).sum(dim=0).std()) < 1e-12
    diagonal = torch.tensor([5.0, 1, 1, 0, 0, 0], dtype=torch.float64)
    samples = (diagonal[:, None] * z**2).sum(dim=0)
    order, square, trace = 6, float((diagonal**2).sum()), float(diagonal.sum())
    expected = 2 * order / (order + 2) * (square - trace**2 / order)
    assert float(samples.var()) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("draw", [signs, gaussian, sphere])
def test_the_generator_is_the_only_source(draw: Draw) -> None:
    assert torch.equal(draw(5, 3, generator=generator(1)), draw(5, 3, generator=generator(1)))
    assert not torch.equal(draw(5, 3, generator=generator(1)), draw(5, 3, generator=generator(2)))


@pytest.mark.parametrize("draw", [signs, gaussian])
def test_without_a_generator_nothing_is_drawn(draw: Draw) -> None:
    with pytest.raises(InvalidInput, match=r"generator must be a torch\.Generator, got None"):
        inspect.unwrap(draw)(5, 3, generator=None)
