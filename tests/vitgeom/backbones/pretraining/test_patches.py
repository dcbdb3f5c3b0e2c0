from __future__ import annotations

import torch
from torch import nn

from vitgeom.backbones.pretraining.patches import draw_patches, pick, to_patches


def test_patches_are_what_a_patch_embedding_sees():
    """Oracle: the strided convolution of a ViT."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(2, 3, 16, 24, generator=generator)
    convolution = nn.Conv2d(3, 5, kernel_size=8, stride=8)
    linear = to_patches(images, side=8) @ convolution.weight.flatten(1).T + convolution.bias
    torch.testing.assert_close(linear, convolution(images).flatten(2).mT, rtol=1e-4, atol=1e-5)


def test_pick_takes_each_pictures_own_rows():
    values = torch.arange(12.0).view(2, 3, 2)
    picked = pick(values, torch.tensor([[2, 0], [1, 1]]))
    assert picked.tolist() == [[[4, 5], [0, 1]], [[8, 9], [8, 9]]]


def test_drawn_patches_differ_and_depend_on_the_generator_alone():
    draws = [
        draw_patches(50, total=16, keep=6, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert all(len(set(row)) == 6 for row in draws[0].tolist())


def test_weights_decide_how_often_a_patch_is_drawn():
    """One patch out of four in proportion to 1 : 1 : 2 : 4; 4000 draws, within five standard errors."""
    weight = torch.log(torch.tensor([1.0, 1.0, 2.0, 4.0]))
    drawn = draw_patches(
        4000, total=4, keep=1, generator=torch.Generator().manual_seed(0), weight=weight
    ).flatten()
    share = torch.bincount(drawn, minlength=4) / 4000
    expected = torch.tensor([1, 1, 2, 4]) / 8
    assert ((share - expected).abs() < 5 * (expected * (1 - expected) / 4000).sqrt()).all()


def test_all_patches_can_be_kept():
    drawn = draw_patches(3, total=5, keep=5, generator=torch.Generator().manual_seed(0))
    assert drawn.sort(1).values.tolist() == [[0, 1, 2, 3, 4]] * 3
