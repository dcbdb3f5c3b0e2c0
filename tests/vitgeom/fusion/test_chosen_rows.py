from __future__ import annotations

import pytest
import torch

from vitgeom.fusion.chosen_rows import ChosenRows
from vitgeom.probes import TensorLayers

X = torch.arange(40.0).reshape(10, 2, 2)


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (1, 3), (2, 2), (3, 4)])
def test_rows_are_those_of_the_index(start, stop):
    index = torch.tensor([0, 3, 4, 9])
    chosen = ChosenRows(TensorLayers(X), index)

    assert (chosen.num_rows, chosen.num_layers) == (4, 2)
    for layer in range(2):
        assert torch.equal(chosen.rows(layer, start, stop), X[index, layer][start:stop])
