from __future__ import annotations

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from tests.oracles.dpt_step_by_step import dpt_map
from vitgeom.decoders import DptConfig, DptHead, head_decoder, output_shape, random_head
from vitgeom.decoders.dpt import ResidualUnit
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput, UnknownName

SMALL = {"channels": (6, 8, 10, 12), "features": 8, "hidden": 4}
TAPS = (3, 6, 9, 12)


def small_head(**options) -> DptHead:
    return random_head(lambda: DptHead(DptConfig(96, **{**SMALL, "final": "softplus", **options})), seed=3)


class TestContractAfterSomeTaps(DecoderContract):
    @pytest.fixture
    def bound(self, nano, picture):
        return head_decoder(nano, small_head(), layer=7, taps=TAPS, name="dpt").at(picture)


class TestContractWithProjectedClassToken(DecoderContract):
    @pytest.fixture
    def bound(self, registers, picture):
        head = small_head(readout="project", out_channels=2, final="relu")
        return head_decoder(registers, head, layer=2, taps=TAPS, normed=False, name="dpt").at(picture)


@pytest.mark.parametrize("normed", [True, False])
def test_from_every_layer_it_is_the_whole_way_from_the_picture(registers, picture, normed):
    """Oracle: tokens from hooks on the model's own forward pass, then the head written out step by step."""
    head = small_head(readout="project").double()
    images = picture[None].double()
    whole = dpt_map(registers, head, images, taps=TAPS, normed=normed)[0]
    for layer in range(13):
        bound = head_decoder(registers, head, layer=layer, taps=TAPS, normed=normed, name="dpt").at(picture)
        torch.testing.assert_close(bound(bound.features), whole, rtol=1e-9, atol=1e-11)


def test_the_map_has_the_size_of_the_image_whatever_the_grid(picture):
    geometry = PatchGeometry(1, 1, (5, 7), (70, 98))
    taps = [torch.randn(2, 36, 96) for _ in TAPS]
    assert small_head(out_channels=3)(taps, geometry=geometry).shape == (2, 3, 70, 98)


def test_fewer_taps_make_a_smaller_head(nano, picture):
    head = random_head(
        lambda: DptHead(DptConfig(96, channels=(4, 4), scales=(1, 0), features=4, hidden=2)), seed=0
    )
    decoder = head_decoder(nano, head, layer=4, taps=(6, 12), name="two")
    assert output_shape(decoder) == (1, 64, 64)
    assert len(decoder.at(picture).earlier) == 0


def test_the_residual_unit_carries_its_input_itself():
    """Not relu(x): an in-place activation before the skip is a known way to change a head's outputs."""
    unit = ResidualUnit(3)
    for convolution in (unit.first, unit.second):
        torch.nn.init.zeros_(convolution.weight)
        torch.nn.init.zeros_(convolution.bias)
    x = torch.randn(1, 3, 4, 4)
    assert torch.equal(unit(x), x)


def test_prefix_tokens_do_not_enter_where_the_read_out_ignores_them():
    head, geometry = small_head().eval(), PatchGeometry(5, 1, (8, 8), (64, 64))
    taps = [torch.randn(1, 69, 96) for _ in TAPS]
    before = head(taps, geometry=geometry)
    for tap in taps:
        tap[:, :5] += 1
    assert torch.equal(head(taps, geometry=geometry), before)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"channels": (4, 4)}, "must have one entry per tap"),
        ({"scales": (2, 1, 1, 0)}, r"scales=\(2, 1, 1, 0\) must fall by one"),
        ({"hidden": 0}, "hidden=0.*must be at least 1"),
        ({"features": 1}, r"features=1 \(>= 2\)"),
    ],
)
def test_counts_that_do_not_fit_together_are_refused(options, words):
    with pytest.raises(InvalidInput, match=words):
        DptConfig(96, **options)


def test_unknown_words_are_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown final activation 'rely'. Did you mean 'relu'"):
        DptConfig(96, final="rely")
