"""``cls``: the remaining blocks and the final norm, then the class token [D]."""

from __future__ import annotations

from vitgeom.backbones import Backbone
from vitgeom.decoders.closing import closed_cls
from vitgeom.decoders.tapped import TappedDecoder, tapped


def cls_decoder(backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return features [N, D] -> class token [D] of the last layer after the final norm.

    Args:
        backbone: With a class token.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        InvalidInput: Layer out of range, or a backbone without class token.
    """
    backbone.spec.check_tokens(["cls"])
    return tapped(
        backbone,
        "cls",
        layer=layer,
        taps=[backbone.spec.num_blocks],
        read=lambda taps: closed_cls(backbone, taps[0]),
        readout="cls",
    )
