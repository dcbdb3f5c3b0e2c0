from __future__ import annotations

import math

import pytest
import torch

from vitgeom.backbones.pretraining.gradients import ORIENTATIONS, gradient_histograms


def stripes(angle: float) -> torch.Tensor:
    """Stripes whose gradient points along ``angle`` (degrees)."""
    rows, columns = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
    phase = columns * math.cos(math.radians(angle)) + rows * math.sin(math.radians(angle))
    return torch.sin(phase).expand(1, 3, 32, 32)


@pytest.mark.parametrize("number", range(ORIENTATIONS))
def test_the_strongest_bin_is_the_direction_of_the_gradient(number):
    histograms = gradient_histograms(stripes(number * 180 / ORIENTATIONS), side=8)
    inner = histograms[0].view(4, 4, ORIENTATIONS)[1:3, 1:3]
    assert (inner.argmax(-1) == number).all()


def test_flat_pictures_have_no_gradients():
    assert torch.equal(
        gradient_histograms(torch.full((2, 3, 16, 16), 0.3), side=8), torch.zeros(2, 4, ORIENTATIONS)
    )


def test_colour_order_and_brightness_hardly_matter():
    images = torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    base = gradient_histograms(images, side=8)
    torch.testing.assert_close(gradient_histograms(images[:, [2, 0, 1]], side=8), base)
    torch.testing.assert_close(gradient_histograms(3 * images + 1, side=8), base, rtol=0.01, atol=0.01)


def test_a_mirror_reverses_columns_and_orientations():
    images = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    base, mirrored = (
        gradient_histograms(x, side=8)[0].view(2, 2, ORIENTATIONS) for x in (images, images.flip(-1))
    )
    # Orientation a becomes 180 - a: bin k becomes 9 - k, and bin 0 stays.
    order = [0, *range(ORIENTATIONS - 1, 0, -1)]
    torch.testing.assert_close(mirrored.flip(1)[..., order], base, rtol=1e-4, atol=1e-5)


def test_values_are_bounded_by_their_surroundings():
    images = 100 * torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    histograms = gradient_histograms(images, side=8)
    assert histograms.shape == (2, 64, ORIENTATIONS)
    assert histograms.min() >= 0
    assert histograms.square().sum(-1).max() <= 9.0001  # at most all energy of nine cells in one
