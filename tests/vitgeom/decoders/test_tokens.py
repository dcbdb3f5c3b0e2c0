from __future__ import annotations

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import tokens_decoder


class TestContract(DecoderContract):
    @pytest.fixture
    def bound(self, nano, picture):
        return tokens_decoder(nano, layer=9).at(picture)


def test_from_every_layer_it_is_the_models_own_forward_pass(registers, picture):
    own = registers.model.forward_features(picture[None].double())[0]
    for layer in range(13):
        bound = tokens_decoder(registers, layer=layer).at(picture)
        torch.testing.assert_close(bound(bound.features), own, rtol=1e-9, atol=1e-11)
