from __future__ import annotations

import torch

from vitgeom.decoders.geometry import PatchGeometry, geometry_of


def test_patches_are_read_row_by_row_and_prefix_tokens_stay_out():
    geometry = PatchGeometry(2, 1, (2, 3), (16, 24))
    tokens = torch.arange(8.0)[None, :, None].expand(1, 8, 4)
    assert geometry.as_map(tokens)[0, 0].tolist() == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
    assert geometry.patches(tokens)[0, :, 0].tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_it_is_read_from_the_backbone(registers):
    assert geometry_of(registers) == PatchGeometry(5, 1, (8, 8), (64, 64))
