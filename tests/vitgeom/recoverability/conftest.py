from __future__ import annotations

import pytest
import torch

from vitgeom.seeding import generator_for


@pytest.fixture
def verdicts():
    """Logits ``[4, 300, 5]`` of layers that get better with depth and share some of their errors; labels ``[300]``."""
    g = generator_for(0, "verdicts")
    labels = torch.randint(5, (300,), generator=g)
    common = torch.randn(300, 5, generator=g)
    logits = torch.randn(4, 300, 5, generator=g) + 0.7 * common
    signal = torch.nn.functional.one_hot(labels, 5)
    return logits + torch.tensor([0.5, 0.8, 1.1, 1.4])[:, None, None] * signal, labels
