from __future__ import annotations

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import pooled_decoder


class TestContract(DecoderContract):
    @pytest.fixture
    def bound(self, attention_pool, picture):
        return pooled_decoder(attention_pool, layer=2).at(picture)


@pytest.mark.parametrize("name", ["nano", "headless", "attention_pool"])
def test_from_every_layer_it_is_the_models_own_output(name, request, picture):
    backbone = request.getfixturevalue(name)
    own = backbone.capture(picture[None]).output[0]
    for layer in range(backbone.spec.num_blocks + 1):
        bound = pooled_decoder(backbone, layer=layer).at(picture)
        torch.testing.assert_close(bound(bound.features), own, rtol=1e-9, atol=1e-11)
