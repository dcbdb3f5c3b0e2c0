from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.bottleneck.conftest import SmoothHead, pictures, small_joined
from vitgeom.decoders import BoundDecoder, head_decoder
from vitgeom.errors import InvalidInput
from vitgeom.linop import JacobianOperator
from vitgeom.metric.bottleneck import JoinedTaps


def test_it_says_what_the_decoder_says_of_the_picture(joined):
    image = pictures(1)[0]
    bound, original = joined.at(image), joined.decoder.at(image)
    assert isinstance(bound, BoundDecoder)
    assert bound.features.shape == joined.features_shape == (7, 36)
    torch.testing.assert_close(bound(bound.features), original(original.features))
    assert (bound.name, bound.layer, joined.num_prefix, joined.grid) == ("smooth", 3, 1, (3, 2))


def test_taps_before_the_decoders_layer_are_features_like_the_others():
    """The layer at which the decoder would be differentiated does not matter: no tap is held fixed."""
    first, last = (
        JoinedTaps(head_decoder(small_joined().backbone, SmoothHead(), layer=layer, taps=(1, 2, 3), name="x"))
        for layer in (0, 3)
    )
    assert (first.layer, last.layer) == (3, 3)
    features = torch.randn(7, 36, dtype=torch.float64)
    changed = features.clone()
    changed[:, :12] = torch.randn(7, 12, dtype=torch.float64)  # the first tap
    for joined in (first, last):
        assert not torch.allclose(joined(features), joined(changed))


def test_tokens_are_those_of_the_taps_side_by_side(joined):
    images = pictures(2)
    found = joined.tokens(images)
    captured = joined.backbone.capture(images, token_layers=[0, 1, 2]).tokens
    torch.testing.assert_close(found, torch.cat(list(captured.unbind(1)), dim=-1))


def test_an_operator_can_be_built_on_it(joined):
    bound = joined.at(pictures(1)[0])
    operator = JacobianOperator(bound, bound.features, num_prefix=1)
    assert operator.shape == (7, 7 * 36)
    assert operator.jvp_path == "vmap(jvp)"
    assert operator.adjoint is not None


def test_what_is_no_head_on_taps_is_refused():
    with pytest.raises(InvalidInput, match=r"decoder must be a head on taps of a backbone .* got function"):
        JoinedTaps(lambda x: x)


def test_taps_that_are_not_there_are_refused_by_the_decoder(joined):
    with pytest.raises(InvalidInput, match=r"taps=\[1, 2, 4\] of decoder 'x' name layer 4"):
        head_decoder(joined.backbone, SmoothHead(), layer=1, taps=(1, 2, 4), name="x")


@pytest.mark.parametrize("shape", [(7, 35), (6, 36), (7, 24)])
def test_features_of_another_shape_are_refused(joined, shape):
    with pytest.raises(
        InvalidInput, match=r"features of decoder 'smooth' must be \[7, 36\] per image, the tokens of layers"
    ):
        joined(torch.zeros(shape, dtype=torch.float64))


def test_another_dtype_is_refused(joined):
    with pytest.raises(
        InvalidInput, match=r"are torch.float32 on cpu, the model is torch.float64.*Convert them"
    ):
        joined(torch.zeros(7, 36))


def test_what_is_not_finite_is_refused(joined):
    image = pictures(1)[0]
    image[0, 0, 0] = float("inf")
    with pytest.raises(InvalidInput, match="pixels of the image for decoder 'smooth' are not finite"):
        joined.at(image)
    features = torch.zeros(7, 36, dtype=torch.float64)
    features[2, 3] = float("nan")
    with pytest.raises(
        InvalidInput, match=r"features of decoder 'smooth' are not finite at \[2, 3\] \(first of 1\)"
    ):
        joined.at_features(features)


def test_a_batch_is_no_image(joined):
    with pytest.raises(InvalidInput, match="Bind one image at a time"):
        joined.at(pictures(2))
