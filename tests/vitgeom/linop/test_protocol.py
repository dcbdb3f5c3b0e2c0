from __future__ import annotations

import torch

from vitgeom.linop import DenseOperator, LinearOperator


def test_a_matrix_is_no_operator_but_its_wrapper_is() -> None:
    assert not isinstance(torch.ones(2, 2), LinearOperator)
    assert isinstance(DenseOperator(torch.ones(2, 2)), LinearOperator)
