from __future__ import annotations

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import patch_mean_decoder


class TestContract(DecoderContract):
    @pytest.fixture
    def bound(self, registers, picture):
        return patch_mean_decoder(registers, layer=6).at(picture)


@pytest.mark.parametrize("name", ["nano", "registers", "headless"])
def test_from_every_layer_it_is_what_the_backbone_captures(name, request, picture):
    backbone = request.getfixturevalue(name)
    captured = backbone.capture(picture[None]).mean_normed[0]
    for layer in range(backbone.spec.num_blocks + 1):
        bound = patch_mean_decoder(backbone, layer=layer).at(picture)
        torch.testing.assert_close(bound(bound.features), captured, rtol=1e-9, atol=1e-11)


def test_prefix_tokens_stay_out_of_the_mean(registers, picture):
    bound = patch_mean_decoder(registers, layer=12).at(picture)
    changed = bound.features.clone()
    changed[: registers.spec.layout.num_prefix] += 3.0
    assert torch.equal(bound(changed), bound(bound.features))
