from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.probes.layers import (
    FunctionLayers,
    LayerSource,
    RowSource,
    TensorLayers,
    as_layers,
    read_layer,
)


def test_a_tensor_and_a_function_give_the_same_layers():
    x = torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(0))
    function = FunctionLayers(lambda layer: x[:, layer], num_layers=3)
    tensor = as_layers(x, name="X")
    assert isinstance(function, LayerSource)
    assert as_layers(function, name="X") is function
    assert function.num_layers == tensor.num_layers == 3
    for layer in range(3):
        torch.testing.assert_close(function(layer), tensor(layer), rtol=0, atol=0)
        assert tensor(layer).is_contiguous()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_an_array_gives_the_layers_of_a_tensor(dtype):
    x = np.random.default_rng(0).normal(size=(4, 3, 2)).astype(dtype)[::-1]
    x.setflags(write=False)
    source = as_layers(x, name="X")
    assert source.num_layers == 3
    for layer in range(3):
        np.testing.assert_array_equal(source(layer).numpy(), x[:, layer])
    source(0).zero_()
    assert x[:, 0].all()


@pytest.mark.parametrize("dtype", ["int64", "complex64", "U3", "object"])
def test_an_array_of_no_real_numbers_is_refused(dtype):
    with pytest.raises(
        InvalidInput, match=r"X at layer 0 must be floating point .* got a numpy array of .*astype\(numpy"
    ):
        as_layers(np.zeros((4, 3, 2)).astype(dtype), name="X")(0)


@pytest.mark.parametrize("x", [None, [[[1.0]]], "features", [torch.zeros(2, 3)]])
def test_what_holds_no_features_is_refused(x):
    said = rf"X_val must be a tensor or a numpy array \[n, L, D\], .* got {type(x).__name__}; stack features with"
    with pytest.raises(InvalidInput, match=said):
        as_layers(x, name="X_val")


class Own:
    """A source that a user wrote, which gives whatever it was given."""

    num_layers = 1

    def __init__(self, x):
        self._x = x

    def __call__(self, layer):
        return self._x


@pytest.mark.parametrize("source", [Own, lambda x: FunctionLayers(lambda layer: x, num_layers=1)])
def test_a_source_may_give_arrays_and_nothing_else(source):
    x = np.ones((3, 2), dtype=np.float32)
    assert torch.equal(read_layer(source(x), 0, name="X", rows=3), torch.ones(3, 2))
    with pytest.raises(
        InvalidInput, match=r"at layer 0 must be a tensor or a numpy array \[n, D\], got list; return"
    ):
        read_layer(source([[1.0]]), 0, name="X", rows=1)


def test_only_the_layer_asked_for_is_read():
    asked = []

    def read(layer):
        asked.append(layer)
        return torch.zeros(2, 3)

    read_layer(FunctionLayers(read, num_layers=9), 4, name="X", rows=2)
    assert asked == [4]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_bad_row_is_named(value, dtype):
    x = torch.zeros(5, 2, 3, dtype=dtype)
    x[3, 1, 2] = value
    with pytest.raises(
        InvalidInput, match=r"X must be finite, got .* in 1 row\(s\) at layer 1, first in row 3"
    ):
        read_layer(TensorLayers(x), 1, name="X", rows=5)


@pytest.mark.parametrize("shape", [(4, 2), (3, 0), (3, 2, 1)])
def test_a_layer_of_the_wrong_shape_is_refused(shape):
    source = FunctionLayers(lambda layer: torch.zeros(*shape), num_layers=1)
    with pytest.raises(
        InvalidInput, match=r"X_val at layer 0 must have shape \[3, D\] to match its 3 labels"
    ):
        read_layer(source, 0, name="X_val", rows=3)


def test_integer_features_are_refused():
    source = FunctionLayers(lambda layer: torch.zeros(3, 2, dtype=torch.int64), num_layers=1)
    with pytest.raises(InvalidInput, match=r"must be floating point, got torch.int64; call .float\(\)"):
        read_layer(source, 0, name="X", rows=3)


def test_a_matrix_is_refused_with_the_way_out():
    for matrix in (torch.zeros(3, 2), np.zeros((3, 2))):
        with pytest.raises(InvalidInput, match=r"X must have shape \[n, L, D\].*X\[:, None, :\]"):
            as_layers(matrix, name="X")


def test_no_layers_are_refused():
    with pytest.raises(InvalidInput, match="num_layers must be >= 1, got 0"):
        FunctionLayers(lambda layer: torch.zeros(1, 1), num_layers=0)


def test_nothing_to_read_with_is_refused():
    with pytest.raises(InvalidInput, match=r"needs read .* or read_rows .*, got neither"):
        FunctionLayers(num_layers=1)


def test_rows_without_their_number_are_refused():
    with pytest.raises(
        InvalidInput, match="read_rows and num_rows must come together, got num_rows=3 without"
    ):
        FunctionLayers(lambda layer: torch.zeros(3, 1), num_layers=1, num_rows=3)
    with pytest.raises(InvalidInput, match="must come together, got num_rows=None with read_rows"):
        FunctionLayers(num_layers=1, read_rows=lambda layer, start, stop: torch.zeros(1, 1))


def test_a_function_that_reads_rows_gives_whole_layers_too():
    x = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))
    source = FunctionLayers(
        num_layers=2, read_rows=lambda layer, start, stop: x[start:stop, layer], num_rows=5
    )
    assert isinstance(source, RowSource)
    assert torch.equal(source(1), x[:, 1])
    assert not isinstance(FunctionLayers(lambda layer: x[:, layer], num_layers=2), RowSource)
