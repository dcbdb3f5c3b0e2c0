"""The shape of a bottleneck."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.errors import InvalidInput
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class BottleneckShape:
    """Numbers that decide the shape of a ``BottleneckVAE``; JSON values only.

    Attributes:
        token_width: Length of a token, of all its layers side by side: L_sel D.
        num_prefix: Tokens before the first patch.
        registers: Latent tokens R.
        latent: Numbers per register Z; R Z = M' in all.
        hidden: Width of the attention blocks; a multiple of 4 and of the heads.
        blocks: Blocks of the encoder, and as many of the decoder.
        heads: Of each attention.
        waves: Cosines per side of the picture that the linear path sees patches through; 8 suffice for a grid of 8 x 8.
        principal: Principal directions of whole pictures that latents start as; at most R Z count.

    Raises:
        InvalidInput: A count is no whole number in its range, or ``hidden`` does not divide.
    """

    token_width: int
    num_prefix: int = 0
    registers: int = 32
    latent: int = 128
    hidden: int = 128
    blocks: int = 2
    heads: int = 8
    waves: int = 8
    principal: int = 512

    def __post_init__(self) -> None:
        for name in ("token_width", "registers", "latent", "hidden", "blocks", "heads", "waves", "principal"):
            whole_number(name, getattr(self, name), at_least=1, way_out="The defaults are 32 registers x 128")
        whole_number("num_prefix", self.num_prefix, at_least=0)
        if self.hidden % self.heads or self.hidden % 4:
            raise InvalidInput(
                f"hidden={self.hidden} must be a multiple of heads={self.heads} and of 4: heads share it, and so do the four parts of a "
                "position code. 128 with 8 heads is usual."
            )

    @property
    def latents(self) -> int:
        """M', all latent numbers of an image."""
        return self.registers * self.latent

    @property
    def directions(self) -> int:
        """K, principal directions among the latents."""
        return min(self.principal, self.latents)

    @property
    def slots(self) -> int:
        """S, prefix tokens and cosines."""
        return self.num_prefix + self.waves**2
