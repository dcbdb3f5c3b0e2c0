from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.fusion.backbone_rows import backbone_rows
from vitgeom.probes import FunctionLayers, TensorLayers
from vitgeom.probes.byte_budget import default_byte_budget
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, STREAM_BYTE_BUDGET

X = torch.zeros(4, 2, 3)
BY_ROWS = FunctionLayers(num_layers=2, read_rows=lambda layer, start, stop: X[start:stop, layer], num_rows=4)


@pytest.mark.parametrize(
    ("x", "budget"),
    [
        (X, DEFAULT_BYTE_BUDGET),
        (X.numpy(), DEFAULT_BYTE_BUDGET),
        (TensorLayers(X), DEFAULT_BYTE_BUDGET),
        (FunctionLayers(lambda layer: X[:, layer], num_layers=2), DEFAULT_BYTE_BUDGET),
        (BY_ROWS, STREAM_BYTE_BUDGET),
        (backbone_rows([X, X], name="X"), DEFAULT_BYTE_BUDGET),
        (backbone_rows([X, BY_ROWS], name="X"), STREAM_BYTE_BUDGET),
    ],
)
def test_features_that_are_in_memory_anyway_may_take_more(x, budget):
    assert default_byte_budget(x) == budget


def test_a_memory_map_is_read_by_rows(tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=(4, 2, 3))
    assert default_byte_budget(mapped) == STREAM_BYTE_BUDGET
