from __future__ import annotations

import pytest
import torch
from torch import Tensor

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.metric.safe_qr import _fixed_columns, orthonormal_columns
from vitgeom.seeding import generator_for


def drawn(*shape: int, dtype: torch.dtype = torch.float32, name: str = "x") -> Tensor:
    return torch.randn(shape, generator=generator_for(0, name, *shape), dtype=dtype)


def deficient() -> dict[str, Tensor]:
    x = drawn(2, 300, 8)
    duplicated, zero, short = x.clone(), x.clone(), x.clone()
    duplicated[:, :, 1] = duplicated[:, :, 0]
    zero[:, :, 5] = 0
    short[:, :, 3] *= 1e-7
    collinear = x.clone()
    collinear[:, :, 5:] = x[:, :, :5] @ drawn(5, 3, name="mix")
    return {
        "healthy": x,
        "duplicated": duplicated,
        "one zero column": zero,
        "all zero": 0 * x,
        "all equal": x[:, :, :1].expand(-1, -1, 8).clone(),
        "collinear": collinear,
        "one short column": short,
        "opposite": torch.cat([x[:, :, :4], -x[:, :, :4]], dim=2),
        "nearly equal": x[:, :, :1] + 1e-6 * x,
        "three and zeros": torch.cat([x[:, :, :3], torch.zeros(2, 300, 5)], dim=2),
        "square": drawn(2, 8, 8),
        "square of ones": torch.ones(2, 8, 8),
        "huge": 1e15 * x,
        "tiny": 1e-20 * x,
    }


@pytest.mark.parametrize("kind", list(deficient()))
def test_columns_are_orthonormal_and_the_gradient_is_bounded(kind: str) -> None:
    x = deficient()[kind].requires_grad_()
    q = orthonormal_columns(x)
    torch.testing.assert_close(q.mT @ q, torch.eye(8).expand(2, 8, 8), rtol=0, atol=1e-5)
    target = torch.linalg.qr(drawn(2, x.shape[1], 8, name="target")).Q
    (q.mT @ target).square().sum().backward()
    assert x.grad.isfinite().all()
    # torch's own QR has a gradient of 1e7 for equal columns and none for a zero one.
    typical = float(x.detach().norm(dim=1).square().mean().sqrt()) + 1e-3 * x.shape[1] ** 0.5
    assert float(x.grad.norm()) * typical < 1e5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_healthy_columns_span_what_torch_finds(dtype: torch.dtype) -> None:
    x = drawn(3, 200, 10, dtype=dtype)
    q, reference = orthonormal_columns(x), torch.linalg.qr(x).Q
    assert q.dtype == dtype
    aligned = (q.mT @ reference).square().sum(dim=(1, 2)) / 10
    assert (aligned > 1 - 1e-5).all()
    # Column j depends on columns 1..j alone, with a positive diagonal, as in a QR.
    assert ((q.mT @ reference).diagonal(dim1=1, dim2=2).abs() > 1 - 1e-4).all()
    assert ((q * x).sum(dim=1) > 0).all()
    torch.testing.assert_close(orthonormal_columns(x[:, :, :4]), q[:, :, :4], rtol=0, atol=5e-3)


def test_the_gradient_is_the_derivative() -> None:
    for x in (drawn(2, 12, 4, dtype=torch.float64), drawn(1, 5, 5, dtype=torch.float64)):
        assert torch.autograd.gradcheck(orthonormal_columns, (x.requires_grad_(),))
    equal = drawn(1, 12, 3, dtype=torch.float64)
    equal[:, :, 1] = equal[:, :, 0]
    assert torch.autograd.gradcheck(orthonormal_columns, (equal.requires_grad_(),), eps=1e-8, atol=1e-2, rtol=1e-3)  # fmt: skip


def test_matrices_of_a_batch_do_not_see_each_other() -> None:
    both = torch.stack([drawn(50, 4, name="one"), torch.zeros(50, 4)])
    torch.testing.assert_close(orthonormal_columns(both)[:1], orthonormal_columns(both[:1]), rtol=1e-5, atol=1e-6)  # fmt: skip
    assert torch.equal(orthonormal_columns(both), orthonormal_columns(both))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype: torch.dtype) -> None:
    x = drawn(2, 100, 5).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        q = orthonormal_columns(x)
    assert q.dtype == torch.float32
    torch.testing.assert_close(q.mT @ q, torch.eye(5).expand(2, 5, 5), rtol=0, atol=1e-5)
    q.sum().backward()
    assert x.grad.dtype == dtype


@pytest.mark.parametrize(("n", "r"), [(1, 1), (2, 2), (7, 3), (20, 20), (257 * 6, 20), (65 * 96, 20)])
def test_the_fixed_columns_are_orthonormal_at_every_size(n: int, r: int) -> None:
    p = _fixed_columns(n, r, dtype=torch.float64, device=torch.device("cpu"))
    torch.testing.assert_close(p.T @ p, torch.eye(r, dtype=torch.float64), rtol=0, atol=1e-12)
    assert not p.is_inference()


def test_columns_first_asked_for_without_gradients_can_be_trained_with() -> None:
    x = torch.randn(1, 83, 3, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        orthonormal_columns(x)
    x.requires_grad_(True)
    orthonormal_columns(x)[0, 0, 0].backward()
    assert x.grad is not None


def test_more_columns_than_rows_are_refused() -> None:
    with pytest.raises(InvalidInput, match="5 orthonormal columns do not fit 4 rows"):
        orthonormal_columns(drawn(1, 4, 5))


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_entries_that_are_not_finite_are_refused(bad: float) -> None:
    x = drawn(2, 10, 3)
    x[1, 4, 2] = bad
    with pytest.raises(NumericalFailure, match="columns to be made orthonormal are not finite"):
        orthonormal_columns(x)
