"""``patch_mean``: the remaining blocks and the final norm, then the mean over the patch tokens [D]."""

from __future__ import annotations

from vitgeom.backbones import Backbone
from vitgeom.decoders.closing import closed_patch_mean
from vitgeom.decoders.tapped import TappedDecoder, tapped


def patch_mean_decoder(backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return features [N, D] -> patch mean [D] of the last layer after the final norm; prefix tokens stay out of the mean.

    Args:
        backbone: Any.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        InvalidInput: Layer out of range.
    """
    return tapped(
        backbone,
        "patch_mean",
        layer=layer,
        taps=[backbone.spec.num_blocks],
        read=lambda taps: closed_patch_mean(backbone, taps[0]),
        readout="patch_mean",
    )
