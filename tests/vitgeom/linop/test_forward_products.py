from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

from vitgeom.errors import InvalidInput
from vitgeom.linop import JacobianOperator
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.forward_products import PATHS, ForwardProducts


class CubedBackwardOnly(Function):
    """x^3 with a backward and neither jvp nor vmap, as many fused kernels are."""

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


class CubedOnce(CubedBackwardOnly):
    """The same, not differentiable twice."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: object, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


def features() -> Tensor:
    return torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)


def columns(count: int = 3) -> Tensor:
    return torch.randn(12, count, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("path", list(PATHS))
def test_all_paths_give_one_product(path: str) -> None:
    x = features()
    product = PATHS[path](lambda f: (f**3).flatten()[:5], x, columns().mT.reshape(3, 3, 4))
    torch.testing.assert_close(product, (3 * x.flatten() ** 2 * columns().mT)[:, :5])


@pytest.mark.parametrize("path", list(PATHS))
@pytest.mark.parametrize(
    "constant", [lambda f: torch.ones(5, dtype=f.dtype), lambda f: f.sign().flatten()[:5]]
)
def test_all_paths_give_zero_for_a_constant(path: str, constant: object) -> None:
    assert not PATHS[path](constant, features(), columns(2).mT.reshape(2, 3, 4)).any()


def test_an_operation_without_forward_derivatives_goes_through_double_backward() -> None:
    operator = JacobianOperator(CubedBackwardOnly.apply, features())
    assert operator.jvp_path == "double backward"
    assert [line.split(":")[0] for line in operator.fallbacks] == ["vmap(jvp)", "jvp in a loop"]
    torch.testing.assert_close(operator.matmat(columns()), 3 * features().reshape(-1, 1) ** 2 * columns())


def test_an_operation_without_any_path_is_refused_with_all_reasons() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"cannot be differentiated forwards. vmap.*double backward: .*to not have been used",
    ):
        JacobianOperator(CubedOnce.apply, features())


def test_branches_on_values_are_followed() -> None:
    def decoder(f: Tensor) -> Tensor:
        return 2 * f if float(f.detach().sum()) > 1e9 else f**2

    operator = JacobianOperator(decoder, features())
    torch.testing.assert_close(operator.matmat(columns()), 2 * features().reshape(-1, 1) * columns())


def test_branches_that_vmap_cannot_follow_go_through_a_loop() -> None:
    def decoder(f: Tensor) -> Tensor:
        shifted = f * 2
        return shifted**2 if shifted.sum() < 1e9 and in_no_batch(shifted) else f

    def in_no_batch(tensor: Tensor) -> bool:
        if torch._C._functorch.maybe_current_level() == 2:
            raise RuntimeError("vmap: data-dependent control flow is not supported")
        return True

    operator = JacobianOperator(decoder, features())
    assert operator.jvp_path == "jvp in a loop"
    assert "data-dependent control flow" in operator.fallbacks[0]
    torch.testing.assert_close(operator.matmat(columns()), 8 * features().reshape(-1, 1) * columns())


def test_encoder_layers_leave_their_fused_path() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dtype=torch.float64)
    operator = JacobianOperator(lambda f: layer(f[None]), features())
    assert operator.jvp_path == "vmap(jvp)"
    assert operator.adjoint is not None
    assert operator.adjoint.relative < 1e-9


def test_memory_of_a_column_sets_the_width() -> None:
    function = DecoderFunction(lambda f: f.sin().cos(), features())
    wide = ForwardProducts(function, max_bytes=2**20, max_batch=None)
    assert wide.width == 8
    assert ForwardProducts(function, max_bytes=2 * wide.column_bytes, max_batch=None).width == 2
    assert ForwardProducts(function, max_bytes=1, max_batch=None).width == 1
    assert ForwardProducts(function, max_bytes=1, max_batch=5).width == 5


def test_activation_checkpointing_still_gives_the_product() -> None:
    operator = JacobianOperator(lambda f: checkpoint(torch.sin, f, use_reentrant=False), features())
    torch.testing.assert_close(operator.matmat(columns()), features().cos().reshape(-1, 1) * columns())
    torch.testing.assert_close(operator.rmatmat(columns()), features().cos().reshape(-1, 1) * columns())
