"""The importance map that knows no image: what an importance head has to beat.   n = images, N = tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jaxtyping import Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.rank_correlation import average_ranks


def constant_importance(batches: Iterable[Mapping[str, Tensor]]) -> Float64[Tensor, " N"]:
    """Return the mean rank of each token over images, divided by N: a token that is always the most important one has 1.

    Of all fixed orders of the tokens the order of mean ranks has the largest mean Spearman correlation with the images' importance, where no image has ties.

    Args:
        batches: "importance" [b, N] of the training images, as :class:`vitgeom.metric.training.Examples` give it; images where it is the same everywhere count for nothing.

    Raises:
        InvalidInput: There is no image with an order of tokens.
    """
    total, images = None, 0
    for batch in batches:
        ranks = average_ranks(batch["importance"])
        some = (ranks != ranks[:, :1]).any(dim=1)
        summed = ranks[some].sum(dim=0)
        total, images = summed if total is None else total + summed, images + int(some.sum())
    if total is None or not images:
        raise InvalidInput(
            "batches must hold at least one image whose tokens differ in importance; got none."
        )
    return total / (images * len(total))
