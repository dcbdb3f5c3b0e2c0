"""Scores without learning: what the backbone offers, and no more."""

from __future__ import annotations

import torch

from tasks.metric_scores import plain_scores
from tests.support.small_backbones import OTHER, PLAIN, small_backbone, tokens_of
from vitgeom.reduction import cls_attention, feature_norm


def test_every_score_has_one_number_per_token() -> None:
    backbone = small_backbone(PLAIN["plain"])
    tokens = tokens_of(backbone)[None].repeat(3, 1, 1)
    found = plain_scores(tokens, backbone, layer=1, seed=0)
    assert list(found) == ["feature norm", "class attention", "random"]
    assert {scores.shape for scores in found.values()} == {tokens.shape[:2]}
    torch.testing.assert_close(found["class attention"], cls_attention(tokens, backbone, layer=1))
    torch.testing.assert_close(found["feature norm"], feature_norm(tokens))


def test_attention_is_left_out_where_there_is_none() -> None:
    pooled = small_backbone(PLAIN["no class token, norm after the pool"])
    other = small_backbone(OTHER["normed attention"][0])
    plain = small_backbone(PLAIN["plain"])
    for backbone, layer in ((pooled, 0), (other, 1), (plain, 3)):
        assert list(plain_scores(tokens_of(backbone)[None], backbone, layer=layer, seed=0)) == [
            "feature norm",
            "random",
        ]
