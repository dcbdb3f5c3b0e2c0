"""``camera``: class token and patch mean of some layers -> a camera pose [9].

The nine numbers, as in VGGT: translation t (3, scene units), unit quaternion of R with the scalar last (x, y, z, w; w >= 0 is not enforced),
and full field of view, vertical then horizontal (2, radians); x_camera = R x_world + t. How far two poses are apart is an output metric and lives
elsewhere: a quaternion and its negative are the same rotation.   B = images, T = taps, D = width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput

POSE = 9
TRANSLATION, QUATERNION, VIEW = slice(0, 3), slice(3, 7), slice(7, 9)


@dataclass(frozen=True)
class CameraConfig:
    """Shape of a camera head; JSON values only.

    Attributes:
        width: D of the tokens.
        num_taps: T, layers whose class token and patch mean are read.
        hidden: Width of the two hidden layers.

    Raises:
        InvalidInput: A count is below 1.
    """

    width: int
    num_taps: int = 1
    hidden: int = 128

    def __post_init__(self) -> None:
        if min(self.width, self.num_taps, self.hidden) < 1:
            raise InvalidInput(
                f"width={self.width}, num_taps={self.num_taps} and hidden={self.hidden} must be at least 1."
            )


class CameraHead(nn.Module):
    """Taps [B, N, D] -> pose [B, 9]; smooth: GELU, softplus for the view, a normalised quaternion.

    Args:
        config: Shape of the head.
    """

    def __init__(self, config: CameraConfig) -> None:
        super().__init__()
        self.config = config
        pooled = 2 * config.width * config.num_taps
        self.layers = nn.Sequential(
            nn.LayerNorm(pooled),
            nn.Linear(pooled, config.hidden),
            nn.GELU(),
            nn.Linear(config.hidden, config.hidden),
            nn.GELU(),
            nn.Linear(config.hidden, POSE),
        )

    def forward(self, taps: Sequence[Tensor], *, geometry: PatchGeometry) -> Float[Tensor, "b 9"]:
        """Return one pose per image.

        Args:
            taps: [B, N, D] of each layer, first to last.
            geometry: Of the tokens; without class token the patch mean stands in for it.
        """
        parts = []
        for tokens in taps:
            mean = geometry.patches(tokens).mean(dim=1)
            parts += [tokens[:, 0] if geometry.num_cls else mean, mean]
        raw = self.layers(torch.cat(parts, dim=1))
        quaternion = F.normalize(raw[:, QUATERNION], dim=1)
        return torch.cat([raw[:, TRANSLATION], quaternion, F.softplus(raw[:, VIEW])], dim=1)
