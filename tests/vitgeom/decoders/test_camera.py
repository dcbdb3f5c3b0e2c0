from __future__ import annotations

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from vitgeom.decoders import CameraConfig, CameraHead, head_decoder, random_head
from vitgeom.decoders.camera import QUATERNION, VIEW
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput


def small_head(num_taps: int = 2) -> CameraHead:
    return random_head(lambda: CameraHead(CameraConfig(96, num_taps=num_taps, hidden=16)), seed=2)


class TestContract(DecoderContract):
    @pytest.fixture
    def bound(self, registers, picture):
        return head_decoder(registers, small_head(), layer=6, taps=(4, 10), name="camera").at(picture)


def test_from_every_layer_it_reads_what_the_backbone_captures(registers, picture):
    head = small_head(1).double().eval()
    captured = registers.capture(picture[None])
    wanted = head.layers(torch.cat([captured.cls_normed, captured.mean_normed], dim=1))[0]
    wanted = torch.cat(
        [wanted[:3], wanted[QUATERNION] / wanted[QUATERNION].norm(), torch.log1p(wanted[VIEW].exp())]
    )
    for layer in range(13):
        bound = head_decoder(registers, head, layer=layer, taps=(12,), name="camera").at(picture)
        torch.testing.assert_close(bound(bound.features), wanted, rtol=1e-9, atol=1e-11)


def test_nine_numbers_with_a_unit_quaternion_and_a_positive_view():
    geometry = PatchGeometry(5, 1, (8, 8), (64, 64))
    pose = small_head()([torch.randn(7, 69, 96) for _ in range(2)], geometry=geometry)
    assert pose.shape == (7, 9)
    torch.testing.assert_close(pose[:, QUATERNION].norm(dim=1), torch.ones(7))
    assert bool((pose[:, VIEW] > 0).all())


def test_without_class_token_the_patch_mean_stands_in():
    geometry = PatchGeometry(0, 0, (2, 2), (16, 16))
    tokens = torch.randn(1, 4, 96)
    shuffled = tokens[:, [2, 0, 3, 1]]
    head = small_head(1).eval()
    torch.testing.assert_close(head([tokens], geometry=geometry), head([shuffled], geometry=geometry))


def test_counts_below_one_are_refused():
    with pytest.raises(InvalidInput, match="width=96, num_taps=0 and hidden=128 must be at least 1"):
        CameraConfig(96, num_taps=0)
