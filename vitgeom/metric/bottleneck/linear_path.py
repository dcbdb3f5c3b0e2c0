"""The linear part of a bottleneck: registers as mixtures of slots, latents as mixtures of channels.

z = gain Q^T (A slots(x) C - offset), and back x = tokens(mean + A' Q (gain' z) C'), Q the rotation among all latents.
B = images, N = tokens, S = slots, W = numbers per token, R = registers, Z = latents of one.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape


class LinearEncoder(nn.Module):
    """Slots -> latents.

    Args:
        shape: Numbers of the bottleneck.
    """

    def __init__(self, shape: BottleneckShape) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.randn(shape.registers, shape.slots) * shape.slots**-0.5)
        self.channels = nn.Parameter(torch.randn(shape.token_width, shape.latent) * shape.token_width**-0.5)
        self.offset = nn.Parameter(torch.zeros(shape.registers, shape.latent))
        self.gain = nn.Parameter(torch.ones(shape.registers, shape.latent))

    def forward(self, slots: Float[Tensor, "b s w"], *, rotation: RegisterRotation) -> Float[Tensor, "b r z"]:
        """Return latents.

        Args:
            slots: Of standardised tokens.
            rotation: Q.
        """
        return self.gain * rotation(self.mix @ slots @ self.channels - self.offset)


class LinearGenerator(nn.Module):
    """Latents -> slots.

    Args:
        shape: Numbers of the bottleneck.
    """

    def __init__(self, shape: BottleneckShape) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.randn(shape.slots, shape.registers) * shape.registers**-0.5)
        self.channels = nn.Parameter(torch.randn(shape.latent, shape.token_width) * shape.latent**-0.5)
        self.mean = nn.Parameter(torch.zeros(shape.slots, shape.token_width))
        self.gain = nn.Parameter(torch.ones(shape.registers, shape.latent))

    def forward(self, z: Float[Tensor, "b r z"], *, rotation: RegisterRotation) -> Float[Tensor, "b s w"]:
        """Return slots of standardised tokens.

        Args:
            z: Latents.
            rotation: Q.
        """
        return self.mean + self.mix @ rotation.back(self.gain * z) @ self.channels
