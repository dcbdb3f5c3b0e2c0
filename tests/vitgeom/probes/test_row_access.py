from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.probes.layers import FunctionLayers, RowSource, TensorLayers
from vitgeom.probes.row_access import as_rows, has_row_access, read_rows, row_blocks

X = torch.randn(7, 3, 2, generator=torch.Generator().manual_seed(0))


class OnlyRows:
    """A source that a user wrote, without whole layers."""

    num_rows, num_layers = 7, 3

    def rows(self, layer, start, stop):
        return X[start:stop, layer].numpy()


def on_disk(folder):
    np.save(folder / "x.npy", X.numpy())
    return np.load(folder / "x.npy", mmap_mode="r")


@pytest.mark.parametrize(
    "make",
    [
        lambda _: X,
        lambda _: TensorLayers(X),
        lambda _: X.numpy(),
        on_disk,
        lambda _: FunctionLayers(lambda layer: X[:, layer], num_layers=3),
        lambda _: FunctionLayers(num_layers=3, read_rows=lambda layer, a, b: X[a:b, layer], num_rows=7),
        lambda _: OnlyRows(),
    ],
    ids=["tensor", "layers", "array", "map", "whole layers", "row function", "rows only"],
)
def test_every_form_of_features_gives_the_same_rows(make, tmp_path):
    source = as_rows(make(tmp_path), name="X")
    assert isinstance(source, RowSource)
    assert (source.num_rows, source.num_layers) == (7, 3)
    for layer, start, stop in [(0, 0, 7), (2, 3, 5), (1, 6, 7), (2, 0, 1)]:
        assert torch.equal(read_rows(source, layer, start, stop, name="X"), X[start:stop, layer])


def test_a_source_of_rows_is_returned_as_it_is():
    for source in (OnlyRows(), TensorLayers(X)):
        assert as_rows(source, name="X") is source


def test_row_access_is_told_from_whole_layers():
    assert has_row_access(X)
    assert has_row_access(OnlyRows())
    assert not has_row_access(FunctionLayers(lambda layer: X[:, layer], num_layers=3))


def test_whole_layers_are_read_once_while_their_rows_are_asked_for():
    asked = []

    def read(layer):
        asked.append(layer)
        return X[:, layer]

    source = as_rows(FunctionLayers(read, num_layers=3), name="X")
    for layer in range(3):
        for start in range(6):
            source.rows(layer, start, start + 1)
    assert asked == [0, 1, 2]


def test_blocks_cover_every_row_once():
    blocks = list(row_blocks(TensorLayers(X), 1, name="X", block_rows=3))
    assert [start for start, _ in blocks] == [0, 3, 6]
    assert torch.equal(torch.cat([rows for _, rows in blocks]), X[:, 1])


def test_a_bad_row_is_named_by_its_number_in_the_whole():
    x = X.clone()
    x[5, 1, 0] = torch.nan
    with pytest.raises(
        InvalidInput, match=r"X_val must be finite, got .* at least 1 row\(s\) at layer 1, first in row 5"
    ):
        list(row_blocks(TensorLayers(x), 1, name="X_val", block_rows=4))


@pytest.mark.parametrize("shape", [(3, 2), (2, 0), (2,)])
def test_rows_of_the_wrong_shape_are_refused(shape):
    source = FunctionLayers(num_layers=1, read_rows=lambda *_: torch.zeros(shape), num_rows=9)
    with pytest.raises(InvalidInput, match=r"X at layer 0 must give \[2, D\] for rows 4..5, got \["):
        read_rows(source, 0, 4, 6, name="X")


def test_whole_numbers_are_refused():
    source = FunctionLayers(num_layers=3, read_rows=lambda layer, a, b: X[a:b, layer].long(), num_rows=7)
    with pytest.raises(InvalidInput, match=r"X at layer 2 must be floating point, got torch.int64"):
        read_rows(source, 2, 0, 3, name="X")


def test_a_source_whose_layers_are_no_matrices_is_refused():
    with pytest.raises(InvalidInput, match=r"X at layer 0 must have shape \[n, D\], got \[7, 3, 2\]"):
        as_rows(FunctionLayers(lambda layer: X, num_layers=3), name="X")
