from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.support.layered_features import layered_features


@pytest.fixture
def small() -> tuple[Tensor, Tensor]:
    """60 rows of 5 correlated columns, 3 classes, one layer."""
    x, y = layered_features(60, 2, 5, 3, strength=1.0)
    return x[:, 1].contiguous(), y


@pytest.fixture
def strengths() -> Tensor:
    return torch.tensor([1e-4, 1e-2, 1.0], dtype=torch.float64)
