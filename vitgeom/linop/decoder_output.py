"""What a decoder may return.   M = outputs."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.errors import InvalidInput, NumericalFailure


def check_output(output: object, *, like: Tensor) -> Tensor:
    """Return the output flattened to [M], or refuse what has no Jacobian.

    Args:
        output: What the decoder returned.
        like: The features, whose dtype and device the output must have.

    Raises:
        InvalidInput: No tensor, no entries, or another dtype or device.
        NumericalFailure: It is not finite although the features are.
    """
    if not isinstance(output, Tensor):
        raise InvalidInput(
            f"decoder returned {type(output).__name__}, but must return one tensor. Choose a part, for example "
            "lambda f: decoder(f)[0], or join parts with torch.cat([part.flatten() for part in decoder(f)])."
        )
    if output.dtype != like.dtype:
        raise InvalidInput(
            f"decoder returned {output.dtype} for features in {like.dtype}. {_way_out(output.dtype)}"
        )
    if output.device != like.device:
        raise InvalidInput(
            f"decoder returned a tensor on {output.device} for features on {like.device}. Keep it on one device."
        )
    if not output.numel():
        raise InvalidInput(f"decoder returned no entries: shape {list(output.shape)}. Return at least one.")
    if not bool(output.isfinite().all()):
        bad = int((~output.isfinite()).sum())
        raise NumericalFailure(
            f"decoder returned {bad} of {output.numel()} entries that are not finite for finite features. "
            "Check its weights and the layer that the features come from."
        )
    return output.flatten()


def _way_out(dtype: torch.dtype) -> str:
    if not dtype.is_floating_point:
        return "Whole numbers and complex ones have no real Jacobian: return the logits or values before rounding or argmax."
    return "Remove autocast or casts inside, and give features and weights one dtype (float32 or float64)."
