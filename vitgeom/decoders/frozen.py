"""A copy of a head that never changes."""

from __future__ import annotations

import copy
from typing import TypeVar

from torch import nn

from vitgeom.decoders.refusals import check_finite
from vitgeom.decoders.trunk import Trunk

Head = TypeVar("Head", bound=nn.Module)


def frozen_copy(head: Head, *, trunk: Trunk, name: str) -> Head:
    """Return a copy in evaluation mode, without gradients into its weights, in the model's dtype and on its device.

    Args:
        head: Left as it is.
        trunk: The model whose tokens the head reads.
        name: Of the decoder.

    Raises:
        InvalidInput: A weight is not finite.
    """
    copied = copy.deepcopy(head).to(device=trunk.device, dtype=trunk.dtype).eval().requires_grad_(False)
    for key, tensor in copied.state_dict().items():
        if tensor.is_floating_point():
            check_finite(
                tensor,
                what=f"weights {key!r} of the head of decoder {name!r}",
                way_out="Load or train it again.",
            )
    return copied
