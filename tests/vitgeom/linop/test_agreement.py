from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.linop.agreement import check_operator, check_same_kind, listed


def test_an_operator_comes_back() -> None:
    operator = DenseOperator(torch.ones(2, 3))
    assert check_operator(operator, name="a") is operator
    assert listed(operator.shape) == "2 x 3"


def test_what_is_none_is_refused_with_the_way_to_one() -> None:
    with pytest.raises(InvalidInput, match=r"a must be a linear operator .* got Tensor. Wrap a matrix"):
        check_operator(torch.ones(2, 3), name="a")


def test_one_kind_passes_and_two_are_refused_with_both_named() -> None:
    one, two = DenseOperator(torch.ones(2, 3)), DenseOperator(torch.ones(2, 3, dtype=torch.float64))
    check_same_kind(one, one, names=("a", "b"))
    with pytest.raises(InvalidInput, match=r"a is torch.float32 on cpu, b torch.float64 on cpu. Build both"):
        check_same_kind(one, two, names=("a", "b"))


def test_two_devices_are_refused() -> None:
    class Elsewhere(DenseOperator):
        @property
        def device(self) -> torch.device:
            return torch.device("cuda:0")

    one, two = DenseOperator(torch.ones(2, 3)), Elsewhere(torch.ones(2, 3))
    with pytest.raises(InvalidInput, match=r"a is torch.float32 on cpu, b torch.float32 on cuda:0"):
        check_same_kind(one, two, names=("a", "b"))
