"""Dense prediction head on several layers of a ViT (R. Ranftl, A. Bochkovskiy, V. Koltun 2021, "Vision Transformers for Dense Prediction").

Reassemble: each tap becomes a map at its own scale. Fuse: from the coarsest to the finest, residual convolution units, upsampling by two.
Predict: two convolutions with an upsampling to image size between them, and a last one to the output channels.
B = images, N = tokens, D = width, C = output channels, H x W = pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.decoders.final_maps import FINALS
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput, UnknownName

ReadOutKind = Literal["ignore", "project"]


@dataclass(frozen=True)
class DptConfig:
    """Shape of a head; JSON values only, so that a weights file can carry it.

    Attributes:
        width: D of the tokens.
        channels: Channels of each reassembled map, first tap to last; as many as taps.
        scales: Power of two by which each map is finer (+) or coarser (-) than the patch grid, falling by one from tap to tap.
        features: Channels of all maps during fusion.
        hidden: Channels before the last convolution.
        out_channels: C.
        readout: What becomes of the class token: "ignore" drops it; "project" lets each patch see it through a linear map and GELU.
        final: Last activation, a name in ``FINALS``.

    Raises:
        InvalidInput: Counts that do not fit together, or are below 1.
        UnknownName: No such activation or read-out.
    """

    width: int
    channels: tuple[int, ...] = (256, 512, 1024, 1024)
    scales: tuple[int, ...] = (2, 1, 0, -1)
    features: int = 256
    hidden: int = 32
    out_channels: int = 1
    readout: ReadOutKind = "ignore"
    final: str = "relu"

    def __post_init__(self) -> None:
        if not self.scales or len(self.channels) != len(self.scales):
            raise InvalidInput(
                f"channels={self.channels} and scales={self.scales} must have one entry per tap, at least one."
            )
        if any(first - second != 1 for first, second in zip(self.scales, self.scales[1:], strict=False)):
            raise InvalidInput(
                f"scales={self.scales} must fall by one from tap to tap, as in (2, 1, 0, -1): fusion doubles the resolution."
            )
        counts = (self.width, self.features // 2, self.hidden, self.out_channels, *self.channels)
        if min(counts) < 1:
            raise InvalidInput(
                f"width={self.width}, features={self.features} (>= 2), hidden={self.hidden}, out_channels={self.out_channels} and "
                f"channels={self.channels} must be at least 1."
            )
        if self.final not in FINALS:
            raise UnknownName("final activation", self.final, FINALS)
        if self.readout not in ("ignore", "project"):
            raise UnknownName("readout", self.readout, ("ignore", "project"))


class DptHead(nn.Module):
    """Taps [B, N, D] -> map [B, C, H, W] at image size.

    Args:
        config: Shape of the head; weights are drawn from torch's global generator, see ``random_head``.
    """

    def __init__(self, config: DptConfig) -> None:
        super().__init__()
        self.config = config
        features = config.features
        self.reassemble = nn.ModuleList(
            Reassemble(config.width, channels=channels, scale=scale, readout=config.readout)
            for channels, scale in zip(config.channels, config.scales, strict=True)
        )
        self.adapt = nn.ModuleList(
            nn.Conv2d(channels, features, 3, padding=1, bias=False) for channels in config.channels
        )
        # The coarsest map meets no other: its fusion has one residual unit.
        last = len(config.scales) - 1
        self.fuse = nn.ModuleList(
            Fusion(features, meets_another=tap < last) for tap in range(len(config.scales))
        )
        self.shrink = nn.Conv2d(features, features // 2, 3, padding=1)
        self.predict = nn.Sequential(
            nn.Conv2d(features // 2, config.hidden, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(config.hidden, config.out_channels, 1),
        )

    def forward(self, taps: Sequence[Tensor], *, geometry: PatchGeometry) -> Float[Tensor, "b channels h w"]:
        """Return the map after the final activation.

        Args:
            taps: [B, N, D] of each layer, first to last.
            geometry: Of the tokens.
        """
        maps = [
            adapt(reassemble(tokens, geometry=geometry))
            for adapt, reassemble, tokens in zip(self.adapt, self.reassemble, taps, strict=True)
        ]
        fused: Tensor | None = None
        for tap in reversed(range(len(maps))):
            finer = maps[tap - 1].shape[-2:] if tap else tuple(2 * side for side in maps[0].shape[-2:])
            fused = self.fuse[tap](maps[tap], fused, size=finer)
        assert fused is not None
        full = resize(self.shrink(fused), size=geometry.image_size)
        return FINALS[self.config.final](self.predict(full))


class Reassemble(nn.Module):
    """Tokens of one tap -> a map at 2^scale times the patch grid."""

    def __init__(self, width: int, *, channels: int, scale: int, readout: ReadOutKind) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Linear(2 * width, width), nn.GELU()) if readout == "project" else None
        self.project = nn.Conv2d(width, channels, 1)
        factor = 2 ** abs(scale)
        self.rescale: nn.Module = nn.Identity()
        if scale > 0:
            self.rescale = nn.ConvTranspose2d(channels, channels, factor, stride=factor)
        if scale < 0:
            self.rescale = nn.Conv2d(channels, channels, 3, stride=factor, padding=1)

    def forward(self, tokens: Float[Tensor, "b n d"], *, geometry: PatchGeometry) -> Tensor:
        """Return the map [B, channels, R', C'].

        Args:
            tokens: All tokens of the layer.
            geometry: Of the tokens.
        """
        if self.mix is not None:
            patches = geometry.patches(tokens)
            cls = tokens[:, :1].expand_as(patches)
            mixed = self.mix(torch.cat([patches, cls], dim=2))
            tokens = torch.cat([tokens[:, : geometry.num_prefix], mixed], dim=1)
        return self.rescale(self.project(geometry.as_map(tokens)))


class Fusion(nn.Module):
    """A map and what was fused from coarser ones -> both at the next finer size."""

    def __init__(self, features: int, *, meets_another: bool) -> None:
        super().__init__()
        self.before = ResidualUnit(features) if meets_another else None
        self.after = ResidualUnit(features)
        self.out = nn.Conv2d(features, features, 1)

    def forward(self, finer: Tensor, coarser: Tensor | None, *, size: tuple[int, int]) -> Tensor:
        """Return the fused map [B, features, *size].

        Args:
            finer: The tap's own map.
            coarser: What was fused so far, at the same size; None for the coarsest.
            size: Of the result.
        """
        joined = finer if self.before is None or coarser is None else coarser + self.before(finer)
        return self.out(resize(self.after(joined), size=size))


class ResidualUnit(nn.Module):
    """x + conv(relu(conv(relu(x)))), out of place: the skip carries x itself."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(features, features, 3, padding=1)
        self.second = nn.Conv2d(features, features, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return a map of the same shape."""
        return x + self.second(F.relu(self.first(F.relu(x))))


def resize(maps: Float[Tensor, "b channels h w"], *, size: tuple[int, int]) -> Tensor:
    """Return maps at another size, bilinear with aligned corners as in the reference.

    Args:
        maps: Any number of channels.
        size: (height, width).
    """
    return F.interpolate(maps, size=tuple(size), mode="bilinear", align_corners=True)
