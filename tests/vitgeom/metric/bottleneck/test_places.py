from __future__ import annotations

import pytest
import torch

from vitgeom.metric.bottleneck.places import TokenPlaces


@pytest.mark.parametrize("num_prefix", [0, 1, 5])
def test_prefix_tokens_come_first_and_do_not_depend_on_the_grid(num_prefix):
    places = TokenPlaces(8, num_prefix=num_prefix)
    small, large = places((2, 3)), places((4, 4))
    assert small.shape == (num_prefix + 6, 8)
    assert large.shape == (num_prefix + 16, 8)
    assert torch.equal(small[:num_prefix], large[:num_prefix])


def test_every_token_has_a_vector_of_its_own():
    found = TokenPlaces(32, num_prefix=2)((8, 8)).detach()
    apart = torch.cdist(found, found) + 10 * torch.eye(len(found))
    assert float(apart.min()) > 0.1
