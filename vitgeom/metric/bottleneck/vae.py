"""Register-token VAE (B10 of the methods): tokens of several layers -> R x Z latents -> the tokens again.

B = images, N = tokens, W = L_sel D numbers per token, R = registers, Z = latents of one.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.encoder import RegisterEncoder
from vitgeom.metric.bottleneck.generator import TokenGenerator
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape
from vitgeom.metric.bottleneck.token_scale import TokenScale
from vitgeom.metric.seeded import seeded
from vitgeom.seeding import checked_seed


class Latents(NamedTuple):
    """A normal distribution over the latents of each image, [B, R, Z] each."""

    mean: Tensor
    log_variance: Tensor


class BottleneckVAE(nn.Module):
    """Encoder, latents and decoder G for the tokens of a frozen model; all paths go through the latents.

    Plain differentiable operations throughout: forwards, backwards and under vmap. Nothing is drawn here; who trains draws z.

    Args:
        token_width: W.
        num_prefix: Tokens before the first patch.
        registers: R.
        latent: Z.
        hidden: Width of the attention blocks.
        blocks: Of the encoder, and as many of G.
        heads: Of each attention.
        waves: Cosines per side of the picture in the linear path.
        principal: Principal directions of whole pictures that latents start as.
        seed: Draws the weights.
        trained_for: ``BottleneckIdentity`` of a head as JSON; other heads are refused then. None fits any tokens of this width.

    Attributes:
        shape: All these numbers.
        config: Keyword arguments that build the same, as JSON values.
        token_variance: Variance of a standardised token number over images, about its mean over images; the unit of the rebuild error.
        output_variance: Variance of an output number of the head over images, likewise; the unit of the task error.

    Raises:
        InvalidInput: A number out of range.
    """

    token_variance: Tensor
    output_variance: Tensor

    def __init__(
        self,
        token_width: int,
        num_prefix: int = 0,
        *,
        registers: int = 32,
        latent: int = 128,
        hidden: int = 128,
        blocks: int = 2,
        heads: int = 8,
        waves: int = 8,
        principal: int = 512,
        seed: int = 0,
        trained_for: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.shape = BottleneckShape(
            token_width, num_prefix, registers, latent, hidden, blocks, heads, waves, principal
        )
        self.config: dict[str, Any] = {
            **asdict(self.shape),
            "seed": checked_seed(seed),
            "trained_for": trained_for,
        }
        self.scale = TokenScale(token_width, num_prefix=num_prefix)
        self.rotation = RegisterRotation(registers, latent, principal=self.shape.directions)
        with seeded(seed, "register bottleneck"):
            self.encoder = RegisterEncoder(self.shape)
            self.generator = TokenGenerator(self.shape)
        self.register_buffer("token_variance", torch.ones(()))
        self.register_buffer("output_variance", torch.ones(()))

    def encode(self, tokens: Float[Tensor, "b n w"], *, grid: tuple[int, int]) -> Latents:
        """Return the distribution of the latents.

        Args:
            tokens: As the model gives them, layers side by side, prefix tokens first.
            grid: (rows, columns) of patches; any.

        Raises:
            InvalidInput: Another width, or not as many tokens as the grid has.
        """
        self.check_tokens(tokens, grid=grid)
        return Latents(*self.encoder(self.scale.standardised(tokens), grid=grid, rotation=self.rotation))

    def decode(self, z: Float[Tensor, "b r z"], *, grid: tuple[int, int]) -> Float[Tensor, "b n w"]:
        """Return the tokens that G makes of latents.

        Args:
            z: Latents.
            grid: (rows, columns) of patches; any.

        Raises:
            InvalidInput: Not R registers of Z.
        """
        wanted = (self.shape.registers, self.shape.latent)
        if tuple(z.shape[1:]) != wanted:
            raise InvalidInput(
                f"z must be [B, {wanted[0]}, {wanted[1]}] (registers x latents), got {list(z.shape)}."
            )
        return self.scale.restored(self.generator(z, grid=grid, rotation=self.rotation))

    def forward(self, tokens: Float[Tensor, "b n w"], *, grid: tuple[int, int]) -> Float[Tensor, "b n w"]:
        """Return tokens rebuilt from the latents' means.

        Args:
            tokens: As the model gives them.
            grid: (rows, columns) of patches.
        """
        return self.decode(self.encode(tokens, grid=grid).mean, grid=grid)

    def check_tokens(self, tokens: Tensor, *, grid: tuple[int, int]) -> None:
        """Refuse tokens of another shape.

        Args:
            tokens: Of a batch.
            grid: (rows, columns) of patches.

        Raises:
            InvalidInput: Another width, or not as many tokens as the grid has.
        """
        shape = self.shape
        count = shape.num_prefix + grid[0] * grid[1]
        if tuple(tokens.shape[1:]) != (count, shape.token_width):
            raise InvalidInput(
                f"tokens must be [B, {count}, {shape.token_width}] ({shape.num_prefix} prefix tokens and a grid of {grid[0]} x {grid[1]} "
                f"patches, {shape.token_width} numbers each), got {list(tokens.shape)}. Build a bottleneck for these tokens, or name "
                "their grid."
            )
