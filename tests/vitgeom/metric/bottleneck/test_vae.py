from __future__ import annotations

import pytest
import torch
from torch.func import jacrev

from tests.oracles.dense_jacobian import dense_jacobian
from tests.vitgeom.metric.bottleneck.conftest import SMALL, small_bottleneck, stirred
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import BottleneckVAE


def test_nothing_goes_past_the_latents(joined, tokens):
    """2 registers x 3 latents: rebuilt tokens depend on the original ones through six numbers alone."""
    vae = small_bottleneck(joined)
    jacobian = dense_jacobian(lambda x: vae(x[None], grid=joined.grid)[0], tokens[0])
    values = torch.linalg.svdvals(jacobian)
    assert float(values[5]) > 1e-4 * float(values[0])
    assert float(values[6]) < 1e-8 * float(values[0])


def test_two_images_with_the_same_latents_are_rebuilt_alike(joined, tokens):
    vae = small_bottleneck(joined)
    z = vae.encode(tokens, grid=joined.grid).mean
    alone = vae.decode(z[:1], grid=joined.grid)
    torch.testing.assert_close(alone[0], vae(tokens, grid=joined.grid)[0])


def test_derivatives_are_those_of_evaluations(joined, tokens):
    vae = small_bottleneck(joined)

    def rebuilt(x):
        return vae(x[None], grid=joined.grid)[0]

    wanted = dense_jacobian(rebuilt, tokens[0])
    found = jacrev(rebuilt)(tokens[0]).reshape(wanted.shape)
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)


def test_another_grid_works_without_training_again(joined):
    vae = small_bottleneck(joined)
    tokens = torch.randn(2, 1 + 20, 36, dtype=torch.float64)
    assert vae.encode(tokens, grid=(4, 5)).mean.shape == (2, 2, 3)
    assert vae(tokens, grid=(4, 5)).shape == tokens.shape


def test_weights_come_from_the_seed_and_leave_the_global_state_alone():
    torch.manual_seed(1)
    wanted = torch.rand(1)
    torch.manual_seed(1)
    first, second, other = (BottleneckVAE(36, 1, **SMALL, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.rand(1), wanted)
    assert torch.equal(first.generator.project.weight, second.generator.project.weight)
    assert not torch.equal(first.generator.project.weight, other.generator.project.weight)


def test_config_builds_the_same():
    vae = BottleneckVAE(36, 1, **SMALL, seed=4)
    again = BottleneckVAE(**vae.config)
    assert again.shape == vae.shape
    for name, tensor in vae.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


def test_encoder_and_decoder_have_as_many_images_as_came(joined, tokens):
    vae = stirred(BottleneckVAE(36, 1, **SMALL)).double()
    latents = vae.encode(tokens, grid=joined.grid)
    assert latents.mean.shape == latents.log_variance.shape == (5, 2, 3)
    assert vae.decode(latents.mean, grid=joined.grid).shape == tokens.shape


@pytest.mark.parametrize("shape", [(1, 7, 35), (1, 6, 36), (1, 8, 36)])
def test_tokens_of_another_width_or_grid_are_refused(joined, shape):
    vae = small_bottleneck(joined)
    with pytest.raises(
        InvalidInput, match=r"tokens must be \[B, 7, 36\] \(1 prefix tokens and a grid of 3 x 2"
    ):
        vae.encode(torch.zeros(shape, dtype=torch.float64), grid=joined.grid)


def test_latents_of_another_shape_are_refused(joined):
    with pytest.raises(InvalidInput, match=r"z must be \[B, 2, 3\] \(registers x latents\), got \[1, 3, 2\]"):
        small_bottleneck(joined).decode(torch.zeros(1, 3, 2, dtype=torch.float64), grid=joined.grid)


def test_no_registers_are_refused():
    with pytest.raises(InvalidInput, match="registers must be a whole number >= 1, got 0"):
        BottleneckVAE(36, 1, registers=0)
