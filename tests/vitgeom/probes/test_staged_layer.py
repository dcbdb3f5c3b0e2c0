from __future__ import annotations

import os
import tempfile

import pytest
import torch
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.layers import FunctionLayers, TensorLayers
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.staged_layer import stacked_rows, staged_layer

X = torch.randn(9, 2, 3, generator=torch.Generator().manual_seed(0))
SMALL, LARGE = 1, 1 << 40


def stage(source, *, budget, rows=9, layer=1):
    return staged_layer(source, layer, name="X", rows=rows, num_classes=2, byte_budget=budget)


def test_a_layer_that_fits_is_a_tensor_and_another_one_a_file():
    with stage(TensorLayers(X), budget=LARGE) as memory, stage(TensorLayers(X), budget=SMALL) as file:
        assert isinstance(memory, Tensor)
        assert isinstance(file, RowFile)
        assert torch.equal(memory, X[:, 1])
        assert torch.equal(file[:], X[:, 1])


def test_whole_layers_stay_in_memory_whatever_the_budget():
    with stage(FunctionLayers(lambda layer: X[:, layer], num_layers=2), budget=SMALL) as rows:
        assert isinstance(rows, Tensor)


def test_rows_are_read_once(monkeypatch):
    monkeypatch.setattr("vitgeom.probes.staged_layer.chunk_rows", lambda **_: 4)
    asked = []

    def read(layer, start, stop):
        asked.append((layer, start, stop))
        return X[start:stop, layer]

    with stage(FunctionLayers(num_layers=2, read_rows=read, num_rows=9), budget=SMALL):
        pass
    assert asked == [(1, 0, 1), (1, 0, 4), (1, 4, 8), (1, 8, 9)]  # the first row tells the width


@pytest.mark.parametrize("fault", ["nan", "error", "width"])
def test_a_failed_reading_leaves_no_file(tmp_path, monkeypatch, fault):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("vitgeom.probes.staged_layer.chunk_rows", lambda **_: 4)

    def read(layer, start, stop):
        block = X[start:stop, layer].clone()
        if start < 4:
            return block
        if fault == "nan":
            block[2, 1] = torch.nan
        if fault == "error":
            raise OSError("the store is gone")
        return block[:, :2] if fault == "width" else block

    source = FunctionLayers(num_layers=2, read_rows=read, num_rows=9)
    said = {
        "nan": r"X must be finite, .* at layer 1, first in row 6",
        "error": "the store is gone",
        "width": "X must have the same width in all rows of layer 1, got 2 after 3",
    }[fault]
    with (
        pytest.raises((InvalidInput, OSError), match=said),
        stage(source, budget=SMALL),
    ):
        pytest.fail("the layer was given although it cannot be read")
    links = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    assert not [link for link in links if str(tmp_path) in link]
    assert list(tmp_path.iterdir()) == []


def test_another_number_of_rows_than_labels_is_refused():
    with (
        pytest.raises(
            InvalidInput, match=r"X at layer 1 must have shape \[8, D\] to match its 8 labels, got 9"
        ),
        stage(TensorLayers(X), budget=SMALL, rows=8),
    ):
        pytest.fail("rows without labels were given")


@pytest.mark.parametrize("first", ["memory", "file"])
@pytest.mark.parametrize("second", ["memory", "file"])
def test_stacked_rows_are_all_of_the_first_and_the_kept_of_the_second(first, second):
    keep = torch.arange(9) % 3 > 0
    budget = {"memory": LARGE, "file": SMALL}
    with (
        stage(TensorLayers(X), budget=budget[first], layer=0) as x,
        stage(TensorLayers(X), budget=budget[second]) as more,
        stacked_rows(x, more, keep=keep, block_rows=4) as both,
    ):
        assert isinstance(both, Tensor) == (first == second == "memory")
        assert torch.equal(both[:], torch.cat([X[:, 0], X[keep, 1]]))
