from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.linop.features import check_features


def test_a_copy_comes_back() -> None:
    given = torch.ones(3, 2, requires_grad=True)
    copy = check_features(given)
    assert torch.equal(copy, given)
    assert copy.data_ptr() != given.data_ptr()
    assert not copy.requires_grad


def test_features_of_inference_mode_become_usable() -> None:
    with torch.inference_mode():
        copy = check_features(torch.ones(3, 2))
    assert not copy.is_inference()


@pytest.mark.parametrize("shape", [(3,), (1, 3, 2), (0, 2), (3, 0)])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"features must be the tokens of one image, \[N, D\]"):
        check_features(torch.ones(shape))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64])
def test_narrow_dtypes_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(InvalidInput, match=r"float32 or float64 only.* Use features.float\(\)"):
        check_features(torch.ones(3, 2, dtype=dtype))


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"features must be a tensor \[N, D\], got list"):
        check_features([[1.0]])


def test_tensors_without_values_are_refused() -> None:
    with pytest.raises(InvalidInput, match="device 'meta' and hold no values"):
        check_features(torch.ones(3, 2, device="meta"))


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_token_that_is_not_finite_is_named(value: float) -> None:
    given = torch.ones(3, 2)
    given[2, 1] = value
    with pytest.raises(InvalidInput, match="not finite at token 2, entry 1"):
        check_features(given)
