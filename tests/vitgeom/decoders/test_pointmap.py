from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import DptConfig, PointMapConfig, PointMapHead, head_decoder, random_head
from vitgeom.decoders.pointmap import POINTS, by_distance, by_ray, signed_expm1
from vitgeom.errors import InvalidInput, UnknownName

TAPS = (3, 6, 9, 12)


def dense(**options) -> DptConfig:
    given = {"channels": (6, 8, 10, 12), "features": 8, "hidden": 4, "out_channels": 3, "final": "identity"}
    return DptConfig(96, **{**given, **options})


def small_head(points: str = "exp", *, confidence: bool = False) -> PointMapHead:
    config = PointMapConfig(dense(out_channels=4 if confidence else 3), points, confidence)
    return random_head(lambda: PointMapHead(config), seed=1)


class TestContract(DecoderContract):
    @pytest.fixture(params=list(POINTS))
    def bound(self, request, nano, picture):
        return head_decoder(nano, small_head(request.param), layer=8, taps=TAPS, name="points").at(picture)


class TestContractWithConfidence(DecoderContract):
    @pytest.fixture
    def bound(self, nano, picture):
        head = small_head(confidence=True)
        return head_decoder(nano, head, layer=11, taps=TAPS, name="points").at(picture)


def test_confidence_is_a_fourth_channel_of_at_least_one(nano, picture):
    with_it = head_decoder(nano, small_head(confidence=True), layer=12, taps=TAPS, name="p").at(picture)
    found = with_it(with_it.features)
    assert found.shape == (4, 64, 64)
    assert bool((found[3] >= 1).all())


def test_each_parametrisation_has_its_inverse():
    raw = torch.randn(2, 3, 4, 4, dtype=torch.float64)
    logged = signed_expm1(raw)
    torch.testing.assert_close(logged.sign() * torch.log1p(logged.abs()), raw)
    points = by_distance(raw)
    length = points.norm(dim=1, keepdim=True)
    torch.testing.assert_close(points / length * torch.log1p(length), raw)
    rays = by_ray(raw)
    torch.testing.assert_close(rays[:, :2] / rays[:, 2:], raw[:, :2])


def test_all_are_smooth_at_zero_with_slope_one():
    zero = torch.zeros(1, 3, 1, 1, dtype=torch.float64)
    for function in (signed_expm1, by_distance):
        jacobian = torch.func.jacrev(function)(zero).reshape(3, 3)
        torch.testing.assert_close(jacobian, torch.eye(3, dtype=torch.float64))


def test_derivatives_hold_far_from_zero():
    raw = (4 * torch.randn(1, 3, 2, 2, dtype=torch.float64)).requires_grad_()
    for function in POINTS.values():
        assert gradcheck(function, (raw,))


def test_a_dense_head_that_does_not_fit_is_refused():
    with pytest.raises(
        InvalidInput, match="confidence=True needs out_channels=4 and final='identity', got 3"
    ):
        PointMapConfig(dense(), confidence=True)
    with pytest.raises(InvalidInput, match="got 3 and 'relu'"):
        PointMapConfig(dense(final="relu"))
    with pytest.raises(UnknownName, match=r"unknown parametrisation of points 'log'. Did you mean 'inv_log'"):
        PointMapConfig(dense(), points="log")
