"""A timm Vision Transformer taken apart: embedding, one block after another, final norm, pooling.

Everything is read from the model object, nothing is assumed from its name.   B = images, N = tokens, D = width.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, cast, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.backbones.layout import TokenLayout


@runtime_checkable
class Anatomy(Protocol):
    """What the capture loop needs of a model family. All methods are pure functions of their tensors."""

    model: Any

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that the first block sees: patches with positions, prefix tokens, norm before the blocks."""
        ...

    def walk(self, tokens: Float[Tensor, "b n d"], *, start: int, stop: int) -> Iterator[Tensor]:
        """Yield the tokens after each of the blocks ``start`` .. ``stop`` - 1 (0-based), one at a time."""
        ...


class PlainAnatomy:
    """Models whose blocks see nothing but the tokens: ViT, DeiT, DeiT-3, CLIP, SigLIP, DINOv2."""

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = model

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that the first block sees.

        Args:
            images: Preprocessed pixels.
        """
        model = self.model
        return model.norm_pre(model.patch_drop(model._pos_embed(model.patch_embed(images))))

    def walk(self, tokens: Float[Tensor, "b n d"], *, start: int, stop: int) -> Iterator[Tensor]:
        """Yield the tokens after each block.

        Args:
            tokens: What block ``start`` sees.
            start: First block, 0-based.
            stop: One past the last block.
        """
        for block in list(self.model.blocks)[start:stop]:
            tokens = block(tokens)
            yield tokens


class RotaryAnatomy:
    """Models whose blocks also see rotary positions: EVA-02, DINOv3, Perception Encoder.

    At a fixed image size the rotation depends on the grid alone, so a block is still a function of the tokens.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = model

    def embed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n d"]:
        """Return the tokens that the first block sees.

        Args:
            images: Preprocessed pixels.
        """
        model = self.model
        tokens, _ = model._pos_embed(model.patch_embed(images))
        return model.norm_pre(tokens)

    def walk(self, tokens: Float[Tensor, "b n d"], *, start: int, stop: int) -> Iterator[Tensor]:
        """Yield the tokens after each block.

        Args:
            tokens: What block ``start`` sees.
            start: First block, 0-based.
            stop: One past the last block.
        """
        rotation = self._rotation()
        per_block = rotation is not None and getattr(self.model, "rope_mixed", False)
        for index, block in list(enumerate(self.model.blocks))[start:stop]:
            tokens = block(tokens, rope=rotation[index] if per_block else rotation)
            yield tokens

    def _rotation(self) -> Any:
        """Return the rotary table of the model's own grid (None for a model without one)."""
        rope = self.model.rope
        if rope is None:
            return None
        return (
            rope.get_embed()
            if hasattr(rope, "feat_shape")
            else rope.get_embed(shape=self.model.patch_embed.grid_size)
        )


def read_layout(model: nn.Module) -> TokenLayout:
    """Read the token order and counts from a model's own tokens.

    Args:
        model: A timm ViT of a supported family at its final image size.
    """
    vit = cast(Any, model)
    return TokenLayout(
        num_cls=int(vit.cls_token is not None),
        num_registers=vit.reg_token.shape[1] if getattr(vit, "reg_token", None) is not None else 0,
        num_distill=int(getattr(vit, "dist_token", None) is not None),
        grid=tuple(vit.patch_embed.grid_size),
    )


def patch_size(model: nn.Module) -> tuple[int, int]:
    """Return (height, width) in pixels of what one patch token covers.

    Args:
        model: A timm ViT of a supported family.
    """
    embed = cast(Any, model).patch_embed
    height, width = embed.feat_ratio(as_scalar=False)
    return int(height), int(width)


def final_norm(model: nn.Module) -> nn.Module:
    """Return the norm that closes the backbone: ``norm`` on all tokens, or ``fc_norm`` where the model pools before it.

    Args:
        model: A timm ViT of a supported family.
    """
    vit = cast(Any, model)
    return vit.norm if not isinstance(vit.norm, nn.Identity) else vit.fc_norm
