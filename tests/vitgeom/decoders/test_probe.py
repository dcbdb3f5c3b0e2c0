from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.func import jacrev

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import head_of_probes, linear_head, probe_decoder
from vitgeom.errors import InvalidInput
from vitgeom.probes import fit_probes
from vitgeom.seeding import generator_for


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=generator_for(0, "probe tests"), dtype=torch.float64)


@pytest.fixture(scope="module")
def head():
    return linear_head(drawn(96, 4), drawn(4))


class TestLinearContract(DecoderContract):
    @pytest.fixture
    def bound(self, nano, picture, head):
        return probe_decoder(nano, layer=4, head=head, probe_layer=8).at(picture)


class TestMlpContract(DecoderContract):
    @pytest.fixture
    def bound(self, registers, picture):
        torch.manual_seed(0)
        mlp = nn.Sequential(nn.Linear(96, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))
        return probe_decoder(registers, layer=10, head=mlp, token="mean").at(picture)


def test_at_its_own_layer_the_jacobian_is_the_weight(nano, picture):
    weight = drawn(96, 4)
    bound = probe_decoder(nano, layer=6, head=linear_head(weight, drawn(4)), probe_layer=6).at(picture)
    jacobian = jacrev(bound)(bound.features)
    torch.testing.assert_close(jacobian[:, 0], weight.mT)
    assert jacobian[:, 1:].abs().max() == 0


@pytest.mark.parametrize(("token", "last_layer"), [("cls", "normed"), ("mean", "raw")])
def test_fitted_probes_give_their_own_logits(nano, picture, token, last_layer):
    rows = drawn(60, 12, 96).float()
    labels = torch.arange(60) % 3
    probes = fit_probes(rows[:40], labels[:40], X_val=rows[40:], y_val=labels[40:])
    captured = nano.capture(picture[None])
    features = (captured.cls if token == "cls" else captured.mean).clone()
    if last_layer == "normed":
        features[:, -1] = captured.cls_normed if token == "cls" else captured.mean_normed
    logits = probes.logits(features.float())[0].double()
    for probe_layer in (3, 12):
        decoder = probe_decoder(
            nano,
            layer=2,
            head=head_of_probes(probes, probe_layer=probe_layer),
            probe_layer=probe_layer,
            token=token,
            last_layer=last_layer,
        )
        bound = decoder.at(picture)
        torch.testing.assert_close(bound(bound.features), logits[probe_layer - 1], rtol=1e-4, atol=1e-4)


def test_the_head_that_was_given_stays_as_it_was(nano):
    head = nn.Linear(96, 2).train()
    probe_decoder(nano, layer=0, head=head)
    assert head.training
    assert head.weight.requires_grad
    assert head.weight.dtype == torch.float32


def test_a_probe_of_an_earlier_layer_is_refused(nano, head):
    with pytest.raises(
        InvalidInput, match=r"layer=9 lies after the last tap of decoder 'probe' \(taps=\[8\]\)"
    ):
        probe_decoder(nano, layer=9, head=head, probe_layer=8)


def test_a_layer_that_is_not_there_is_refused(nano, head):
    with pytest.raises(InvalidInput, match=r"layer=13 of decoder 'probe' must be a whole number in 0\.\.12"):
        probe_decoder(nano, layer=0, head=head, probe_layer=13)


def test_a_head_for_another_width_is_refused(nano):
    with pytest.raises(InvalidInput, match="does not take the width 96 of 'nano_supervised'"):
        probe_decoder(nano, layer=0, head=nn.Linear(95, 2))


def test_a_head_that_is_not_finite_is_refused(nano):
    broken = nn.Linear(96, 2)
    nn.init.constant_(broken.bias, float("nan"))
    with pytest.raises(
        InvalidInput, match=r"weights 'bias' of the head of decoder 'probe' are not finite at \[0\]"
    ):
        probe_decoder(nano, layer=0, head=broken)


def test_a_probe_that_was_not_fitted_is_refused(nano):
    rows = drawn(40, 2, 8).float()
    labels = torch.arange(40) % 2
    probes = fit_probes(rows[:30], labels[:30], X_val=rows[30:], y_val=labels[30:])
    with pytest.raises(InvalidInput, match="probe_layer=3 is not among the 2 fitted probes"):
        head_of_probes(probes, probe_layer=3)
