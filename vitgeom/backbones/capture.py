"""All layer features in one forward pass.   B = images, L = blocks, K = chosen blocks, N = tokens, D = width.

Only the class token and the mean over patches of each layer leave the loop, and all tokens of the few layers that were chosen, so
beside the bare forward pass the memory grows by [B, L, D] twice and by [B, K, N, D], not by [B, L, N, D]. "Layer l" is the raw
residual stream after block l, l = 1..L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor

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
        tokens: [B, K, N, D] all tokens, prefix tokens included, after each block of ``token_layers``; the raw residual stream, the last
            layer's too (``Backbone.finish`` of it is what follows the final norm). None where no block was chosen.
        token_layers: The K chosen blocks, from 0, rising.
        recomputed: Images that left the finite numbers in narrow arithmetic and were computed again in wide arithmetic.
    """

    cls: Tensor | None
    mean: Tensor
    cls_normed: Tensor | None
    mean_normed: Tensor
    output: Tensor
    tokens: Tensor | None = None
    token_layers: tuple[int, ...] = ()
    recomputed: int = 0

    def tensors(self) -> dict[str, Tensor]:
        """Return the features that exist, by name."""
        named = {
            "cls": self.cls,
            "mean": self.mean,
            "cls_normed": self.cls_normed,
            "mean_normed": self.mean_normed,
            "output": self.output,
            "tokens": self.tokens,
        }
        return {name: tensor for name, tensor in named.items() if tensor is not None}

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
        mixed: dict[str, Any] = {
            name: tensor.index_copy(0, rows, theirs[name]) for name, tensor in self.tensors().items()
        }
        return replace(self, recomputed=self.recomputed + len(rows), **mixed)


@torch.no_grad()
def capture_layers(
    anatomy: Anatomy,
    images: Float[Tensor, "b 3 h w"],
    *,
    layout: TokenLayout,
    token_layers: Sequence[int] = (),
) -> LayerCapture:
    """Run the model once and keep what leaves each layer.

    Args:
        anatomy: The frozen model in parts.
        images: Preprocessed pixels.
        layout: The model's token layout.
        token_layers: Blocks, from 0 and rising, all of whose tokens are kept.

    Returns:
        The features, in the model's own dtype. Cost: one forward pass, one reduction over the patches per layer and one copy of the
        tokens per chosen layer.
    """
    model = anatomy.model
    num_blocks, batch, width = len(model.blocks), len(images), model.embed_dim
    dtype = next(model.parameters()).dtype
    mean_BLD = torch.empty(batch, num_blocks, width, dtype=dtype, device=images.device)
    cls_BLD = torch.empty_like(mean_BLD) if layout.num_cls else None
    places = {layer: place for place, layer in enumerate(token_layers)}
    tokens_BKND = mean_BLD.new_empty(batch, len(places), layout.num_tokens, width) if places else None
    tokens = anatomy.embed(images)
    for layer, tokens in enumerate(anatomy.walk(tokens, start=0, stop=num_blocks)):  # noqa: B020 - frees the embedding
        mean_BLD[:, layer] = patch_mean(tokens, num_prefix=layout.num_prefix)
        if cls_BLD is not None:
            cls_BLD[:, layer] = tokens[:, 0]
        if tokens_BKND is not None and layer in places:
            tokens_BKND[:, places[layer]] = tokens
    last_cls = None if cls_BLD is None else cls_BLD[:, -1]
    closing = close(model, tokens, last_cls=last_cls, last_mean=mean_BLD[:, -1], layout=layout)
    features = (cls_BLD, mean_BLD, closing.cls, closing.mean, closing.output)
    return LayerCapture(*features, tokens=tokens_BKND, token_layers=tuple(token_layers))


def patch_mean(tokens: Float[Tensor, "b n d"], *, num_prefix: int) -> Float[Tensor, "b d"]:
    """Return the mean over the patch tokens.

    Args:
        tokens: All tokens of one layer.
        num_prefix: Tokens before the first patch.
    """
    return tokens[:, num_prefix:].mean(dim=1)


class Closing(NamedTuple):
    """The last layer after the final norm, and the pooled output."""

    cls: Tensor | None
    mean: Tensor
    output: Tensor


def close(
    model: Any,
    tokens: Float[Tensor, "b n d"],
    *,
    last_cls: Float[Tensor, "b d"] | None,
    last_mean: Float[Tensor, "b d"],
    layout: TokenLayout,
) -> Closing:
    """Return what the model makes of its last layer.

    Args:
        model: The timm model.
        tokens: Residual stream after the last block.
        last_cls: Its class token, or None.
        last_mean: Its patch mean.
        layout: The model's token layout.
    """
    normed = model.norm(tokens)
    norm = final_norm(model)
    if norm is model.norm:
        cls, mean = normed[:, 0] if layout.num_cls else None, patch_mean(normed, num_prefix=layout.num_prefix)
    else:
        cls, mean = None if last_cls is None else norm(last_cls), norm(last_mean)
    output = model.forward_head(normed, pre_logits=True)
    if output.ndim != 2:
        output = mean if cls is None else cls
    # Copies: a slice would keep all tokens of the batch alive.
    own = [None if part is None else part.to(last_mean.dtype, copy=True) for part in (cls, mean, output)]
    return Closing(own[0], cast(Tensor, own[1]), cast(Tensor, own[2]))
