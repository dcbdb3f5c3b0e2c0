"""The wrapping logic on a stand-in, and on transformers' own model (random weights) where it is installed."""

from __future__ import annotations

import importlib.util

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from tests.support.depth_anything_stand_in import DepthAnythingStandIn
from vitgeom.decoders import depth_anything_decoder, depth_anything_model, random_head
from vitgeom.decoders.depth_anything import DepthAnythingTrunk
from vitgeom.decoders.optional_packages import MissingPackage
from vitgeom.decoders.trunk import Trunk
from vitgeom.errors import InvalidInput
from vitgeom.seeding import generator_for

INSTALLED = importlib.util.find_spec("transformers") is not None
needs_transformers = pytest.mark.skipif(not INSTALLED, reason="transformers is not installed (extra 'dense')")
TINY = {
    "backbone_config": {
        "model_type": "dinov2",
        "image_size": 56,
        "patch_size": 14,
        "hidden_size": 24,
        "num_hidden_layers": 4,
        "num_attention_heads": 2,
        "out_indices": [1, 2, 3, 4],
        "reshape_hidden_states": False,
    },
    "reassemble_hidden_size": 24,
    "neck_hidden_sizes": [4, 6, 8, 10],
    "fusion_hidden_size": 8,
    "head_hidden_size": 4,
}


def pixels(height: int, width: int) -> torch.Tensor:
    return torch.randn(3, height, width, generator=generator_for(0, "depth"), dtype=torch.float64)


@pytest.fixture(scope="module", params=[False, True], ids=["tensors", "tuples"])
def stand_in(request):
    return random_head(lambda: DepthAnythingStandIn(in_tuple=request.param), seed=0).double().eval()


@pytest.fixture(scope="module")
def tiny():
    return depth_anything_model(None, config=TINY, seed=0).double().eval()


class TestContract(DecoderContract):
    @pytest.fixture
    def bound(self, stand_in):
        return depth_anything_decoder(stand_in, layer=3, image_size=(8, 12)).at(pixels(8, 12))


@needs_transformers
class TestContractOnTransformers(DecoderContract):
    @pytest.fixture
    def bound(self, tiny):
        return depth_anything_decoder(tiny, layer=2, image_size=(42, 56)).at(pixels(42, 56))


def test_from_every_layer_it_is_the_models_own_forward_pass(stand_in):
    own = stand_in(pixels(8, 12)[None])
    for layer in range(5):
        bound = depth_anything_decoder(stand_in, layer=layer, image_size=(8, 12)).at(pixels(8, 12))
        assert sorted(bound.earlier) == ([2] if layer > 2 else [])
        torch.testing.assert_close(bound(bound.features), own, rtol=1e-10, atol=1e-12)


@needs_transformers
@pytest.mark.parametrize("layer", range(5))
@torch.no_grad()
def test_from_every_layer_it_is_what_transformers_predicts(tiny, layer):
    own = tiny(pixel_values=pixels(42, 56)[None]).predicted_depth
    assert float(own.max()) > 0
    bound = depth_anything_decoder(tiny, layer=layer, image_size=(42, 56)).at(pixels(42, 56))
    assert tuple(bound(bound.features).shape) == (1, 42, 56)
    torch.testing.assert_close(bound(bound.features), own, rtol=1e-9, atol=1e-11)


@needs_transformers
def test_random_weights_depend_on_the_seed_and_a_saved_model_loads_again(tiny, tmp_path):
    again = depth_anything_model(None, config=TINY, seed=0)
    other = depth_anything_model(None, config=TINY, seed=1)
    assert torch.equal(again.head.conv1.weight.double(), tiny.head.conv1.weight)
    assert not torch.equal(again.head.conv1.weight, other.head.conv1.weight)
    again.save_pretrained(tmp_path)
    loaded = depth_anything_model(tmp_path)
    assert torch.equal(loaded.head.conv1.weight, again.head.conv1.weight)


@needs_transformers
def test_weights_that_cannot_be_had_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"of Depth Anything cannot be had.*weights=None"):
        depth_anything_model(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="config belongs to random weights"):
        depth_anything_model(tmp_path, config=TINY)


@pytest.mark.skipif(INSTALLED, reason="transformers is installed")
def test_where_transformers_is_missing_the_extra_is_named():
    with pytest.raises(
        MissingPackage, match=r"needs the package 'transformers'.*pip install 'vitgeom\[dense\]'"
    ):
        depth_anything_model(None)


def test_the_trunk_keeps_the_protocol_and_leaves_the_model_alone(stand_in):
    model = DepthAnythingStandIn().train()
    trunk = DepthAnythingTrunk(model, image_size=(8, 12))
    assert isinstance(trunk, Trunk)
    assert (trunk.num_blocks, trunk.tokens_shape, trunk.taps) == (4, (7, 12), (2, 4))
    assert model.training
    assert model.backbone.layernorm.weight.requires_grad


def test_sizes_that_do_not_fit_are_refused(stand_in):
    with pytest.raises(InvalidInput, match=r"image_size=\(8, 13\) must be multiples of the patch size 4"):
        depth_anything_decoder(stand_in, layer=0, image_size=(8, 13))
    with pytest.raises(InvalidInput, match=r"images are \(8, 8\) pixels.*made for image_size=\(8, 12\)"):
        depth_anything_decoder(stand_in, layer=0, image_size=(8, 12)).at(pixels(8, 8))
