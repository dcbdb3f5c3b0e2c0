from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.linop.frozen_modules import frozen, watched


def state(modules: list[nn.Module]) -> list[tuple[bool, list[bool]]]:
    return [(m.training, [p.requires_grad for p in m.parameters(recurse=False)]) for m in modules]


def mixed_model() -> nn.Sequential:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.BatchNorm1d(2))
    model[1].eval()
    model[0].bias.requires_grad_(False)
    return model


def test_everything_comes_back_as_it_was() -> None:
    model = mixed_model()
    before = state(list(model.modules()))
    with frozen(model.modules()):
        assert not any(module.training for module in model.modules())
        assert not any(parameter.requires_grad for parameter in model.parameters())
    assert state(list(model.modules())) == before


def test_everything_comes_back_after_an_error() -> None:
    model = mixed_model()
    before = state(list(model.modules()))
    with pytest.raises(ZeroDivisionError), frozen(model.modules()):
        _ = 1 / 0
    assert state(list(model.modules())) == before


def test_modules_are_found_wherever_they_hide_and_run_in_evaluation_mode() -> None:
    hidden, unused = mixed_model(), nn.Dropout(0.5)
    before, statistics = state(list(hidden.modules())), hidden[2].running_mean.clone()
    found: list[nn.Module] = []
    with watched(lambda f: hidden(f), into=found):
        hidden(torch.ones(4, 2))
        hidden(torch.ones(4, 2))
    assert found == list(hidden.modules())
    assert unused not in found
    assert torch.equal(hidden[2].running_mean, statistics)
    assert state(list(hidden.modules())) == before


def test_a_module_is_taken_whole_even_if_it_is_not_called() -> None:
    model = mixed_model()
    found: list[nn.Module] = []
    with watched(model, into=found):
        pass
    assert found == list(model.modules())


def test_after_an_error_nobody_watches_any_more() -> None:
    model = mixed_model()
    found: list[nn.Module] = []

    def fails() -> None:
        with watched(None, into=found):
            model(torch.ones(4, 2))
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fails()
    nn.Dropout(0.5)(torch.ones(1))
    assert found == list(model.modules())
    assert model.training
