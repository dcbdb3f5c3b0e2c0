"""The loss of an importance head (B9 of the methods).   B = images, N = tokens, P = pairs.

    loss = mean_t (log imp_t - log imp*_t)^2 + 0.5 * mean over pairs of log(1 + exp(-(log imp_s - log imp_t) / w)),     imp*_s > imp*_t

w is the standard deviation of log imp* over the tokens of the image, so that a pair that is in order by the typical distance is nearly settled. Pairs lie within an image; equal ones
say nothing. Up to 260 tokens all pairs count, above it 32 N pairs drawn at random. A token of importance 0 has no logarithm: it takes part in pairs alone, as the least.
An image without any importance counts for neither term.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Generator, Tensor
from torch.nn.functional import softplus

from vitgeom.errors import InvalidInput

RANKING_WEIGHT = 0.5
ALL_PAIRS_UP_TO = 260
_PAIRS_PER_TOKEN = 32
_LEAST_WIDTH = 1e-3


def importance_loss(
    predicted: Float[Tensor, "b n"],
    wanted: Float[Tensor, "b n"],
    *,
    generators: Sequence[Generator] | None = None,
) -> dict[str, Float[Tensor, ""]]:
    """Return "total", "logs" and "ranking", each a mean over the images of the batch.

    Args:
        predicted: > 0.
        wanted: imp* >= 0; a constant.
        generators: One per image, for pairs where there are too many; None is enough up to 260 tokens.
    """
    wanted = wanted.to(predicted)
    positive = wanted > 0
    log_predicted, log_wanted = predicted.log(), torch.where(positive, wanted, 1.0).log()
    counts_B = positive.sum(dim=1).clamp_min(1)
    off_BN = torch.where(positive, log_predicted - log_wanted, 0.0)
    logs = (off_BN.square().sum(dim=1) / counts_B).mean()
    ranking = _ranking(log_predicted, wanted, width_B1=_width(log_wanted, positive), generators=generators)
    return {"total": logs + RANKING_WEIGHT * ranking, "logs": logs, "ranking": ranking}


def _width(log_wanted: Tensor, positive: Tensor) -> Tensor:
    counts_B1 = positive.sum(dim=1, keepdim=True).clamp_min(1)
    mean_B1 = torch.where(positive, log_wanted, 0.0).sum(dim=1, keepdim=True) / counts_B1
    off_BN = torch.where(positive, log_wanted - mean_B1, 0.0)
    return (off_BN.square().sum(dim=1, keepdim=True) / counts_B1).sqrt().clamp_min(_LEAST_WIDTH)


def _ranking(
    log_predicted: Tensor, wanted: Tensor, *, width_B1: Tensor, generators: Sequence[Generator] | None
) -> Tensor:
    one_BP, other_BP = pairs(*wanted.shape, generators=generators, device=wanted.device)
    order_BP = torch.sign(wanted.gather(1, one_BP) - wanted.gather(1, other_BP))
    ahead_BP = order_BP * (log_predicted.gather(1, one_BP) - log_predicted.gather(1, other_BP)) / width_B1
    losses_BP = torch.where(order_BP != 0, softplus(-ahead_BP), 0.0)
    return (losses_BP.sum(dim=1) / (order_BP != 0).sum(dim=1).clamp_min(1)).mean()


def pairs(
    images: int, tokens: int, *, generators: Sequence[Generator] | None, device: torch.device
) -> tuple[Int64[Tensor, "b p"], Int64[Tensor, "b p"]]:
    """Return the tokens of each pair: all of them up to 260 tokens, else 32 N per image, drawn.

    Args:
        images: B.
        tokens: N.
        generators: One per image.
        device: Where to.

    Raises:
        InvalidInput: Pairs must be drawn and there are no generators.
    """
    if tokens <= ALL_PAIRS_UP_TO:
        both = torch.combinations(torch.arange(tokens, device=device)).T
        return both[0].expand(images, -1), both[1].expand(images, -1)
    if generators is None:
        raise InvalidInput(
            f"generators must be given for more than {ALL_PAIRS_UP_TO} tokens, got {tokens}: pairs are drawn then. Give one per image."
        )
    drawn = [torch.randint(tokens, (2, _PAIRS_PER_TOKEN * tokens), generator=one) for one in generators]
    both = torch.stack(drawn, dim=1).to(device)
    return both[0], both[1]
