from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator, DiagonalOperator
from vitgeom.linop.output_metric import as_metric

OUTPUT = torch.zeros(3, dtype=torch.float64)


def test_a_matrix_becomes_its_operator_and_an_operator_stays() -> None:
    matrix = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    metric = as_metric(matrix, OUTPUT)
    assert isinstance(metric, DenseOperator)
    torch.testing.assert_close(metric.matmat(torch.eye(3, dtype=torch.float64)), matrix)
    diagonal = DiagonalOperator(torch.ones(3, dtype=torch.float64))
    assert as_metric(diagonal, OUTPUT) is diagonal


def test_none_is_the_identity() -> None:
    assert as_metric(None, OUTPUT) is None


def test_what_does_not_fit_the_output_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"output_metric is 2 x 4, but the decoder has 3 outputs"):
        as_metric(torch.ones(2, 4, dtype=torch.float64), OUTPUT)
    with pytest.raises(InvalidInput, match=r"output_metric is torch.float32 .* features are torch.float64"):
        as_metric(torch.ones(2, 3), OUTPUT)
    with pytest.raises(InvalidInput, match="output_metric must be a linear operator"):
        as_metric([1.0], OUTPUT)
