"""A frozen Vision Transformer: layer features in one pass, and its blocks as pure functions of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from vitgeom.backbones.anatomy import Anatomy
from vitgeom.backbones.block_weights import BlockWeights, NormWeights
from vitgeom.backbones.capture import LayerCapture
from vitgeom.backbones.image_size import check_image_size
from vitgeom.backbones.inputs import require_pixels
from vitgeom.backbones.precision import capture_finite
from vitgeom.backbones.preprocessing import Preprocessing
from vitgeom.backbones.spec import BackboneSpec
from vitgeom.errors import InvalidInput
from vitgeom.seeding import generator_for


class Backbone:
    """A model that never changes: evaluation mode, no gradients into its weights.

    Build one with ``load_backbone``. ``capture`` gives layer features; ``embed``, ``blocks`` and ``finish`` give the pieces
    that compose to the model's own ``forward_features``.
    """

    def __init__(self, anatomy: Anatomy, spec: BackboneSpec, preprocessing: Preprocessing) -> None:
        self.spec = spec
        self._anatomy = anatomy
        self._preprocessing = preprocessing
        anatomy.model.eval().requires_grad_(False)

    @property
    def model(self) -> nn.Module:
        """The timm model."""
        return self._anatomy.model

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights and of all features."""
        return next(self.model.parameters()).dtype

    def preprocess(self, image: Image.Image) -> Float[Tensor, "3 h w"]:
        """Return one picture as the model wants it.

        Args:
            image: A picture of any size and mode.

        Returns:
            Normalised float32 pixels at ``spec.image_size``, on the CPU.

        Raises:
            InvalidInput: It is no picture (the way to one is named), or one without pixels.
        """
        return self._preprocessing(image)

    def seen(self, image: Image.Image) -> Image.Image:
        """Return what the model sees of a picture, as a picture: resized and cropped to ``spec.image_size``.

        Args:
            image: A picture of any size and mode.

        Raises:
            InvalidInput: It is no picture, or one without pixels.
        """
        return self._preprocessing.seen(image)

    def preprocess_batch(self, images: Sequence[Image.Image]) -> Float[Tensor, "b 3 h w"]:
        """Return several pictures as one batch, on the CPU.

        Args:
            images: Pictures of any sizes and modes; at least one.

        Raises:
            InvalidInput: There is none, or something is no picture.
        """
        if not len(images):
            raise InvalidInput("images is an empty list. Give at least one picture.")
        return torch.stack([self.preprocess(image) for image in images])

    def capture(
        self,
        images: Float[Tensor, "b 3 h w"],
        *,
        precision: str = "float32",
        token_layers: Sequence[int] = (),
    ) -> LayerCapture:
        """Return the class token and patch mean of every layer, and all tokens of chosen ones, from one forward pass.

        Args:
            images: Preprocessed pixels at ``spec.image_size``; moved to the model's device and dtype.
            precision: "float32" (the model's own dtype), or "bfloat16" or "float16" for autocast.
            token_layers: Blocks, from 0 and rising, all of whose tokens are kept; default none. They take [b, K, N, D].

        Returns:
            Features on the model's device. Images that are not finite in narrow precision are computed again and counted.

        Raises:
            InvalidInput: No float tensor [b, 3, h, w], wrong image size, an empty batch, pixels that are not finite, or a layer that is
                not there.
            NumericalFailure: Features are not finite even in the model's own precision.
        """
        self._check_batch(images)
        self.spec.check_token_layers(token_layers)
        placed = images.to(self.device, self.dtype)
        return capture_finite(
            self._anatomy,
            placed,
            layout=self.spec.layout,
            precision=precision,
            token_layers=tuple(token_layers),
        )

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that block 0 sees.

        Args:
            images: Preprocessed pixels at ``spec.image_size``, on the model's device and in its dtype.

        Raises:
            InvalidInput: Wrong image size or an empty batch.
        """
        self._check_batch(images)
        return self._anatomy.embed(images)

    def blocks(self, tokens: Float[Tensor, "b n d"], start: int, stop: int) -> Float[Tensor, "b n d"]:
        """Return the tokens after blocks ``start`` .. ``stop`` - 1: a pure function of the tokens.

        Attention runs as plain matrix products here, so the function can be differentiated forwards, backwards and under vmap
        (fused attention kernels have no forward derivative). ``blocks(t, 0, L)`` after ``embed`` and before ``finish`` is the
        model's ``forward_features``; ``blocks(t, k, k)`` is the identity.

        Args:
            tokens: What block ``start`` sees.
            start: First block, 0-based.
            stop: One past the last block.

        Raises:
            InvalidInput: Not 0 <= start <= stop <= L.
        """
        self._check_range(start, stop)
        with sdpa_kernel(SDPBackend.MATH):
            for after in self._anatomy.walk(tokens, start=start, stop=stop):
                tokens = after
        return tokens

    def finish(self, tokens: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """Return the tokens after the norm that closes ``forward_features`` (the identity where a model pools first).

        Args:
            tokens: What the last block gave.
        """
        return self._anatomy.model.norm(tokens)

    def pool(self, normed: Float[Tensor, "b n d"]) -> Tensor:
        """Return the model's own pooled output [B, D'] from finished tokens, before any classifier.

        Args:
            normed: What ``finish`` gave.
        """
        return self._anatomy.model.forward_head(normed, pre_logits=True)

    def block_weights(self, start: int, stop: int) -> tuple[BlockWeights, ...]:
        """Return the weights of blocks ``start`` .. ``stop`` - 1 as plain tensors, shared with the model.

        Args:
            start: First block, 0-based.
            stop: One past the last block.

        Raises:
            InvalidInput: Not 0 <= start <= stop <= L.
            OtherBlocks: A block is more than norm, attention, norm, MLP on the tokens alone (rotary positions, gates, hooks, ...).
        """
        from vitgeom.backbones.block_reader import (
            read_block,  # brings timm; a model is there, so it is imported already
        )

        self._check_range(start, stop)
        blocks = list(self._anatomy.model.blocks)[start:stop]
        return tuple(read_block(block, name=f"blocks[{start + k}]") for k, block in enumerate(blocks))

    def norm_weights(self) -> NormWeights | None:
        """Return the weights of the norm that ``finish`` applies, None for the identity.

        Raises:
            OtherBlocks: It is another kind of norm.
        """
        from vitgeom.backbones.block_reader import read_norm

        norm: Any = self.model.norm
        return None if type(norm) is nn.Identity else read_norm(norm, name="norm")

    @torch.no_grad()
    def check(self) -> float:
        """Compare this package's loop with the model's own forward pass on two fixed random pictures.

        Returns:
            The largest of |norm(h_L) - forward_features| / max |forward_features| over all tokens, and of the same ratio for
            the captured last layer. ``load_backbone`` refuses a model above 1e-4.
        """
        generator = generator_for(0, "backbone check")
        images = torch.randn(2, 3, *self.spec.image_size, generator=generator).to(self.device, self.dtype)
        own = self._anatomy.model.forward_features(images)
        ours = self.finish(self.blocks(self.embed(images), 0, self.spec.num_blocks))
        captured = self.capture(images)
        differences = [_relative(ours, own)]
        if self.spec.layout.num_cls and not isinstance(self._anatomy.model.norm, nn.Identity):
            assert captured.cls_normed is not None
            differences.append(_relative(captured.cls_normed, own[:, 0]))
        return max(differences)

    def _check_range(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self.spec.num_blocks:
            raise InvalidInput(
                f"blocks start={start}, stop={stop} must satisfy 0 <= start <= stop <= {self.spec.num_blocks} "
                f"(blocks of {self.spec.name!r}, half-open, counted from 0)."
            )

    def _check_batch(self, images: object) -> None:
        height, width = require_pixels(images).shape[-2:]
        if (height, width) == self.spec.image_size:
            return
        check_image_size((height, width), patch_size=self.spec.patch_size, name=self.spec.name)
        raise InvalidInput(
            f"images are {height}x{width} pixels, but backbone {self.spec.name!r} was loaded for "
            f"{self.spec.image_size[0]}x{self.spec.image_size[1]}. Use backbone.preprocess, or load it with "
            f"image_size=({height}, {width})."
        )


def _relative(ours: Tensor, theirs: Tensor) -> float:
    """Return max |ours - theirs| / max |theirs|; NaN anywhere gives NaN, which no bound accepts."""
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(torch.finfo(theirs.dtype).tiny))
