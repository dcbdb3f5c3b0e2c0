"""Does a bottleneck fit the tokens that a head reads?   N = tokens, W = numbers per token, M' = latents."""

from __future__ import annotations

from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.identity import BottleneckIdentity
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps
from vitgeom.metric.bottleneck.vae import BottleneckVAE


def bottleneck_for(joined: JoinedTaps, **numbers: Any) -> BottleneckVAE:
    """Return a new bottleneck for a head's tokens, which refuses other heads from then on.

    Args:
        joined: The head on its taps.
        **numbers: Of ``BottleneckVAE``: registers, latent, hidden, blocks, heads, waves, seed.

    Raises:
        InvalidInput: A number out of range, or as many latents as there are token numbers.
    """
    vae = BottleneckVAE(
        joined.features_shape[1],
        joined.num_prefix,
        **numbers,
        trained_for=BottleneckIdentity.of(joined).to_json(),
    )
    check_fits(vae, joined)
    return vae


def check_fits(vae: BottleneckVAE, joined: JoinedTaps) -> None:
    """Refuse a bottleneck for other tokens or another head, or one that is none.

    Args:
        vae: The bottleneck.
        joined: The head on its taps.

    Raises:
        InvalidInput: Another backbone, head, taps, width or number of prefix tokens, or M' >= N W.
    """
    shape, (count, width) = vae.shape, joined.features_shape
    if vae.config["trained_for"] is not None:
        BottleneckIdentity.from_json(vae.config["trained_for"]).check_is(joined)
    if (shape.token_width, shape.num_prefix) != (width, joined.num_prefix):
        raise InvalidInput(
            f"bottleneck was built for tokens of {shape.token_width} numbers with {shape.num_prefix} prefix tokens, but decoder "
            f"{joined.name!r} reads {len(joined.decoder.taps)} taps of {joined.backbone.spec.name!r}: {width} numbers, {joined.num_prefix} "
            "prefix tokens. Build one for this decoder."
        )
    if shape.latents >= count * width:
        raise InvalidInput(
            f"registers x latent = {shape.registers} x {shape.latent} = {shape.latents} is no bottleneck for the {count * width} token "
            f"numbers of an image at decoder {joined.name!r}: nothing would be left out. Use fewer; 32 x 128 is usual."
        )
