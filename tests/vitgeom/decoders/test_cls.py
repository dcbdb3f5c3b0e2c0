from __future__ import annotations

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import cls_decoder
from vitgeom.errors import InvalidInput


class TestContract(DecoderContract):
    @pytest.fixture(params=[0, 7, 12])
    def bound(self, request, nano, picture):
        return cls_decoder(nano, layer=request.param).at(picture)


@pytest.mark.parametrize("name", ["nano", "registers"])
def test_from_every_layer_it_is_the_models_own_class_token(name, request, picture):
    backbone = request.getfixturevalue(name)
    own = backbone.model.forward_features(picture[None].double())[0, 0]
    for layer in range(backbone.spec.num_blocks + 1):
        bound = cls_decoder(backbone, layer=layer).at(picture)
        torch.testing.assert_close(bound(bound.features), own, rtol=1e-9, atol=1e-11)


def test_unbound_it_is_the_same_function(nano, picture):
    decoder = cls_decoder(nano, layer=5)
    bound = decoder.at(picture)
    assert decoder.features_shape == (65, 96)
    assert torch.equal(decoder(bound.features), bound(bound.features))


def test_float32_agrees_with_float64(nano, picture):
    from vitgeom.backbones import load_backbone

    wide = cls_decoder(nano, layer=3).at(picture)
    narrow = cls_decoder(load_backbone("nano_supervised"), layer=3).at(picture)
    assert narrow.features.dtype == torch.float32
    torch.testing.assert_close(narrow(narrow.features).double(), wide(wide.features), rtol=1e-4, atol=1e-4)


def test_a_backbone_without_class_token_is_refused(headless):
    with pytest.raises(InvalidInput, match=r"asks for the class token, but backbone 'test_vit2'"):
        cls_decoder(headless, layer=1)
