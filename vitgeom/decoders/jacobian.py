"""The Jacobian of a decoder at one image by the best way there is."""

from __future__ import annotations

from vitgeom.backbones import Backbone
from vitgeom.decoders.protocol import BoundDecoder
from vitgeom.linop import BlocksJacobian, JacobianOperator, blocks_jacobian
from vitgeom.linop.jacobian import DEFAULT_MAX_BYTES

BLOCKS_ALONE = {"cls": "cls", "patch_mean": "patch_mean", "tokens": "tokens"}
"""Decoders that are nothing but the remaining blocks and the final norm, with what is read off."""


def jacobian_of(
    decoder: BoundDecoder, backbone: Backbone, *, max_bytes: int = DEFAULT_MAX_BYTES
) -> BlocksJacobian | JacobianOperator:
    """Return dT/dF [M, N D] at the features of a bound decoder.

    Where the decoder is the rest of the backbone alone, its blocks are written out if they are plain; everything else is differentiated
    automatically.

    Args:
        decoder: Bound to an image.
        backbone: The one that it runs.
        max_bytes: Memory for what one block of columns holds.

    Raises:
        InvalidInput: The decoder cannot be differentiated, as the message says.
        NumericalFailure: Output or derivative is not finite.
    """
    if decoder.name in BLOCKS_ALONE:
        return blocks_jacobian(
            backbone,
            decoder.features,
            start=decoder.layer,
            readout=BLOCKS_ALONE[decoder.name],
            max_bytes=max_bytes,
        )
    return JacobianOperator(decoder, decoder.features, max_bytes=max_bytes)
