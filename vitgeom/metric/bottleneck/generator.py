"""G: registers -> tokens of all layers.   B = images, N = tokens, R = registers, Z = latents of one, C = hidden width, W = token width."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.metric.bottleneck.attention import CrossBlock, SelfBlock
from vitgeom.metric.bottleneck.cosine_slots import cosine_bank, tokens_of
from vitgeom.metric.bottleneck.linear_path import LinearGenerator
from vitgeom.metric.bottleneck.places import TokenPlaces
from vitgeom.metric.bottleneck.position_code import position_code, spread_places
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape


class TokenGenerator(nn.Module):
    """A linear map, and what attention adds to it: registers look at each other, then every position asks them what stands there.

    Nothing of the original tokens comes in but through the registers: rank(dG E/dF) <= R Z. What attention adds starts at zero.

    Args:
        shape: Numbers of the bottleneck.
    """

    def __init__(self, shape: BottleneckShape) -> None:
        super().__init__()
        width = shape.hidden
        self.waves = shape.waves
        self.linear = LinearGenerator(shape)
        self.project = nn.Linear(shape.latent, width)
        self.registers = nn.Parameter(position_code(spread_places(shape.registers), length=width))
        self.places = TokenPlaces(width, num_prefix=shape.num_prefix)
        self.talk = nn.ModuleList(SelfBlock(width, heads=shape.heads) for _ in range(shape.blocks))
        self.ask = nn.ModuleList(CrossBlock(width, heads=shape.heads) for _ in range(shape.blocks))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, shape.token_width)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(
        self, z: Float[Tensor, "b r z"], *, grid: tuple[int, int], rotation: RegisterRotation
    ) -> Float[Tensor, "b n w"]:
        """Return standardised tokens.

        Args:
            z: Latents.
            grid: (rows, columns) of patches.
            rotation: Of the linear latents.
        """
        bank = cosine_bank(grid, waves=self.waves, dtype=z.dtype, device=z.device)
        return tokens_of(self.linear(z, rotation=rotation), bank) + self._attended(z, grid)

    def _attended(self, z: Tensor, grid: tuple[int, int]) -> Tensor:
        registers = self.project(z) + self.registers
        for talk in self.talk:
            registers = talk(registers)
        tokens = self.places(grid).expand(len(z), -1, -1)
        for ask in self.ask:
            tokens = ask(tokens, registers)
        return self.out(self.norm(tokens))
