from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric.seeded import seeded


def drawn(seed: int, name: str) -> list[float]:
    with seeded(seed, name):
        return torch.rand(3).tolist()


def test_weights_depend_on_seed_and_name_and_nothing_else_changes() -> None:
    before = torch.random.get_rng_state()
    assert drawn(0, "a") == drawn(0, "a")
    assert len({tuple(drawn(seed, name)) for seed in (0, 1) for name in "ab"}) == 4
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(InvalidInput, match="seed must be a whole number"), seeded(True, "a"):
        pass
