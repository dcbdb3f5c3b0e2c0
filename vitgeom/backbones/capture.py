"""All layer features in one forward pass.   B = images, L = blocks, N = tokens, D = width.

Only the class token and the mean over patches of each layer leave the loop, so beside the bare forward pass the memory
grows by [B, L, D] twice, not by [B, L, N, D]. "Layer l" is the raw residual stream after block l, l = 1..L.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.backbones.anatomy import Anatomy, final_norm
from vitgeom.backbones.layout import TokenLayout


@dataclass(frozen=True)
class LayerCapture:
    """Layer features of one batch.

    Attributes:
        cls: [B, L, D] class token after every block, or None for a model without one.
        mean: [B, L, D] mean over the patch tokens after every block; prefix tokens stay out.
        cls_normed: [B, D] class token of the last layer after the final norm, or None.
        mean_normed: [B, D] patch mean of the last layer after the final norm (norm, then mean; where a model pools
            before its norm, mean, then norm).
        output: [B, D'] the model's own pooled output before any classifier; ``cls_normed`` or ``mean_normed`` where the model
            has no pooling of its own.
        recomputed: Images that left the finite numbers in narrow arithmetic and were computed again in wide arithmetic.
    """

    cls: Tensor | None
    mean: Tensor
    cls_normed: Tensor | None
    mean_normed: Tensor
    output: Tensor
    recomputed: int = 0

    def tensors(self) -> dict[str, Tensor]:
        """Return the features that exist, by name."""
        named = {
            "cls": self.cls,
            "mean": self.mean,
            "cls_normed": self.cls_normed,
            "mean_normed": self.mean_normed,
        }
        return {
            name: tensor for name, tensor in {**named, "output": self.output}.items() if tensor is not None
        }

    def finite_images(self) -> Tensor:
        """Return [B] booleans: all features of this image are finite."""
        return torch.stack(
            [torch.isfinite(tensor).flatten(1).all(1) for tensor in self.tensors().values()]
        ).all(0)

    def with_images(self, rows: Tensor, other: LayerCapture) -> LayerCapture:
        """Return a copy in which the images ``rows`` come from ``other``.

        Args:
            rows: [b] positions in this batch.
            other: Features of exactly those images, in that order.
        """
        theirs = other.tensors()
        mixed = {name: tensor.index_copy(0, rows, theirs[name]) for name, tensor in self.tensors().items()}
        return replace(self, recomputed=self.recomputed + len(rows), **mixed)


@torch.no_grad()
def capture_layers(
    anatomy: Anatomy, images: Float[Tensor, "b 3 h w"], *, layout: TokenLayout
) -> LayerCapture:
    """Run the model once and keep what leaves each layer.

    Args:
        anatomy: The frozen model in parts.
        images: Preprocessed pixels.
        layout: The model's token layout.

    Returns:
        The features, in the model's own dtype. Cost: one forward pass and one reduction over the patches per layer.
    """
    model = anatomy.model
    num_blocks, batch, width = len(model.blocks), len(images), model.embed_dim
    dtype = next(model.parameters()).dtype
    mean_BLD = torch.empty(batch, num_blocks, width, dtype=dtype, device=images.device)
    cls_BLD = torch.empty_like(mean_BLD) if layout.num_cls else None
    tokens = anatomy.embed(images)
    for layer, tokens in enumerate(anatomy.walk(tokens, start=0, stop=num_blocks)):  # noqa: B020 - frees the embedding
        mean_BLD[:, layer] = patch_mean(tokens, num_prefix=layout.num_prefix)
        if cls_BLD is not None:
            cls_BLD[:, layer] = tokens[:, 0]
    normed = model.norm(tokens)
    last_cls = None if cls_BLD is None else cls_BLD[:, -1]
    return LayerCapture(
        cls_BLD, mean_BLD, **_last_layer(model, normed, last_cls, mean_BLD[:, -1], layout=layout)
    )


def patch_mean(tokens: Float[Tensor, "b n d"], *, num_prefix: int) -> Float[Tensor, "b d"]:
    """Return the mean over the patch tokens.

    Args:
        tokens: All tokens of one layer.
        num_prefix: Tokens before the first patch.
    """
    return tokens[:, num_prefix:].mean(dim=1)


def _last_layer(
    model: nn.Module, normed: Tensor, last_cls: Tensor | None, last_mean: Tensor, *, layout: TokenLayout
) -> dict[str, Tensor | None]:
    """Return the last layer's features after the final norm, and the pooled output."""
    norm = final_norm(model)
    if norm is model.norm:
        cls, mean = normed[:, 0] if layout.num_cls else None, patch_mean(normed, num_prefix=layout.num_prefix)
    else:
        cls, mean = None if last_cls is None else norm(last_cls), norm(last_mean)
    pooled = model.forward_head(normed, pre_logits=True)
    if pooled.ndim != 2:
        pooled = mean if cls is None else cls
    features = {"cls_normed": cls, "mean_normed": mean, "output": pooled}
    # A slice would keep all tokens of the batch alive.
    return {
        name: None if tensor is None else tensor.to(last_mean.dtype).clone()
        for name, tensor in features.items()
    }
