from __future__ import annotations

import pytest
import torch

from vitgeom.linop.column_width import column_width


@pytest.mark.parametrize(
    ("column_bytes", "max_bytes", "max_batch", "device", "wanted"),
    [
        (10, 35, None, "cpu", 3),
        (10, 5, None, "cpu", 1),
        (0, 5, None, "cpu", 5),
        (1, 2**30, None, "cpu", 8),
        (1, 2**30, None, "cuda", 64),
        (10, 5, 100, "cpu", 100),
    ],
)
def test_the_budget_counts_unless_a_batch_is_given(
    column_bytes: int, max_bytes: int, max_batch: int | None, device: str, wanted: int
) -> None:
    found = column_width(column_bytes, max_bytes=max_bytes, max_batch=max_batch, device=torch.device(device))
    assert found == wanted
