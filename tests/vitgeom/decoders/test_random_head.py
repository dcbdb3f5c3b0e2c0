from __future__ import annotations

import torch
from torch import nn

from vitgeom.decoders import random_head


def test_weights_depend_on_the_seed_alone_and_the_global_state_stays():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = random_head(lambda: nn.Linear(3, 2), seed=0)
    torch.randn(5)
    again, other = random_head(lambda: nn.Linear(3, 2), seed=0), random_head(lambda: nn.Linear(3, 2), seed=1)
    assert torch.equal(first.weight, again.weight)
    assert not torch.equal(first.weight, other.weight)
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), before)
