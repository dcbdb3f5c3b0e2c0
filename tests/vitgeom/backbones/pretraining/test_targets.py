from __future__ import annotations

import torch

from vitgeom.backbones.pretraining.gradients import gradient_histograms
from vitgeom.backbones.pretraining.targets import patch_targets


def test_nine_gradients_then_mean_colour(pool):
    images = pool.images.float() / 255
    targets = patch_targets(images)
    assert targets.shape == (20, 64, 12)
    assert torch.equal(targets[..., :9], gradient_histograms(images, side=8))
    torch.testing.assert_close(targets[2, 8 * 3 + 5, 9:], images[2, :, 24:32, 40:48].mean((1, 2)))
