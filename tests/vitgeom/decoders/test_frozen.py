from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.decoders.frozen import frozen_copy
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.errors import InvalidInput


def test_the_copy_is_frozen_and_the_original_stays_as_it_was(nano):
    head = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout())
    frozen = frozen_copy(head, trunk=BackboneTrunk(nano), name="x")
    assert not frozen.training
    assert not any(parameter.requires_grad for parameter in frozen.parameters())
    assert frozen[0].weight.dtype == torch.float64
    assert head.training
    assert head[0].weight.requires_grad
    assert head[0].weight.dtype == torch.float32
    nn.init.zeros_(head[0].weight)
    assert bool((frozen[0].weight == 1).all())


def test_buffers_count_as_weights(nano):
    head = nn.BatchNorm1d(4)
    head.running_var[2] = float("inf")
    with pytest.raises(
        InvalidInput, match=r"weights 'running_var' of the head of decoder 'x' are not finite at \[2\]"
    ):
        frozen_copy(head, trunk=BackboneTrunk(nano), name="x")
