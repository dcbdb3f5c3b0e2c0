from __future__ import annotations

import pytest
import torch

from tests.oracles.softmax_regression import standardise
from vitgeom.errors import InvalidInput
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.standardise import fit_standardiser, stream_standardiser


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_columns_get_mean_0_and_deviation_1(dtype):
    x = (torch.randn(200, 4, generator=torch.Generator().manual_seed(0)) * 3 + 40).to(dtype)
    z = fit_standardiser(x)(x)
    torch.testing.assert_close(z, torch.from_numpy(standardise(x.double().numpy())), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(z.square().mean(dim=0), torch.ones(4, dtype=torch.float64))


def test_integer_weights_mean_repeated_rows():
    g = torch.Generator().manual_seed(1)
    x, times = torch.randn(30, 3, generator=g), torch.randint(0, 4, (30,), generator=g)
    by_weight = fit_standardiser(x, weight=times.double())
    by_rows = fit_standardiser(x.repeat_interleave(times, dim=0))
    torch.testing.assert_close(by_weight.mean, by_rows.mean)
    torch.testing.assert_close(by_weight.std, by_rows.std)


def test_a_column_that_never_changes_becomes_exactly_0():
    x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    x[:, 1] = 0.1
    standardiser = fit_standardiser(x)
    assert standardiser.std[1] == 1
    assert not standardiser(x)[:, 1].any()


def test_a_column_constant_where_the_weight_is_counts_as_constant():
    x = torch.tensor([[1.0, 5.0], [2.0, 5.0], [3.0, 9.0]])
    standardiser = fit_standardiser(x, weight=torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))
    assert standardiser.std[1] == 1
    assert standardiser.mean.tolist() == [1.5, 5.0]


def test_many_rows_are_chunked_by_columns_without_a_difference():
    x = torch.randn(9_000_000 // 4, 5, generator=torch.Generator().manual_seed(0))
    standardiser = fit_standardiser(x)
    torch.testing.assert_close(standardiser.std, x.double().std(dim=0, correction=0))


def test_the_input_is_left_alone():
    x = torch.randn(5, 2, generator=torch.Generator().manual_seed(0)).double()
    before = x.clone()
    fit_standardiser(x)(x)
    assert torch.equal(x, before)


def test_another_width_is_refused():
    standardiser = fit_standardiser(torch.randn(5, 2, generator=torch.Generator().manual_seed(0)))
    with pytest.raises(InvalidInput, match="must have the training width 2, got 3"):
        standardiser(torch.zeros(1, 3))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunk_rows", [1, 7, 100])
def test_rows_in_a_file_give_the_same(weighted, chunk_rows):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(40, 4, generator=g) + 1000
    weight = torch.rand(40, generator=g, dtype=torch.float64) if weighted else None
    x[:, 2] = 0.1
    if weight is not None:
        weight[:9], x[:9, 2] = 0.0, 5.0  # constant where the weight is
    memory = fit_standardiser(x, weight=weight)
    with RowFile(width=4, dtype=x.dtype) as file:
        file.append(x)
        streamed = stream_standardiser(file, weight=weight, chunk_rows=chunk_rows)
    torch.testing.assert_close(streamed.mean, memory.mean, rtol=1e-13, atol=0)
    torch.testing.assert_close(streamed.std, memory.std, rtol=1e-10, atol=0)
    assert streamed.std[2] == 1
    assert streamed.mean[2] == x[-1, 2].double()


@pytest.mark.parametrize("scale", [1e160, 1e300])
def test_features_whose_squares_overflow_are_refused_and_not_taken_for_constant(scale):
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[:, 1] *= scale
    with pytest.raises(InvalidInput, match=r"squares to be finite .* in column 1"):
        fit_standardiser(x)
    with RowFile(width=3, dtype=x.dtype) as file:
        file.append(x)
        with pytest.raises(InvalidInput, match="column 1"):
            stream_standardiser(file, chunk_rows=7)
