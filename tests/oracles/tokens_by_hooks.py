"""All tokens of every layer the slow, obvious way: the model's own forward pass, with a hook on each block."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def tokens_by_hooks(model: Any, images: Tensor) -> Tensor:
    """Return [B, L, N, D]: what leaves each block when the model runs as timm runs it.

    Args:
        model: A timm Vision Transformer.
        images: Preprocessed pixels.
    """
    outputs: list[Tensor] = []
    hooks = [
        block.register_forward_hook(lambda _block, _inputs, output: outputs.append(output))
        for block in model.blocks
    ]
    try:
        model.forward_features(images)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(outputs, dim=1)
