from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from vitgeom.errors import NumericalFailure
from vitgeom.linop import DenseOperator
from vitgeom.randnla.checked_product import jvp, vjp, working_dtype


def test_operands_are_converted_and_products_come_back_in_the_working_dtype() -> None:
    matrix = torch.arange(6.0).reshape(2, 3)
    half = DenseOperator(matrix.half())
    assert working_dtype(half) == torch.float32
    product = jvp(half, torch.ones(3, 1, dtype=torch.float64))
    assert product.dtype == torch.float32
    assert product[:, 0].tolist() == [3.0, 12.0]
    assert vjp(half, torch.ones(2, 1))[:, 0].tolist() == [3.0, 5.0, 7.0]


def test_float64_stays_float64() -> None:
    operator = DenseOperator(torch.eye(2, dtype=torch.float64))
    assert jvp(operator, torch.eye(2)).dtype == torch.float64


def test_a_product_that_is_not_finite_is_named() -> None:
    operator = CountingOperator(torch.eye(3), poison=0)
    with pytest.raises(
        NumericalFailure,
        match=r"product J v \(matmat\) of CountingOperator \[3, 3\] is not finite: entry 0 of vector 0 is nan",
    ):
        jvp(operator, torch.eye(3))
    with pytest.raises(NumericalFailure, match=r"product J\^T u \(rmatmat\)"):
        vjp(operator, torch.eye(3))
