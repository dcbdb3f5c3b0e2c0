from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop.decoder_function import DecoderFunction


def features() -> Tensor:
    return torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).abs() + 0.1


def test_dropout_is_off_while_it_works_and_on_after() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    given = features()
    for decoder in (model, lambda f: model(f), model.forward):
        function = DecoderFunction(decoder, given)
        assert model.training
        with function.ready():
            assert not model[1].training
            assert not model[0].weight.requires_grad
            assert torch.equal(function(given), function.output)
        assert model[1].training
        assert model[0].weight.requires_grad


def test_running_statistics_of_a_model_in_training_do_not_move() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    DecoderFunction(lambda f: model(f), features())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_what_happens_to_the_features_later_does_not_matter() -> None:
    given = features()
    function = DecoderFunction(lambda f: f, given)
    given.zero_()
    assert torch.equal(function.output, features().flatten())


@pytest.mark.parametrize("decoder", [lambda f: F.dropout(f, 0.5), lambda f: f + torch.rand_like(f)])
def test_a_random_decoder_is_refused(decoder: object) -> None:
    with pytest.raises(InvalidInput, match=r"two outputs for one input: outputs differ by up to .*F.dropout"):
        DecoderFunction(decoder, features())


def test_an_output_that_grows_with_every_call_is_refused() -> None:
    calls: list[int] = []

    def decoder(f: Tensor) -> Tensor:
        calls.append(0)
        return f.flatten()[: len(calls)]

    with pytest.raises(InvalidInput, match=r"it gave 1 and then 2 entries"):
        DecoderFunction(decoder, features())


@pytest.mark.parametrize(
    "change", [lambda f: f.relu_(), lambda f: f.view(-1).mul_(2), lambda f: f.data.mul_(2)]
)
def test_a_decoder_that_changes_its_input_is_refused(change: object) -> None:
    # relu_ leaves these positive features as they are: only the version counter tells.
    with pytest.raises(InvalidInput, match=r"changes its input in place.*decoder\(f.clone\(\)\)"):
        DecoderFunction(change, features())


def test_a_decoder_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="decoder must be a function of features"):
        DecoderFunction(torch.ones(3), features())


def test_a_decoder_that_wants_a_batch_is_told_how() -> None:
    with pytest.raises(
        InvalidInput, match=r"decoder fails at features \[3, 4\] .*lambda f: decoder\(f\[None\]\)"
    ):
        DecoderFunction(lambda f: torch.bmm(f, f), features())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_weights_are_refused_by_name(dtype: torch.dtype) -> None:
    layer = nn.Linear(4, 2).to(dtype)
    for decoder in (layer, lambda f: layer(f.to(dtype)).float()):
        with pytest.raises(InvalidInput, match=r"weights in torch.*\(weight of Linear\).*decoder.float\(\)"):
            DecoderFunction(decoder, features())


def test_weights_of_another_width_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"fails at features \[3, 4\] in torch.float32 on cpu"):
        DecoderFunction(nn.Linear(4, 2).double(), features())


def test_an_output_that_is_not_finite_is_refused() -> None:
    with pytest.raises(NumericalFailure, match="not finite for finite features"):
        DecoderFunction(lambda f: f / 0, features())


def test_errors_of_the_decoder_itself_pass_and_leave_no_trace() -> None:
    model = nn.Dropout(0.5)

    def decoder(f: Tensor) -> Tensor:
        model(f)
        raise KeyError("tap 3")

    with pytest.raises(KeyError, match="tap 3"):
        DecoderFunction(decoder, features())
    assert model.training


@pytest.mark.parametrize("change", [lambda p: p.mul_(2), lambda p: setattr(p, "data", 2 * p.data)])
def test_weights_that_change_afterwards_are_noticed(change: Callable[[Tensor], object]) -> None:
    layer = nn.Linear(4, 2)
    function = DecoderFunction(layer, features())
    with torch.no_grad():
        change(layer.weight)
    with pytest.raises(InvalidInput, match=r"weights of the decoder changed .* Build the operator again"):
        function.ready().__enter__()
