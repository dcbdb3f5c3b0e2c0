"""The Jacobian of a decoder at one image by the best way there is."""

from __future__ import annotations

import torch

from vitgeom.backbones import Backbone
from vitgeom.decoders.output_metrics import EUCLIDEAN, output_metric
from vitgeom.decoders.protocol import BoundDecoder
from vitgeom.decoders.tapped import BoundTaps
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.linop import BlocksJacobian, JacobianOperator, blocks_jacobian
from vitgeom.linop.jacobian import DEFAULT_MAX_BYTES


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
    readout = _rest_of(backbone, decoder)
    if readout is not None:
        return blocks_jacobian(
            backbone, decoder.features, start=decoder.layer, readout=readout, max_bytes=max_bytes
        )
    return JacobianOperator(decoder, decoder.features, max_bytes=max_bytes, num_prefix=prefix)


def _rest_of(backbone: Backbone, decoder: BoundDecoder) -> str | None:
    """Return what a decoder reads off the final norm of this very backbone, None where it does anything else; names say nothing."""
    if not isinstance(decoder, BoundTaps) or not isinstance(decoder.decoder.trunk, BackboneTrunk):
        return None
    return decoder.decoder.readout if decoder.decoder.trunk.backbone is backbone else None
