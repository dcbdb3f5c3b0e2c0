from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.gate import GateNet, GateRows, GateSettings, start_net, train_gate
from vitgeom.seeding import generator_for


def mixture(raw, scores):
    log_share = torch.log_softmax(raw, dim=1)
    return torch.logsumexp(log_share[..., None] + torch.log_softmax(scores, dim=2), dim=1)


def rows(count: int, *, seed: int) -> GateRows:
    """Layer 0 knows the class where the first input is positive, layer 1 where it is negative."""
    g = generator_for(seed, "gate")
    x = torch.randn(count, 3, generator=g)
    target = torch.randint(4, (count,), generator=g)
    scores = torch.randn(count, 2, 4, generator=g)
    knows = (x[:, 0] < 0).long()
    scores[torch.arange(count), knows, target] += 4.0
    return GateRows(x, scores.flatten(1), target, 2)


SETTINGS = GateSettings(hidden_dim=16, dropout=0.0, max_epochs=60, patience=60, learning_rate=1e-2)


def test_training_finds_which_layer_to_ask():
    train, val = rows(400, seed=0), rows(300, seed=1)
    trained = train_gate(train, val=val, combine=mixture, settings=SETTINGS, generator=generator_for(0, "t"))
    raw = trained.net(val.x)
    asked = raw.argmax(dim=1) == (val.x[:, 0] < 0).long()
    assert asked.float().mean() > 0.85
    start = -mixture(torch.zeros(300, 2), val.scores.view(300, 2, 4))[torch.arange(300), val.target].mean()
    assert trained.loss < 0.8 * float(start)
    assert trained.epoch > 0


def test_the_start_weighs_layers_alike_and_is_kept_where_training_does_not_help():
    net = start_net(inputs=3, hidden_dim=5, layers=4, generator=generator_for(0, "start"))
    assert torch.equal(net(torch.randn(7, 3, generator=generator_for(1, "x"))), torch.zeros(7, 4))
    train, val = rows(100, seed=0), rows(100, seed=1)
    misled = GateRows(-train.x, train.scores, train.target, 2)
    settings = GateSettings(hidden_dim=16, dropout=0.0, max_epochs=10, patience=3, learning_rate=1e-2)
    trained = train_gate(misled, val=val, combine=mixture, settings=settings, generator=generator_for(0, "t"))
    assert trained.epoch == 0
    assert torch.equal(trained.net.weight_out, torch.zeros(16, 2))


def test_without_validation_rows_the_start_is_kept():
    val = rows(1, seed=0)
    none = GateRows(val.x[:0], val.scores[:0], val.target[:0], 2)
    trained = train_gate(
        rows(50, seed=1), val=none, combine=mixture, settings=SETTINGS, generator=generator_for(0, "t")
    )
    assert (trained.epoch, trained.loss) == (0, None)


def test_one_generator_one_result():
    train, val = rows(300, seed=0), rows(100, seed=1)
    settings = GateSettings(hidden_dim=8, dropout=0.5, max_epochs=3, batch_size=64)
    first, second, third = (
        train_gate(train, val=val, combine=mixture, settings=settings, generator=generator_for(seed, "t"))
        for seed in (0, 0, 1)
    )
    assert all(torch.equal(a, b) for a, b in zip(first.net.parts, second.net.parts, strict=True))
    assert not torch.equal(first.net.weight_in, third.net.weight_in)


def test_dropped_units_are_silent():
    net = GateNet(torch.ones(1, 2), torch.zeros(2), torch.ones(2, 1), torch.zeros(1))
    x = torch.ones(1, 1)
    half = net(x, keep=torch.tensor([[2.0, 0.0]]))
    torch.testing.assert_close(half, net(x))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"hidden_dim": 0}, "hidden_dim must be a whole number >= 1, got 0"),
        ({"patience": 0}, "patience must be a whole number >= 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0"),
    ],
)
def test_settings_out_of_range_are_refused(setting, words):
    with pytest.raises(InvalidInput, match=words):
        GateSettings(**setting)
