from __future__ import annotations

import dataclasses

import pytest

from tests.support.small_backbones import PLAIN, small_backbone
from vitgeom.backbones import NormWeights, OtherBlocks
from vitgeom.errors import InvalidInput


def test_blocks_of_a_range_come_in_order() -> None:
    backbone = small_backbone(PLAIN["plain"])
    weights = backbone.block_weights(1, 3)
    blocks = list(backbone.model.blocks)[1:3]
    assert [w.mlp.fc1.weight is b.mlp.fc1.weight for w, b in zip(weights, blocks, strict=True)] == [
        True,
        True,
    ]
    assert backbone.block_weights(2, 2) == ()


def test_a_range_outside_the_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"start=2, stop=4 must satisfy 0 <= start <= stop <= 3"):
        small_backbone(PLAIN["plain"]).block_weights(2, 4)


def test_the_norm_at_the_end_is_none_where_the_model_pools_first() -> None:
    norm = small_backbone(PLAIN["plain"]).norm_weights()
    assert isinstance(norm, NormWeights)
    assert small_backbone(PLAIN["no class token, norm after the pool"]).norm_weights() is None


def test_weights_cannot_be_exchanged() -> None:
    (weights,) = small_backbone(PLAIN["plain"]).block_weights(0, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        weights.scale1 = None


def test_other_blocks_are_wrong_input_to_whoever_asks_for_them() -> None:
    assert issubclass(OtherBlocks, InvalidInput)
