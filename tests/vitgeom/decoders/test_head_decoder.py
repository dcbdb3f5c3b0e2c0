from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.decoders import (
    CameraConfig,
    CameraHead,
    DptConfig,
    DptHead,
    PointMapConfig,
    PointMapHead,
    UpconvConfig,
    UpconvHead,
    head_decoder,
    output_shape,
)
from vitgeom.decoders.head_decoder import as_head_input
from vitgeom.errors import InvalidInput

TAPS = (3, 6, 9, 12)
CHANNELS = {"channels": (4, 4, 4, 4), "features": 4, "hidden": 2}


def dpt(width: int = 96, **options) -> DptHead:
    return DptHead(DptConfig(width, **CHANNELS, **options))


HEADS = {
    "dpt": dpt,
    "pointmap": lambda width=96: PointMapHead(
        PointMapConfig(DptConfig(width, **CHANNELS, out_channels=3, final="identity"))
    ),
    "camera": lambda width=96: CameraHead(CameraConfig(width, num_taps=4)),
}


@pytest.mark.parametrize("kind", list(HEADS))
def test_a_head_for_another_width_or_number_of_taps_is_refused(nano, kind):
    with pytest.raises(
        InvalidInput, match=r"made for tokens of width 95, but 'nano_supervised' has width 96"
    ):
        head_decoder(nano, HEADS[kind](95), layer=0, taps=TAPS, name="x")
    with pytest.raises(InvalidInput, match=r"head of decoder 'x' reads 4 taps, got 2. Name 4 layers"):
        head_decoder(nano, HEADS[kind](), layer=0, taps=(3, 6), name="x")


def test_an_upconvolution_head_reads_one_tap(nano):
    with pytest.raises(InvalidInput, match="reads 1 taps, got 4"):
        head_decoder(nano, UpconvHead(UpconvConfig(96)), layer=0, taps=TAPS, name="x")


def test_no_class_token_to_project_is_refused(headless):
    head = dpt(headless.spec.width, readout="project")
    with pytest.raises(InvalidInput, match="readout='project', but 'test_vit2' has no class token"):
        head_decoder(headless, head, layer=0, taps=(1, 2, 3, 4), name="x")


def test_taps_that_do_not_increase_are_refused_before_the_head_is_looked_at(nano):
    with pytest.raises(InvalidInput, match=r"taps=\[3, 9, 6, 12\] of decoder 'x' must increase strictly"):
        head_decoder(nano, dpt(95), layer=0, taps=(3, 9, 6, 12), name="x")


@pytest.mark.parametrize(
    ("kind", "shape"), [("dpt", (1, 64, 64)), ("pointmap", (3, 64, 64)), ("camera", (9,))]
)
def test_the_shape_of_the_output_is_known_before_any_picture(nano, picture, kind, shape):
    decoder = head_decoder(nano, HEADS[kind](), layer=9, taps=TAPS, name=kind)
    bound = decoder.at(picture)
    assert output_shape(decoder) == shape == tuple(bound(bound.features).shape)


def test_a_head_of_ones_own_gets_the_taps_and_the_geometry(nano, picture):
    class Sum(nn.Module):
        def forward(self, taps, *, geometry):
            return sum(geometry.as_map(tap) for tap in taps)

    bound = head_decoder(nano, Sum(), layer=6, taps=(3, 6), normed=False, name="sum").at(picture)
    wanted = bound.features[1:] + bound.earlier[3][1:]
    torch.testing.assert_close(bound(bound.features), wanted.T.reshape(96, 8, 8))


def test_taps_pass_the_final_norm_where_they_should(nano):
    taps = [torch.randn(2, 65, 96, dtype=torch.float64)]
    assert torch.equal(as_head_input(nano, taps, normed=True)[0], nano.model.norm(taps[0]))
    assert as_head_input(nano, taps, normed=False)[0] is taps[0]
