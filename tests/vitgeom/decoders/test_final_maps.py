from __future__ import annotations

import pytest
import torch

from vitgeom.decoders.final_maps import FINALS


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("relu", 0, float("inf")), ("softplus", 0, float("inf")), ("exp", 0, float("inf")), ("sigmoid", 0, 1)],
)
def test_each_keeps_to_its_range_and_rises(name, low, high):
    values = FINALS[name](torch.linspace(-5, 5, 101, dtype=torch.float64))
    assert bool(((values >= low) & (values <= high)).all())
    assert bool((values.diff() >= 0).all())


def test_the_identity_is_one():
    raw = torch.randn(5)
    assert torch.equal(FINALS["identity"](raw), raw)
