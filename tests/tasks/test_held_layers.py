"""Held layers are the same rows, read once; what is too large is read as before."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tasks import held_layers
from tasks.held_layers import held_bytes
from vitgeom.probes import FunctionLayers

X = torch.arange(24, dtype=torch.float32).reshape(4, 2, 3)


def counted(reads: list[tuple[int, int, int]]) -> FunctionLayers:
    def read_rows(layer: int, start: int, stop: int) -> Tensor:
        reads.append((layer, start, stop))
        return X[start:stop, layer]

    return FunctionLayers(num_layers=2, read_rows=read_rows, num_rows=4)


def test_each_layer_is_read_once() -> None:
    reads: list[tuple[int, int, int]] = []
    held = held_layers.held_layers(counted(reads), num_rows=4, width=3)
    for layer, start, stop in ((0, 1, 3), (0, 0, 4), (1, 3, 4)):
        assert torch.equal(held.rows(layer, start, stop), X[start:stop, layer])
    assert reads == [(0, 0, 4), (1, 0, 4)]


def test_what_is_too_large_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    assert held_bytes(num_rows=4, num_layers=2, width=3) == 96
    monkeypatch.setattr(held_layers, "HELD_BYTES", 95)
    assert held_bytes(num_rows=4, num_layers=2, width=3) == 0
    source = counted([])
    assert held_layers.held_layers(source, num_rows=4, width=3) is source
