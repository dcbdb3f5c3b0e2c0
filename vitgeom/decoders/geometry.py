"""Where patch tokens lie in the picture.   B = images, N = tokens, D = width, R x C = rows and columns of patches."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones import Backbone


@dataclass(frozen=True)
class PatchGeometry:
    """Token order and grid of a model at one image size.

    Attributes:
        num_prefix: Tokens before the first patch.
        num_cls: 1 where the first token is a class token, else 0.
        grid: (rows, columns) of patches.
        image_size: (height, width) in pixels.
    """

    num_prefix: int
    num_cls: int
    grid: tuple[int, int]
    image_size: tuple[int, int]

    def as_map(self, tokens: Float[Tensor, "b n d"]) -> Float[Tensor, "b d r c"]:
        """Return the patch tokens as a map; prefix tokens stay out.

        Args:
            tokens: All tokens of one layer.
        """
        return tokens[:, self.num_prefix :].mT.unflatten(2, self.grid)

    def patches(self, tokens: Float[Tensor, "b n d"]) -> Float[Tensor, "b p d"]:
        """Return the patch tokens alone, row by row.

        Args:
            tokens: All tokens of one layer.
        """
        return tokens[:, self.num_prefix :]


def geometry_of(backbone: Backbone) -> PatchGeometry:
    """Return the geometry of a backbone at its image size.

    Args:
        backbone: A loaded backbone.
    """
    spec = backbone.spec
    return PatchGeometry(spec.layout.num_prefix, spec.layout.num_cls, spec.layout.grid, spec.image_size)
