"""Token scores that nobody has to learn, of many images.   n = images, N = tokens, D = width."""

from __future__ import annotations

from contextlib import suppress

from torch import Tensor

from vitgeom.backbones import Backbone
from vitgeom.backbones.block_weights import OtherBlocks
from vitgeom.reduction import cls_attention, feature_norm, random_scores
from vitgeom.seeding import generator_for


def plain_scores(features_nND: Tensor, backbone: Backbone, *, layer: int, seed: int) -> dict[str, Tensor]:
    """Return every score [n, N] that the backbone offers, by name.

    Attention of the class token is left out where there is no class token, no further block, or blocks of a form that is not read.

    Args:
        features_nND: Tokens of the layer.
        backbone: Whose they are.
        layer: Blocks that have run before them.
        seed: Of the random scores.
    """
    found = {"feature norm": feature_norm(features_nND)}
    if backbone.spec.layout.num_cls and layer < backbone.spec.num_blocks:
        with suppress(OtherBlocks):
            found["class attention"] = cls_attention(features_nND, backbone, layer=layer)
    random = random_scores(
        (len(features_nND), features_nND.shape[1]), generator=generator_for(seed, "random scores")
    )
    return {**found, "random": random}
