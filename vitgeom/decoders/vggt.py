"""VGGT (J. Wang et al. 2025) through its own package: from the tokens of a layer to depth, points or camera of one image.

VGGT alternates attention within a frame and over all frames. Layer l here is what leaves the l-th pair of blocks, l = 1..L; its heads see, per
layer, [frame half | global half] of width 2 D. The features are the global half (what the next pair sees); the frame half of the same layer
was computed before them and is held fixed.   N = tokens (camera, registers, patches), D = width.

The package is not on the package index and its weights have their own licence (VGGT-1B: non-commercial).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from vitgeom.decoders.optional_packages import require
from vitgeom.decoders.random_head import random_head
from vitgeom.decoders.refusals import check_finite
from vitgeom.decoders.whole_derivative import WholeDerivative
from vitgeom.errors import InvalidInput, UnknownName

INSTALL = "pip install 'vggt @ git+https://github.com/facebookresearch/vggt'"
OUTPUTS = ("depth", "points", "camera")


def vggt_model(*, seed: int = 0, **sizes: int) -> nn.Module:
    """Build VGGT with random weights.

    Args:
        seed: Draws the weights.
        **sizes: Keyword arguments of its constructor: ``img_size``, ``patch_size``, ``embed_dim``.

    Raises:
        MissingPackage: The package is not installed.
    """
    package = require("vggt.models.vggt", what="VGGT", install=INSTALL)
    return random_head(lambda: package.VGGT(**sizes), seed=seed)


class VggtDecoder:
    """From the tokens of a layer to one output of VGGT at a single image.

    Args:
        model: A ``VGGT``; copied and frozen.
        layer: Pairs of blocks that have run before the features, 0..L.
        output: "depth" [1, H, W], "points" [3, H, W] or "camera" [9] (translation, quaternion with the scalar last, field of view).

    Raises:
        UnknownName: No such output.
        InvalidInput: Layer out of range, or a model whose blocks do not alternate one by one.
    """

    def __init__(self, model: nn.Module, *, layer: int, output: str = "depth") -> None:
        if output not in OUTPUTS:
            raise UnknownName("output of VGGT", output, OUTPUTS)
        self.model = cast(Any, copy.deepcopy(model).eval().requires_grad_(False))
        aggregator = self.model.aggregator
        if list(aggregator.aa_order) != ["frame", "global"] or aggregator.aa_block_size != 1:
            raise InvalidInput(
                f"VGGT with aa_order={list(aggregator.aa_order)} and aa_block_size={aggregator.aa_block_size} is not supported: its blocks "
                "must alternate frame, global, one by one, as in the published models."
            )
        self.num_blocks = len(aggregator.global_blocks)
        if isinstance(layer, bool) or not 0 <= layer <= self.num_blocks:
            raise InvalidInput(
                f"layer={layer!r} of decoder 'vggt_{output}' must be a whole number in 0..{self.num_blocks}: the pairs of blocks that have "
                "run before the features."
            )
        self.layer, self.output = layer, output

    @property
    def name(self) -> str:
        """``vggt_depth`` and so on."""
        return f"vggt_{self.output}"

    @torch.no_grad()
    def at(self, image: Float[Tensor, "3 h w"]) -> BoundVggt:
        """Return the decoder at one image.

        Args:
            image: Pixels in 0..1 (VGGT normalises them itself), sides multiples of the patch size.

        Raises:
            InvalidInput: Pixels that are not finite.
        """
        check_finite(
            image, what=f"pixels of the image for decoder {self.name!r}", way_out="Repair the picture."
        )
        weight = next(self.model.parameters())
        images = image[None, None].to(weight.device, weight.dtype)
        entered, positions, layers = self._run_once(images)
        width = entered.shape[-1]
        features = entered[0] if self.layer == 0 else layers[self.layer - 1][0, 0, :, width:]
        return BoundVggt(self, features.detach().clone(), tuple(layers[: self.layer]), positions, images)

    def _run_once(self, images: Tensor) -> tuple[Tensor, Tensor | None, list[Tensor]]:
        """Return what the first block saw (tokens, positions) and the [1, 1, N, 2 D] of every layer."""
        seen: list[tuple[Tensor, Tensor | None]] = []

        def look(_block: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
            seen.append((given[0], named.get("pos", given[1] if len(given) > 1 else None)))

        hook = self.model.aggregator.frame_blocks[0].register_forward_pre_hook(look, with_kwargs=True)
        try:
            with sdpa_kernel(SDPBackend.MATH):
                layers, _ = self.model.aggregator(images)
        finally:
            hook.remove()
        tokens, positions = seen[0]
        return tokens, positions, list(layers)

    def _continue(self, tokens: Tensor, bound: BoundVggt) -> list[Tensor]:
        """Return the [1, 1, N, 2 D] of every layer, those after ``layer`` from the tokens [1, N, D]."""
        layers = list(bound.earlier)
        if layers:
            frame_half = layers[-1][..., : tokens.shape[-1]]
            layers[-1] = torch.cat([frame_half, tokens[:, None]], dim=-1)
        aggregator = self.model.aggregator
        for index in range(self.layer, self.num_blocks):
            framed = aggregator.frame_blocks[index](tokens, pos=bound.positions)
            tokens = aggregator.global_blocks[index](framed, pos=bound.positions)
            layers.append(torch.cat([framed, tokens], dim=-1)[:, None])
        return layers

    def _decode(self, layers: Sequence[Tensor], images: Tensor) -> Tensor:
        start = self.model.aggregator.patch_start_idx
        if self.output == "camera":
            with WholeDerivative():  # the head detaches its pose before each refinement
                return self.model.camera_head(list(layers))[-1][0, 0]
        head: Callable[..., Any] = self.model.depth_head if self.output == "depth" else self.model.point_head
        maps, _confidence = head(list(layers), images=images, patch_start_idx=start)
        return maps[0, 0].movedim(-1, 0)


@dataclass(frozen=True, eq=False)
class BoundVggt:
    """VGGT at one image: features [N, D] -> output.

    Attributes:
        decoder: For any image.
        features: [N, D] the image's own tokens of the layer.
        earlier: [1, 1, N, 2 D] of every layer up to the features' own, held fixed but for its global half.
        positions: Rotary positions of the tokens, or None.
        images: [1, 1, 3, H, W] pixels; the heads need their size.
    """

    decoder: VggtDecoder
    features: Float[Tensor, "n d"]
    earlier: tuple[Tensor, ...]
    positions: Tensor | None
    images: Tensor

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.decoder.name

    @property
    def layer(self) -> int:
        """Pairs of blocks that have run before the features."""
        return self.decoder.layer

    def __call__(self, features: Tensor) -> Tensor:
        """Return the output for any tokens of the layer.

        Args:
            features: [N, D] in the model's dtype.

        Raises:
            InvalidInput: Another shape or dtype.
        """
        wanted = self.features
        if features.shape != wanted.shape or features.dtype != wanted.dtype:
            raise InvalidInput(
                f"features of decoder {self.name!r} must be {list(wanted.shape)} in {wanted.dtype}, the tokens of one image at layer "
                f"{self.layer}, got {list(features.shape)} in {features.dtype}."
            )
        with sdpa_kernel(SDPBackend.MATH):
            layers = self.decoder._continue(features[None], self)
            return self.decoder._decode(layers, self.images)
