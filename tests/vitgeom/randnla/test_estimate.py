from __future__ import annotations

import math

import pytest
import torch

from vitgeom.randnla.estimate import Estimate
from vitgeom.randnla.products import Products


def test_mean_and_standard_error_by_hand() -> None:
    found = Estimate.from_samples(torch.tensor([1.0, 2.0, 3.0, 6.0]), products=Products(vjp=4), offset=10.0)
    assert found.value == pytest.approx(13.0)
    assert found.stderr == pytest.approx(math.sqrt((4 + 1 + 0 + 9) / 3 / 4))
    assert found.products.total == 4
