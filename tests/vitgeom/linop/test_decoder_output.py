from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop.decoder_output import check_output

LIKE = torch.ones(3, 2)


def test_any_shape_is_flattened() -> None:
    assert check_output(torch.ones(2, 3, 4), like=LIKE).shape == (24,)
    assert check_output(torch.tensor(1.0), like=LIKE).shape == (1,)


@pytest.mark.parametrize("output", [(torch.ones(2), torch.ones(2)), {"depth": torch.ones(2)}, None, 1.0])
def test_what_is_no_tensor_is_refused(output: object) -> None:
    with pytest.raises(InvalidInput, match=r"must return one tensor. Choose a part, .*decoder\(f\)\[0\]"):
        check_output(output, like=LIKE)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_whole_numbers_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(InvalidInput, match=r"have no real Jacobian: return the logits"):
        check_output(torch.ones(2).to(dtype), like=LIKE)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_another_dtype_is_refused(dtype: torch.dtype) -> None:
    with pytest.raises(InvalidInput, match=r"for features in torch.float32. Remove autocast or casts"):
        check_output(torch.ones(2, dtype=dtype), like=LIKE)


def test_another_device_is_refused() -> None:
    with pytest.raises(InvalidInput, match="on meta for features on cpu"):
        check_output(torch.ones(2, device="meta"), like=LIKE)


def test_an_empty_output_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"no entries: shape \[0, 4\]"):
        check_output(torch.ones(0, 4), like=LIKE)


def test_an_output_that_is_not_finite_is_refused() -> None:
    with pytest.raises(NumericalFailure, match="returned 2 of 3 entries that are not finite"):
        check_output(torch.tensor([1.0, torch.nan, torch.inf]), like=LIKE)
