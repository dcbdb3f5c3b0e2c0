from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import Function

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop import JacobianOperator


def features(dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


def linear(rows: int = 4, seed: int = 1) -> Tensor:
    return torch.randn(rows, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class WrongForward(Function):
    """x^2 whose jvp forgets the factor 2."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**2

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> Tensor:
        return 2 * ctx.saved_tensors[0] * grad

    @staticmethod
    def jvp(ctx: object, tangent: Tensor) -> Tensor:
        return ctx.saved_tensors[0] * tangent


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_sound_decoder_passes_far_below_the_bound(dtype: torch.dtype) -> None:
    matrix = linear().to(dtype)
    check = JacobianOperator(lambda f: (f @ matrix).softmax(dim=0), features(dtype)).adjoint
    assert check is not None
    assert check.relative < {torch.float32: 1e-5, torch.float64: 1e-12}[dtype]
    assert not check.is_zero


@pytest.mark.parametrize("share", [1.0, 1e-2])
@pytest.mark.parametrize("tokens", [6, 600])
def test_a_path_under_no_grad_is_found_however_small_its_share_and_many_the_outputs(
    share: float, tokens: int
) -> None:
    one, two = linear(seed=1), linear(seed=2)

    def decoder(f: Tensor) -> Tensor:
        with torch.no_grad():
            hidden = share * f @ one
        return hidden + f @ two

    given = torch.randn(tokens, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with pytest.raises(
        InvalidInput, match=r"confirm the forward derivative, so the reverse one .*torch.no_grad"
    ):
        JacobianOperator(decoder, given)


def test_all_under_no_grad_is_found() -> None:
    @torch.no_grad()
    def decoder(f: Tensor) -> Tensor:
        return f @ linear()

    with pytest.raises(InvalidInput, match=r"the reverse one lost a path"):
        JacobianOperator(decoder, features())


def test_a_wrong_forward_rule_is_found() -> None:
    with pytest.raises(InvalidInput, match=r"contradict the forward derivative. .*wrong jvp"):
        JacobianOperator(WrongForward.apply, features())


@pytest.mark.parametrize(
    "decoder",
    [
        lambda f: f.detach() ** 2 + f,
        lambda f: f.detach() ** 2,
        lambda f: f + (f.round() - f).detach(),
    ],
    ids=["half detached", "all detached", "straight through"],
)
def test_what_is_hidden_from_both_sides_is_found_by_evaluations(decoder: object) -> None:
    with pytest.raises(InvalidInput, match=r"hides a path from differentiation: .*\.detach\(\)"):
        JacobianOperator(decoder, 10 * features())


def test_a_staircase_is_flat_where_it_is_smooth() -> None:
    assert JacobianOperator(lambda f: f.round(), 10 * features()).is_zero


def test_numpy_inside_is_found() -> None:
    def decoder(f: Tensor) -> Tensor:
        return torch.from_numpy(np.sin(f.detach().numpy())) + f

    with pytest.raises(InvalidInput, match=r"hides a path|cannot be differentiated|differentiated wrongly"):
        JacobianOperator(decoder, features())


def test_a_meant_stop_is_analysed_without_the_check() -> None:
    operator = JacobianOperator(lambda f: f.detach() ** 2 + f, features(), check=False)
    v = torch.ones(24, 1, dtype=torch.float64)
    assert torch.equal(operator.matmat(v), v)
    assert operator.adjoint is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kinks_and_offsets_are_no_reason_to_refuse(dtype: torch.dtype) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        head = nn.Sequential(nn.Linear(4, 64), nn.ReLU(inplace=True), nn.Linear(64, 9), nn.ReLU()).to(dtype)
    JacobianOperator(head, features(dtype))
    JacobianOperator(lambda f: 1e3 + 1e-3 * head(f), features(dtype))


def test_a_derivative_that_does_not_exist_is_named() -> None:
    zero = torch.zeros(2, 3, dtype=torch.float64)
    with pytest.raises(NumericalFailure, match=r"J v is not finite at these features.*square root"):
        JacobianOperator(lambda f: f.sqrt(), zero)


def test_a_compiled_decoder_runs_as_written() -> None:
    operator = JacobianOperator(torch.compile(lambda f: f**2), features())
    v = torch.ones(24, 1, dtype=torch.float64)
    torch.testing.assert_close(operator.matmat(v), 2 * features().reshape(-1, 1))


def test_a_million_inputs_in_float32_are_no_lost_path() -> None:
    """Adding up a million squares in float32, one after the other, is off by more than the bound."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(2, 1_000_000, generator=generator)
    features = torch.randn(1000, 1000, generator=generator)
    operator = JacobianOperator(lambda f: weights @ f.flatten(), features)
    assert operator.adjoint is not None
    assert operator.adjoint.relative < 1e-5


@pytest.mark.parametrize("scale", [1e20, 1e-28])
def test_a_hidden_path_is_seen_whatever_the_unit_of_the_output(scale: float) -> None:
    weight = linear().float()

    def hides(x: Tensor) -> Tensor:
        return scale * (x @ weight.mT + 3 * x.detach() @ weight.mT)

    with pytest.raises(InvalidInput, match="hides a path from differentiation"):
        JacobianOperator(hides, features(torch.float32))


def test_features_of_zeros_are_a_place_like_any_other() -> None:
    norm = nn.LayerNorm(4)
    operator = JacobianOperator(norm, torch.zeros(6, 4))
    dense = torch.autograd.functional.jacobian(norm, torch.zeros(6, 4)).reshape(24, 24)
    assert torch.allclose(operator.matmat(torch.eye(24)), dense, rtol=1e-4, atol=1e-3)
