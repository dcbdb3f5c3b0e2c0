"""The Jacobian of a decoder at one image by the best way there is."""

from __future__ import annotations

import torch

from vitgeom.backbones import Backbone
from vitgeom.decoders.output_metrics import EUCLIDEAN, output_metric
from vitgeom.decoders.protocol import BoundDecoder
from vitgeom.linop import BlocksJacobian, JacobianOperator, blocks_jacobian
from vitgeom.linop.jacobian import DEFAULT_MAX_BYTES

BLOCKS_ALONE = {"cls": "cls", "patch_mean": "patch_mean", "tokens": "tokens"}
"""Decoders that are nothing but the remaining blocks and the final norm, with what is read off."""


def jacobian_of(
    decoder: BoundDecoder,
    backbone: Backbone,
    *,
    metric: str = EUCLIDEAN,
    max_bytes: int = DEFAULT_MAX_BYTES,
    num_prefix: int | None = None,
) -> BlocksJacobian | JacobianOperator:
    """Return L dT/dF [M', N D] at the features of a bound decoder, with the metric L of its output.

    Where the decoder is the rest of the backbone alone, its blocks are written out if they are plain; everything else is differentiated
    automatically.

    Args:
        decoder: Bound to an image.
        backbone: The one that it runs.
        metric: A key of ``OUTPUT_METRICS``.
        max_bytes: Memory for what one block of columns holds.
        num_prefix: Tokens at the start of the features that are no patches; None: those of the backbone. Latents have none.

    Raises:
        UnknownName: There is no such metric.
        InvalidInput: The decoder cannot be differentiated, or its output is not what the metric measures.
        NumericalFailure: Output or derivative is not finite.
    """
    prefix = backbone.spec.layout.num_prefix if num_prefix is None else num_prefix
    if metric != EUCLIDEAN:
        with torch.no_grad():
            weighed = output_metric(metric, decoder(decoder.features))
        return JacobianOperator(
            decoder, decoder.features, output_metric=weighed, max_bytes=max_bytes, num_prefix=prefix
        )
    if decoder.name in BLOCKS_ALONE:
        return blocks_jacobian(
            backbone,
            decoder.features,
            start=decoder.layer,
            readout=BLOCKS_ALONE[decoder.name],
            max_bytes=max_bytes,
        )
    return JacobianOperator(decoder, decoder.features, max_bytes=max_bytes, num_prefix=prefix)
