from __future__ import annotations

import pytest
import torch

from tests.oracles.dense_jacobian import dense_jacobian
from tests.support.small_backbones import small_backbone
from tests.vitgeom.metric.bottleneck.conftest import (
    SMALL,
    SmoothHead,
    pictures,
    small_bottleneck,
    small_joined,
    stirred,
)
from vitgeom.decoders import BoundDecoder, head_decoder
from vitgeom.errors import InvalidInput
from vitgeom.linop import JacobianOperator
from vitgeom.metric.bottleneck import (
    BottleneckVAE,
    FromLatents,
    JoinedTaps,
    ThroughBottleneck,
    bottleneck_for,
)
from vitgeom.spectra import diagnose


@pytest.fixture
def through(joined) -> ThroughBottleneck:
    return ThroughBottleneck(joined, small_bottleneck(joined))


def dense(operator: JacobianOperator) -> torch.Tensor:
    return operator.matmat(torch.eye(operator.shape[1], dtype=operator.dtype))


def test_the_head_behind_six_latents_has_rank_six(through):
    bound = through.at(pictures(1)[0])
    assert isinstance(bound, BoundDecoder)
    assert (bound.name, bound.layer) == ("smooth through the bottleneck", 3)
    operator = JacobianOperator(bound, bound.features, num_prefix=1)
    torch.testing.assert_close(dense(operator), dense_jacobian(bound, bound.features), rtol=1e-5, atol=1e-7)
    found = diagnose(operator, rank=7, recipe="exact", generator=torch.Generator().manual_seed(0))
    assert found.rank <= 6
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(1)


def test_one_register_of_one_latent_leaves_one_direction(joined):
    through = ThroughBottleneck(joined, small_bottleneck(joined, registers=1, latent=1))
    bound = through.at(pictures(1)[0])
    values = torch.linalg.svdvals(dense(JacobianOperator(bound, bound.features)))
    assert float(values[1]) < 1e-9 * float(values[0])


def test_the_chain_rule_holds_between_tokens_latents_and_output(through):
    image = pictures(1)[0]
    whole, latent = through.at(image), FromLatents(through).at(image)
    assert latent.features.shape == FromLatents(through).features_shape == (2, 3)
    torch.testing.assert_close(latent(latent.features), whole(whole.features))
    encode = dense_jacobian(
        lambda x: through.vae.encode(x[None], grid=through.joined.grid).mean[0], whole.features
    )
    second = dense(JacobianOperator(latent, latent.features))
    torch.testing.assert_close(
        dense(JacobianOperator(whole, whole.features)), second @ encode, rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_works_in_both_precisions_forwards_and_backwards(dtype):
    joined = JoinedTaps(
        head_decoder(
            small_backbone({}, dtype=dtype), SmoothHead().to(dtype), layer=3, taps=(1, 2, 3), name="smooth"
        )
    )
    through = ThroughBottleneck(joined, stirred(bottleneck_for(joined, **SMALL)))
    for decoder in (joined, through, FromLatents(through)):
        bound = decoder.at(pictures(1)[0].to(dtype))
        operator = JacobianOperator(bound, bound.features)
        assert operator.dtype == dtype
        assert operator.jvp_path == "vmap(jvp)"
        assert operator.adjoint is not None
        assert operator.adjoint.relative < (1e-4 if dtype == torch.float32 else 1e-9)


def test_the_bottleneck_is_copied_and_frozen(joined):
    vae = small_bottleneck(joined)
    through = ThroughBottleneck(joined, vae)
    features = joined.features_of(pictures(1)[0])
    before = through(features)
    with torch.no_grad():
        vae.generator.linear.mean += 1
    assert torch.equal(through(features), before)
    assert not any(weight.requires_grad for weight in through.vae.parameters())


def test_another_image_size_works_with_the_same_bottleneck(joined):
    """Trained on 3 x 2 patches, used on 3 x 2 of a backbone with registers it is refused; on another grid of the same weights it is not."""
    vae = BottleneckVAE(36, 1, **SMALL).double()
    larger = small_joined()
    tokens = torch.randn(1, 1 + 12, 36, dtype=torch.float64)
    assert ThroughBottleneck(larger, vae).vae(tokens, grid=(4, 3)).shape == (1, 13, 36)


def test_a_bottleneck_for_other_tokens_is_refused(joined):
    with pytest.raises(
        InvalidInput, match="built for tokens of 24 numbers with 1 prefix tokens, but decoder"
    ):
        ThroughBottleneck(joined, BottleneckVAE(24, 1, **SMALL).double())


def test_weights_that_are_not_finite_are_refused(joined):
    vae = small_bottleneck(joined)
    with torch.no_grad():
        vae.generator.linear.mean[0, 0] = float("nan")
    with pytest.raises(InvalidInput, match=r"weights 'generator.linear.mean' of the head of decoder 'smooth"):
        ThroughBottleneck(joined, vae)
