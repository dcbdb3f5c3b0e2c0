from __future__ import annotations

import pytest
import torch

from tests.support.small_backbones import PLAIN, small_backbone, tokens_of
from vitgeom.errors import InvalidInput
from vitgeom.linop.blocks_decoder import BlocksDecoder


@pytest.mark.parametrize("finish", [True, False])
def test_it_is_the_rest_of_the_backbone(finish: bool) -> None:
    backbone = small_backbone(PLAIN["plain"])
    features = tokens_of(backbone)
    decoder = BlocksDecoder(backbone, features, start=1, stop=None, finish=finish, readout="cls")
    tokens = backbone.blocks(features[None], 1, 3)
    wanted = (backbone.finish(tokens) if finish else tokens)[0, 0]
    assert torch.equal(decoder(features), wanted)


def test_features_of_another_dtype_are_refused() -> None:
    backbone = small_backbone(PLAIN["plain"])
    with pytest.raises(
        InvalidInput, match=r"features are torch.float32 on cpu, backbone 'small' torch.float64"
    ):
        BlocksDecoder(backbone, tokens_of(backbone).float(), start=1, stop=None, finish=True, readout="cls")
