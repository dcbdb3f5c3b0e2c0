"""Last activations of dense heads: from numbers of any sign to the range of what they mean."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

FINALS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda raw: raw,
    "relu": F.relu,  # DPT and Depth Anything (relative): kinks, and a zero Jacobian where it is off
    "softplus": F.softplus,
    "exp": torch.exp,  # raw is the logarithm of a depth
    "sigmoid": torch.sigmoid,
}
"""Name in a head's configuration -> function."""
