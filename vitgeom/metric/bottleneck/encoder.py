"""Tokens -> a normal distribution over registers.   B = images, N = tokens, R = registers, Z = latents of one, C = hidden width."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.metric.bottleneck.attention import CrossBlock, SelfBlock
from vitgeom.metric.bottleneck.cosine_slots import cosine_bank, slots_of
from vitgeom.metric.bottleneck.linear_path import LinearEncoder
from vitgeom.metric.bottleneck.places import TokenPlaces
from vitgeom.metric.bottleneck.position_code import position_code, spread_places
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape

# exp(-12..12) holds every variance that means something; beyond, exp and its derivative lose their digits.
LOG_VARIANCE_BOUND = 12.0


class RegisterEncoder(nn.Module):
    """A linear map, and what attention adds to it: learned register queries look at the tokens, then at each other.

    Queries start as codes of places spread over the picture: each first looks near its own place. What attention adds starts at zero.

    Args:
        shape: Numbers of the bottleneck.
    """

    def __init__(self, shape: BottleneckShape) -> None:
        super().__init__()
        width = shape.hidden
        self.waves = shape.waves
        self.linear = LinearEncoder(shape)
        self.base_log_variance = nn.Parameter(torch.zeros(shape.registers, shape.latent))
        self.project = nn.Linear(shape.token_width, width)
        self.places = TokenPlaces(width, num_prefix=shape.num_prefix)
        self.queries = nn.Parameter(position_code(spread_places(shape.registers), length=width))
        self.look = nn.ModuleList(CrossBlock(width, heads=shape.heads) for _ in range(shape.blocks))
        self.talk = nn.ModuleList(SelfBlock(width, heads=shape.heads) for _ in range(shape.blocks))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 2 * shape.latent)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(
        self, tokens: Float[Tensor, "b n w"], *, grid: tuple[int, int], rotation: RegisterRotation
    ) -> tuple[Float[Tensor, "b r z"], Float[Tensor, "b r z"]]:
        """Return mean and log-variance of the latents.

        Args:
            tokens: Standardised.
            grid: (rows, columns) of patches.
            rotation: Of the linear latents.
        """
        bank = cosine_bank(grid, waves=self.waves, dtype=tokens.dtype, device=tokens.device)
        mean, log_variance = self._attended(tokens, grid).chunk(2, dim=-1)
        log_variance = self.base_log_variance + log_variance
        # A smooth bound: a clamp would stop learning outside.
        bounded = LOG_VARIANCE_BOUND * torch.tanh(log_variance / LOG_VARIANCE_BOUND)
        return self.linear(slots_of(tokens, bank), rotation=rotation) + mean, bounded

    def _attended(self, tokens: Tensor, grid: tuple[int, int]) -> Tensor:
        memory = self.project(tokens) + self.places(grid)
        registers = self.queries.expand(len(tokens), -1, -1)
        for look, talk in zip(self.look, self.talk, strict=True):
            registers = talk(look(registers, memory))
        return self.out(self.norm(registers))
