from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.chosen_rows import ChosenRows
from vitgeom.probes import TensorLayers

X = torch.arange(40.0).reshape(10, 2, 2)


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (1, 3), (2, 2), (3, 4)])
def test_rows_are_those_of_the_index(start, stop):
    index = torch.tensor([0, 3, 4, 9])
    chosen = ChosenRows(TensorLayers(X), index, name="X")

    assert (chosen.num_rows, chosen.num_layers) == (4, 2)
    for layer in range(2):
        assert torch.equal(chosen.rows(layer, start, stop), X[index, layer][start:stop])


def test_a_bad_row_is_named_by_its_number_in_the_source():
    x = X.clone()
    x[4, 1, 0] = torch.nan
    chosen = ChosenRows(TensorLayers(x), torch.tensor([0, 3, 4, 9]), name="X_fit")

    with pytest.raises(InvalidInput, match=r"X_fit must be finite.*1 row\(s\) at layer 1, first in row 4"):
        chosen.rows(1, 1, 4)
    assert len(chosen.rows(1, 0, 2)) == 2
    assert len(chosen.rows(0, 0, 4)) == 4
