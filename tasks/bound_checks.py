"""The bounds of theorems 1, 2 and 4 at one image, each under a name; theorem 3 is about decoders behind a bottleneck.   N = tokens, D = width, M = outputs."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.decoders import BoundDecoder
from vitgeom.linop import LinearOperator
from vitgeom.spectra import Diagnosis
from vitgeom.spectra.theorems import (
    BoundCheck,
    best_tokens_share,
    captured_share,
    first_order_change,
    truncated_importance,
)

BEST_OF = 10
"""One patch in so many is kept when the share of the best ones is looked at."""
STEP = 0.01
"""How far patches are moved for theorem 4, as a share of the way to their mean: little enough for first order to say most of it."""


def bound_checks(
    diagnosis: Diagnosis,
    operator: LinearOperator,
    decoder: BoundDecoder,
    *,
    metric: LinearOperator | None = None,
) -> dict[str, BoundCheck]:
    """Return every check that can be made of a decoder without bottleneck; R + 1 products.

    Args:
        diagnosis: Of the operator.
        operator: J of the decoder at its features, or L J.
        decoder: Bound to the image.
        metric: L; None for the identity.

    Raises:
        NumericalFailure: A product is not finite.
    """
    found = {"truncated_importance": truncated_importance(diagnosis)}
    weights = diagnosis.block_norms_N[diagnosis.num_prefix :] ** 2
    if len(weights) and float(weights.sum()) > 0:
        found["best_tokens"] = best_tokens_share(weights, kept=max(1, len(weights) // BEST_OF))
    if diagnosis.kappa is not None:
        found["captured_share"] = captured_share(operator, diagnosis.right_NDR.flatten(0, 1), diagnosis)
    delta = towards_mean(decoder.features, num_prefix=diagnosis.num_prefix)
    found["first_order_change"] = first_order_change(
        operator, diagnosis, delta_ND=delta, change_M=_change(decoder, delta, metric)
    )
    return found


def towards_mean(features_ND: Float[Tensor, "n d"], *, num_prefix: int) -> Float[Tensor, "n d"]:
    """Return the change that moves every patch a small step to the mean of the patches; prefix tokens stay.

    Args:
        features_ND: Tokens of a layer.
        num_prefix: Tokens at the start that are no patches.
    """
    change = torch.zeros_like(features_ND)
    patches = features_ND[num_prefix:]
    if len(patches):
        change[num_prefix:] = STEP * (patches.mean(dim=0) - patches)
    return change


@torch.no_grad()
def _change(decoder: BoundDecoder, delta_ND: Tensor, metric: LinearOperator | None) -> Tensor:
    """Return T(F + delta) - T(F) as [M], or L times that."""
    change = (decoder(decoder.features + delta_ND) - decoder(decoder.features)).flatten()
    return change if metric is None else metric.matmat(change[:, None])[:, 0]
