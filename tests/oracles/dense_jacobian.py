"""The whole Jacobian, entry by entry, from evaluations alone: central differences of fourth order in float64."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


@torch.no_grad()
def dense_jacobian(decoder: Callable[[Tensor], Tensor], features: Tensor, *, step: float = 1e-3) -> Tensor:
    """Return dT/dF as [M, N D]; error about step^4 for smooth decoders."""
    columns = []
    for entry in range(features.numel()):
        nudge = torch.zeros(features.numel(), dtype=torch.float64)
        nudge[entry] = step
        nudge = nudge.reshape(features.shape)
        near = decoder(features + nudge).flatten() - decoder(features - nudge).flatten()
        far = decoder(features + 2 * nudge).flatten() - decoder(features - 2 * nudge).flatten()
        columns.append((8 * near - far) / (12 * step))
    return torch.stack(columns, dim=1)
