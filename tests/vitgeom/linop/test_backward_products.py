from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import Function

from vitgeom.errors import InvalidInput
from vitgeom.linop.backward_products import BackwardProducts
from vitgeom.linop.decoder_function import DecoderFunction


class NoBackward(Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x + 1


def features() -> Tensor:
    return torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)


def test_the_graph_is_built_once_for_all_products() -> None:
    calls: list[int] = []

    def decoder(f: Tensor) -> Tensor:
        calls.append(0)
        return f.sin()

    products = BackwardProducts(DecoderFunction(decoder, features()), width=4)
    before = len(calls)
    u = torch.randn(12, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for _ in range(2):
        torch.testing.assert_close(products(u), features().cos().reshape(-1, 1) * u)
    assert len(calls) == before
    assert products.path == "backward in a loop"


def test_parameters_get_no_gradients() -> None:
    layer = nn.Linear(4, 2, dtype=torch.float64)
    products = BackwardProducts(DecoderFunction(layer, features()), width=4)
    products(torch.ones(6, 2, dtype=torch.float64))
    assert layer.weight.grad is None
    assert layer.weight.requires_grad


def test_an_output_that_does_not_reach_the_features_is_zero() -> None:
    constant = nn.Parameter(torch.ones(2, dtype=torch.float64))
    products = BackwardProducts(DecoderFunction(lambda f: 2 * constant, features()), width=4)
    assert not products(torch.ones(2, 3, dtype=torch.float64)).any()


def test_an_operation_without_backward_is_refused() -> None:
    function = DecoderFunction(NoBackward.apply, features())
    with pytest.raises(InvalidInput, match=r"cannot be differentiated backwards: .* Replace that operation"):
        BackwardProducts(function, width=4)
