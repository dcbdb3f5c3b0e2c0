"""The wrapping logic on a stand-in with VGGT's interface; VGGT itself is on no package index."""

from __future__ import annotations

import importlib.util

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from tests.support.vggt_stand_in import DEPTH, WIDTH, VggtStandIn
from vitgeom.decoders import VggtDecoder, random_head, vggt_model
from vitgeom.decoders.optional_packages import MissingPackage
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.seeding import generator_for

KEYS = {"depth": "depth", "points": "world_points", "camera": "pose_enc"}


@pytest.fixture(scope="module")
def model():
    return random_head(VggtStandIn, seed=0).double().eval()


@pytest.fixture(scope="module")
def image():
    return torch.rand(3, 16, 24, generator=generator_for(0, "vggt"), dtype=torch.float64)


class TestContract(DecoderContract):
    @pytest.fixture(params=["depth", "points", "camera"])
    def bound(self, request, model, image):
        return VggtDecoder(model, layer=1, output=request.param).at(image)

    def test_other_tokens_are_refused(self, bound):
        count, width = bound.features.shape
        for other in (bound.features[:-1], bound.features[None], bound.features.float()):
            with pytest.raises(InvalidInput, match=rf"must be \[{count}, {width}\] in torch.float64"):
                bound(other)


@pytest.mark.parametrize("output", list(KEYS))
@pytest.mark.parametrize("layer", range(DEPTH + 1))
def test_from_every_layer_it_is_the_models_own_forward_pass(model, image, output, layer):
    own = model(image[None, None])[KEYS[output]][0, 0]
    own = own if output == "camera" else own.movedim(-1, 0)
    bound = VggtDecoder(model, layer=layer, output=output).at(image)
    assert tuple(bound.features.shape) == (3 + 6, WIDTH)
    torch.testing.assert_close(bound(bound.features), own, rtol=1e-10, atol=1e-12)


def test_the_frame_half_of_the_features_own_layer_stays(model, image):
    """At the last layer the heads see [fixed frame half | features]: the camera head reads both."""
    bound = VggtDecoder(model, layer=DEPTH, output="camera").at(image)
    moved = bound.features.clone()
    moved[0] += 1
    start = model.camera_head.first
    frame_half = bound.earlier[-1][0, 0, 0, :WIDTH]
    pose = start(torch.cat([frame_half, moved[0]]))
    torch.testing.assert_close(bound(moved), pose + torch.tanh(model.camera_head.second(pose) + pose))


def test_the_model_that_was_given_stays_as_it_was(image):
    model = VggtStandIn().train()
    VggtDecoder(model.double(), layer=1).at(image)
    assert model.training
    assert next(model.parameters()).requires_grad
    assert not model.aggregator.frame_blocks[0]._forward_pre_hooks


def test_what_makes_no_sense_is_refused(model, image):
    with pytest.raises(
        InvalidInput, match=r"layer=4 of decoder 'vggt_depth' must be a whole number in 0\.\.3"
    ):
        VggtDecoder(model, layer=4)
    with pytest.raises(UnknownName, match=r"unknown output of VGGT 'dept'. Did you mean 'depth'"):
        VggtDecoder(model, layer=0, output="dept")
    broken = image.clone()
    broken[0, 0, 0] = float("nan")
    with pytest.raises(InvalidInput, match=r"pixels of the image for decoder 'vggt_depth' are not finite"):
        VggtDecoder(model, layer=0).at(broken)
    other = VggtStandIn()
    other.aggregator.aa_block_size = 2
    with pytest.raises(InvalidInput, match="aa_block_size=2 is not supported"):
        VggtDecoder(other, layer=0)


@pytest.mark.skipif(importlib.util.find_spec("vggt") is not None, reason="VGGT is installed")
def test_where_the_package_is_missing_the_way_to_it_is_named():
    with pytest.raises(
        MissingPackage, match="VGGT needs the package 'vggt', which is not installed: pip install"
    ):
        vggt_model()
