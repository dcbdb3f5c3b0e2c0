"""Depth Anything V2 (L. Yang et al. 2024) through ``transformers``: from the tokens of a layer to relative inverse depth [1, H, W].

Licences: the published Small weights are Apache-2.0, Base and Large are CC-BY-NC-4.0.   N = tokens, D = width.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from vitgeom.decoders.optional_packages import require
from vitgeom.decoders.random_head import random_head
from vitgeom.decoders.tapped import TappedDecoder
from vitgeom.errors import InvalidInput

INSTALL = "pip install 'vitgeom[dense]'"
SMALL = "depth-anything/Depth-Anything-V2-Small-hf"


def depth_anything_model(
    weights: str | Path | None = SMALL, *, config: Mapping[str, Any] | None = None, seed: int = 0
) -> nn.Module:
    """Load a model, or build one with random weights.

    Args:
        weights: Name on the Hub or a folder that ``save_pretrained`` wrote; None: random weights.
        config: Keyword arguments of ``DepthAnythingConfig`` for random weights; the default is the Small model.
        seed: Draws random weights.

    Raises:
        MissingPackage: ``transformers`` is not installed.
        InvalidInput: The weights cannot be had.
    """
    hub = require("transformers", what="Depth Anything", install=INSTALL)
    if weights is None:
        settings = hub.DepthAnythingConfig(**dict(config or {}))
        return random_head(lambda: hub.DepthAnythingForDepthEstimation(settings), seed=seed)
    if config is not None:
        raise InvalidInput("config belongs to random weights: give weights=None with it, or leave it out.")
    try:
        return hub.DepthAnythingForDepthEstimation.from_pretrained(str(weights))
    except (OSError, ValueError) as error:  # a folder that is not there reads as a malformed name on the Hub
        raise InvalidInput(
            f"weights={str(weights)!r} of Depth Anything cannot be had: {error} Give a folder written by save_pretrained, or weights=None."
        ) from error


def depth_anything_decoder(
    model: nn.Module, *, layer: int, image_size: tuple[int, int], name: str = "depth_anything"
) -> TappedDecoder:
    """Return features [N, D] -> relative inverse depth [1, H, W] at the size that the model predicts. Final ReLU: 0 is "far".

    Args:
        model: ``DepthAnythingForDepthEstimation`` with a DINOv2 backbone; copied and frozen.
        layer: Blocks that have run before the features, 0..L.
        image_size: (height, width) in pixels of the normalised images that it will be bound to; multiples of the patch size.
        name: How reports call it.

    Raises:
        InvalidInput: Layer out of range or after the model's last tap, or an image size that patches cannot tile.
    """
    trunk = DepthAnythingTrunk(model, image_size=image_size)
    frozen: Any = trunk.model
    rows, columns = trunk.grid

    def read(taps: Sequence[Tensor]) -> Tensor:
        norm = frozen.backbone.layernorm if frozen.backbone.config.apply_layernorm else nn.Identity()
        fused = frozen.neck([norm(tap) for tap in taps], rows, columns)
        return frozen.head(fused, rows, columns)[:, None]

    return TappedDecoder(name, trunk, layer, trunk.taps, read)


class DepthAnythingTrunk:
    """The DINOv2 backbone of a Depth Anything model, as decoders see it.

    Args:
        model: Copied, frozen, put into evaluation mode.
        image_size: (height, width) in pixels.

    Raises:
        InvalidInput: Patches cannot tile the image size.
    """

    def __init__(self, model: nn.Module, *, image_size: tuple[int, int]) -> None:
        self.model = cast(Any, copy.deepcopy(model).eval().requires_grad_(False))
        patch = int(self.model.config.patch_size)
        rows, columns = image_size[0] // patch, image_size[1] // patch
        if (rows * patch, columns * patch) != tuple(image_size) or min(rows, columns) < 1:
            raise InvalidInput(
                f"image_size={tuple(image_size)} must be multiples of the patch size {patch}, as (height, width)."
            )
        self.image_size, self.grid = image_size, (rows, columns)

    @property
    def name(self) -> str:
        """Model type and size."""
        return f"depth_anything-{self.num_blocks}x{self.tokens_shape[1]}"

    @property
    def num_blocks(self) -> int:
        """L."""
        return len(self.model.backbone.encoder.layer)

    @property
    def taps(self) -> tuple[int, ...]:
        """Layers that the model's own neck reads."""
        stages = list(self.model.backbone.stage_names)
        return tuple(stages.index(stage) for stage in self.model.backbone.out_features)

    @property
    def tokens_shape(self) -> tuple[int, int]:
        """(N, D): one class token, then the patches."""
        return 1 + self.grid[0] * self.grid[1], self.model.backbone.config.hidden_size

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return next(self.model.parameters()).dtype

    @property
    def device(self) -> torch.device:
        """Of the weights."""
        return next(self.model.parameters()).device

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that the first block sees.

        Args:
            images: Normalised pixels.

        Raises:
            InvalidInput: Another size than the trunk was made for.
        """
        if tuple(images.shape[-2:]) != self.image_size:
            raise InvalidInput(
                f"images are {tuple(images.shape[-2:])} pixels, but this decoder was made for image_size={self.image_size}."
            )
        return self.model.backbone.embeddings(images)

    def blocks(self, tokens: Float[Tensor, "b n d"], start: int, stop: int) -> Float[Tensor, "b n d"]:
        """Return the tokens of layer ``stop`` from those of layer ``start``; attention as plain matrix products.

        Args:
            tokens: Of layer ``start``.
            start: Blocks that have already run.
            stop: Blocks that will have run.
        """
        with sdpa_kernel(SDPBackend.MATH):
            for block in list(self.model.backbone.encoder.layer)[start:stop]:
                after = block(tokens)
                tokens = after[0] if isinstance(after, tuple) else after  # a tuple before transformers 5
        return tokens
