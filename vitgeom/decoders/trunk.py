"""What a decoder needs of a frozen model: its blocks as pure functions of tokens.   N = tokens, D = width, L = blocks."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones import Backbone


@runtime_checkable
class Trunk(Protocol):
    """A frozen Vision Transformer at one image size, in evaluation mode.

    ``blocks`` must be differentiable forwards, backwards and under vmap; it changes nothing and draws nothing.
    """

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    @property
    def num_blocks(self) -> int:
        """L."""
        ...

    @property
    def tokens_shape(self) -> tuple[int, int]:
        """(N, D) of one image."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of weights and tokens."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        ...

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that the first block sees ("layer 0")."""
        ...

    def blocks(self, tokens: Float[Tensor, "b n d"], start: int, stop: int) -> Float[Tensor, "b n d"]:
        """Return the tokens of layer ``stop`` from those of layer ``start``; layer l is what leaves block l, l = 1..L."""
        ...


class BackboneTrunk:
    """A ``Backbone`` as decoders see it.

    Args:
        backbone: A loaded backbone.
    """

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone

    @property
    def name(self) -> str:
        """The backbone's."""
        return self.backbone.spec.name

    @property
    def num_blocks(self) -> int:
        """L."""
        return self.backbone.spec.num_blocks

    @property
    def tokens_shape(self) -> tuple[int, int]:
        """(N, D) of one image."""
        return self.backbone.spec.layout.num_tokens, self.backbone.spec.width

    @property
    def dtype(self) -> torch.dtype:
        """Of weights and tokens."""
        return self.backbone.dtype

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.backbone.device

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that the first block sees.

        Args:
            images: Preprocessed pixels.
        """
        return self.backbone.embed(images)

    def blocks(self, tokens: Float[Tensor, "b n d"], start: int, stop: int) -> Float[Tensor, "b n d"]:
        """Return the tokens of layer ``stop`` from those of layer ``start``.

        Args:
            tokens: Of layer ``start``.
            start: Blocks that have already run.
            stop: Blocks that will have run.
        """
        return self.backbone.blocks(tokens, start, stop)
