"""What every decoder can do.   N = tokens of one image, prefix tokens included, D = width.

Layer l counts the blocks that have run: l = 1..L is the raw residual stream after block l, 0 is what the first block sees. (Where a list of
blocks is counted from 0, as in ``Backbone.capture(token_layers=...)``, layer l is entry l - 1.)
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class BoundDecoder(Protocol):
    """A decoder at one image: a function of the tokens of layer ``layer`` alone, and the point at which that image sits.

    Frozen, in evaluation mode, and differentiable forwards (jvp), backwards (vjp) and under vmap. What an operator needs:
    ``JacobianOperator(bound, bound.features)``.
    """

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    @property
    def layer(self) -> int:
        """Blocks that have run before the features."""
        ...

    @property
    def features(self) -> Float[Tensor, "n d"]:
        """The image's own tokens of that layer, detached."""
        ...

    def __call__(self, features: Float[Tensor, "n d"]) -> Tensor:
        """Return the output for any tokens [N, D] of that layer."""
        ...


@runtime_checkable
class Decoder(Protocol):
    """A frozen function of the tokens of one layer, for any image."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    @property
    def layer(self) -> int:
        """Blocks that have run before the features."""
        ...

    @property
    def features_shape(self) -> tuple[int, int]:
        """(N, D)."""
        ...

    def at(self, image: Float[Tensor, "3 h w"]) -> BoundDecoder:
        """Return the decoder with everything that it takes from earlier layers of this image held fixed."""
        ...

    def __call__(self, features: Float[Tensor, "n d"]) -> Tensor:
        """Return the output; only where nothing earlier than ``layer`` is read (else bind an image first)."""
        ...
