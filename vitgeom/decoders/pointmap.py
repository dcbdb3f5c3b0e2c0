"""``pointmap``: tokens of some layers -> a 3-D point per pixel [3, H, W], in camera coordinates, with or without confidence.

Parametrisations as in DUSt3R and VGGT: a network's numbers of any sign become points over many orders of magnitude.
B = images, H x W = pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.decoders.dpt import DptConfig, DptHead
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput, UnknownName


def signed_expm1(raw: Tensor) -> Tensor:
    """Return sign(x) (e^|x| - 1): the inverse of sign(p) log(1 + |p|), odd, with slope 1 at 0 ("inv_log").

    Args:
        raw: Any shape.
    """
    return raw * _growth(raw.abs())


def by_distance(raw: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
    """Return x/|x| (e^|x| - 1): direction as it is, distance through the exponential ("exp"); near 0 it is x itself.

    Args:
        raw: Numbers of any sign.
    """
    # The root has no derivative at 0; below this bound |x| is as good as 0 and the growth is 1.
    squared = raw.square().sum(dim=1, keepdim=True).clamp_min(torch.finfo(raw.dtype).tiny)
    return raw * _growth(squared.sqrt())


def _growth(length: Tensor) -> Tensor:
    """Return (e^x - 1) / x for x >= 0, which is 1 at 0."""
    floored = length.clamp_min(torch.finfo(length.dtype).tiny ** 0.5)  # its square is still a normal number
    return torch.expm1(floored) / floored


def by_ray(raw: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
    """Return (x z, y z, z) with z = sign(w)(e^|w| - 1): the first two are slopes of the ray ("xy_inv_log").

    Args:
        raw: (x, y, w) of any sign.
    """
    depth = signed_expm1(raw[:, 2:])
    return torch.cat([raw[:, :2] * depth, depth], dim=1)


POINTS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda raw: raw,
    "exp": by_distance,
    "inv_log": signed_expm1,
    "xy_inv_log": by_ray,
}
"""Name in a head's configuration -> from three numbers per pixel to a point."""


@dataclass(frozen=True)
class PointMapConfig:
    """Shape of a point-map head; JSON values only.

    Attributes:
        dense: The dense head below; its ``out_channels`` is 3, or 4 with confidence, and its ``final`` the identity.
        points: Parametrisation, a name in ``POINTS``.
        confidence: Append 1 + e^c as a fourth channel.

    Raises:
        InvalidInput: The dense head does not fit.
        UnknownName: No such parametrisation.
    """

    dense: DptConfig
    points: str = "exp"
    confidence: bool = False

    def __post_init__(self) -> None:
        if self.points not in POINTS:
            raise UnknownName("parametrisation of points", self.points, POINTS)
        wanted = 4 if self.confidence else 3
        if self.dense.out_channels != wanted or self.dense.final != "identity":
            raise InvalidInput(
                f"the dense head of a point map with confidence={self.confidence} needs out_channels={wanted} and final='identity', got "
                f"{self.dense.out_channels} and {self.dense.final!r}."
            )


class PointMapHead(nn.Module):
    """Taps [B, N, D] -> points [B, 3, H, W] in scene units (x right, y down, z forward), or [B, 4, H, W] with confidence >= 1.

    Args:
        config: Shape of the head.
    """

    def __init__(self, config: PointMapConfig) -> None:
        super().__init__()
        self.config = config
        self.dense = DptHead(config.dense)

    def forward(self, taps: Sequence[Tensor], *, geometry: PatchGeometry) -> Tensor:
        """Return the point of every pixel.

        Args:
            taps: [B, N, D] of each layer, first to last.
            geometry: Of the tokens.
        """
        raw = self.dense(taps, geometry=geometry)
        points = POINTS[self.config.points](raw[:, :3])
        if not self.config.confidence:
            return points
        return torch.cat([points, 1 + raw[:, 3:].exp()], dim=1)
