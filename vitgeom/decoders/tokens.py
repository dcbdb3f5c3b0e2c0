"""``tokens``: the remaining blocks and the final norm, all tokens [N, D]."""

from __future__ import annotations

from vitgeom.backbones import Backbone
from vitgeom.decoders.tapped import TappedDecoder, tapped


def tokens_decoder(backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return features [N, D] -> all final tokens [N, D], prefix tokens first: the model's ``forward_features``.

    Args:
        backbone: Any.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        InvalidInput: Layer out of range.
    """
    return tapped(
        backbone,
        "tokens",
        layer=layer,
        taps=[backbone.spec.num_blocks],
        read=lambda taps: backbone.finish(taps[0]),
        readout="tokens",
    )
