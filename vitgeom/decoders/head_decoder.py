"""A head on taps as a decoder: dense maps, point maps and camera poses from the tokens of several layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from vitgeom.backbones import Backbone
from vitgeom.backbones.anatomy import final_norm
from vitgeom.decoders.camera import CameraHead
from vitgeom.decoders.dpt import DptHead
from vitgeom.decoders.frozen import frozen_copy
from vitgeom.decoders.geometry import PatchGeometry, geometry_of
from vitgeom.decoders.pointmap import PointMapHead
from vitgeom.decoders.refusals import check_taps
from vitgeom.decoders.tapped import TappedDecoder, tapped
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.decoders.upconv import UpconvHead
from vitgeom.errors import InvalidInput


@runtime_checkable
class TapHead(Protocol):
    """A module from taps [B, N, D] to an output [B, ...]."""

    def __call__(self, taps: Sequence[Tensor], *, geometry: PatchGeometry) -> Tensor:
        """Return the output of a batch."""
        ...


def head_decoder(
    backbone: Backbone,
    head: nn.Module,
    *,
    layer: int,
    taps: Sequence[int],
    normed: bool = True,
    name: str,
) -> TappedDecoder:
    """Return features [N, D] -> what the head makes of the taps: [C, H, W] for dense heads, [9] for a camera head.

    Args:
        backbone: Its tokens are read.
        head: ``DptHead``, ``PointMapHead``, ``CameraHead`` or another ``TapHead``; copied and frozen.
        layer: Blocks that have run before the features, 0..L.
        taps: Layers that the head reads, increasing; those before ``layer`` are taken from the image and held fixed.
        normed: Whether each tap passes through the backbone's final norm first (as in DINOv2 and Depth Anything) or is raw (as in DPT).
        name: How reports call it.

    Raises:
        InvalidInput: Layer or taps that make no sense, or a head for another width, another number of taps or a class token that is not
            there.
    """
    trunk = BackboneTrunk(backbone)
    check_taps(taps, layer=layer, trunk=trunk, name=name)
    check_fit(head, backbone, num_taps=len(taps), name=name)
    frozen, geometry = frozen_copy(head, trunk=trunk, name=name), geometry_of(backbone)

    def read(tokens: Sequence[Tensor]) -> Tensor:
        return frozen(as_head_input(backbone, tokens, normed=normed), geometry=geometry)

    return tapped(backbone, name, layer=layer, taps=taps, read=read)


def as_head_input(backbone: Backbone, taps: Sequence[Tensor], *, normed: bool) -> list[Tensor]:
    """Return taps [..., D] as heads see them.

    Args:
        backbone: Whose final norm it is.
        taps: Raw tokens.
        normed: False leaves them as they are.
    """
    norm = final_norm(backbone.model)
    return [norm(tap) if normed else tap for tap in taps]


def check_fit(head: nn.Module, backbone: Backbone, *, num_taps: int, name: str) -> None:
    """Refuse a head that was not made for such tokens.

    Args:
        head: One of this package's heads; others are taken as they are.
        backbone: Its tokens would be read.
        num_taps: Layers that would be read.
        name: Of the decoder.

    Raises:
        InvalidInput: Another width, another number of taps, or a class token that is not there.
    """
    dense = head.dense if isinstance(head, PointMapHead) else head
    if isinstance(dense, DptHead):
        width, wanted, needs_cls = (
            dense.config.width,
            len(dense.config.scales),
            dense.config.readout == "project",
        )
    elif isinstance(dense, CameraHead):
        width, wanted, needs_cls = dense.config.width, dense.config.num_taps, False
    elif isinstance(dense, UpconvHead):
        width, wanted, needs_cls = dense.config.width, 1, False
    else:
        return
    if width != backbone.spec.width:
        raise InvalidInput(
            f"head of decoder {name!r} was made for tokens of width {width}, but {backbone.spec.name!r} has width {backbone.spec.width}. "
            "Use a head that was trained on this backbone."
        )
    if wanted != num_taps:
        raise InvalidInput(
            f"head of decoder {name!r} reads {wanted} taps, got {num_taps}. Name {wanted} layers."
        )
    if needs_cls and not backbone.spec.layout.num_cls:
        raise InvalidInput(
            f"head of decoder {name!r} has readout='project', but {backbone.spec.name!r} has no class token to project. Use readout='ignore'."
        )


@torch.no_grad()
def output_shape(decoder: TappedDecoder) -> tuple[int, ...]:
    """Return the shape of a decoder's output, by running its read-out once on zeros.

    Args:
        decoder: Any tapped decoder.
    """
    zeros = torch.zeros(1, *decoder.features_shape, device=decoder.trunk.device, dtype=decoder.trunk.dtype)
    return tuple(decoder.read([zeros] * len(decoder.taps)).shape[1:])
