"""``probe``: a fitted classifier on the class token or patch mean of a layer, logits [K].   D = width, K = classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.backbones import Backbone
from vitgeom.decoders.closing import closed_cls, closed_patch_mean
from vitgeom.decoders.frozen import frozen_copy
from vitgeom.decoders.refusals import check_layer
from vitgeom.decoders.tapped import TappedDecoder, tapped
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.errors import InvalidInput
from vitgeom.probes.layer_probes import LayerProbes

Token = Literal["cls", "mean"]
LastLayer = Literal["normed", "raw"]


def probe_decoder(
    backbone: Backbone,
    *,
    layer: int,
    head: nn.Module,
    probe_layer: int | None = None,
    token: Token = "cls",
    last_layer: LastLayer = "normed",
    name: str = "probe",
) -> TappedDecoder:
    """Return features [N, D] -> what a head reads from one token: logits, or anything else.

    Args:
        backbone: Its class token or patch mean is read.
        layer: Blocks that have run before the features, 0..L.
        head: Any module [B, D] -> [B, ...]: linear or MLP; copied and frozen. ``linear_head`` and ``head_of_probes`` make one.
        probe_layer: Layer that the head was fitted on, ``layer``..L; the last one if None.
        token: The class token, or the mean over the patches.
        last_layer: Whether layer L was seen after the final norm, as feature stores keep it by default.
        name: How reports call it.

    Raises:
        InvalidInput: Layer out of range or after the probe's, no class token where one is read, or a head that is for
            another width or not finite.
    """
    trunk, last = BackboneTrunk(backbone), backbone.spec.num_blocks
    if probe_layer is not None:
        check_layer(probe_layer, trunk=trunk, name=name)
    backbone.spec.check_tokens([token])
    tap = last if probe_layer is None else probe_layer
    frozen = frozen_copy(head, trunk=trunk, name=name)
    pool = _pool(backbone, token=token, close=tap == last and last_layer == "normed")
    decoder = tapped(backbone, name, layer=layer, taps=[tap], read=lambda taps: frozen(pool(taps[0])))
    _try_on(frozen, decoder, width=backbone.spec.width)
    return decoder


def linear_head(weight: Float[Tensor, "d k"], bias: Float[Tensor, " k"]) -> nn.Linear:
    """Return x W + b as a module.

    Args:
        weight: W, one column per class.
        bias: b.
    """
    width, classes = weight.shape
    head = nn.utils.skip_init(nn.Linear, width, classes, dtype=weight.dtype)
    with torch.no_grad():
        head.weight.copy_(weight.mT)
        head.bias.copy_(bias)
    return head


def head_of_probes(probes: LayerProbes, *, probe_layer: int) -> nn.Linear:
    """Return the logistic probe of one layer as a linear head on raw features, its standardisation folded in.

    (x - m) / s W + b = x (W / s) + (b - (m / s) W).

    Args:
        probes: Fitted probes of all layers.
        probe_layer: 1..L.

    Raises:
        InvalidInput: No such layer.
    """
    if not 1 <= probe_layer <= probes.num_layers:
        raise InvalidInput(
            f"probe_layer={probe_layer} is not among the {probes.num_layers} fitted probes; layers count from 1."
        )
    index = probe_layer - 1
    weight = probes.weight[index] / probes.std[index][:, None]
    return linear_head(weight, probes.bias[index] - probes.mean[index] @ weight)


def _pool(backbone: Backbone, *, token: Token, close: bool) -> Callable[[Tensor], Tensor]:
    """Return tokens [B, N, D] -> the feature [B, D] that the head was fitted on."""
    if close:
        closed = closed_cls if token == "cls" else closed_patch_mean
        return lambda tokens: closed(backbone, tokens)
    if token == "cls":
        return lambda tokens: tokens[:, 0]
    return lambda tokens: tokens[:, backbone.spec.layout.num_prefix :].mean(dim=1)


def _try_on(head: nn.Module, decoder: TappedDecoder, *, width: int) -> None:
    """Call the head once, so that one for another width is refused before any image is read."""
    trunk = decoder.trunk
    try:
        head(torch.zeros(1, width, device=trunk.device, dtype=trunk.dtype))
    except RuntimeError as error:
        raise InvalidInput(
            f"head of decoder {decoder.name!r} does not take the width {width} of {trunk.name!r}: {error}. "
            "Give one that was fitted on this backbone's features."
        ) from error
