from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.linop.operand import check_operand, rows

CPU, META = torch.device("cpu"), torch.device("meta")


def test_a_block_of_vectors_passes() -> None:
    check_operand(torch.ones(3, 0), name="v", length=3, dtype=torch.float32, device=CPU)


@pytest.mark.parametrize("operand", [torch.ones(3), torch.ones(2, 3), torch.ones(1, 3, 2)])
def test_another_shape_is_refused(operand: torch.Tensor) -> None:
    with pytest.raises(InvalidInput, match=r"v must be \[3, K\]"):
        check_operand(operand, name="v", length=3, dtype=torch.float32, device=CPU)


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"v must be a tensor \[3, K\], got list"):
        check_operand([1.0], name="v", length=3, dtype=torch.float32, device=CPU)


@pytest.mark.parametrize(("dtype", "device"), [(torch.float64, CPU), (torch.float32, META)])
def test_another_dtype_or_device_is_refused(dtype: torch.dtype, device: torch.device) -> None:
    with pytest.raises(InvalidInput, match=r"Convert it with v\.to"):
        check_operand(torch.ones(3, 1), name="v", length=3, dtype=dtype, device=device)


def test_columns_become_rows_of_a_copy() -> None:
    with torch.inference_mode():
        given = torch.arange(6.0).reshape(3, 2)
    copy = rows(given)
    assert copy.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    assert copy.is_contiguous()
    assert not copy.is_inference()
