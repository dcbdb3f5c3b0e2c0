"""``pooled``: what the model itself makes of its last layer before any classifier [D']."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from vitgeom.backbones import Backbone
from vitgeom.decoders.tapped import TappedDecoder, tapped


def pooled_decoder(backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return features [N, D] -> the model's own pooled output: its class token, patch mean or attention pool, as it was trained.

    Args:
        backbone: Any; one without class token (SigLIP) has its summary here.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        InvalidInput: Layer out of range.
    """

    def read(taps: Sequence[Tensor]) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):  # an attention pool must have a forward derivative too
            return backbone.pool(backbone.finish(taps[0]))

    return tapped(backbone, "pooled", layer=layer, taps=[backbone.spec.num_blocks], read=read)
