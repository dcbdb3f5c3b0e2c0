from __future__ import annotations

import torch

from vitgeom.decoders.closing import closed_cls, closed_patch_mean


def test_both_are_what_the_backbone_captures(registers, headless, picture):
    captured = registers.capture(picture[None], token_layers=[11])
    last = captured.tokens[:, 0]
    torch.testing.assert_close(closed_cls(registers, last), captured.cls_normed)
    torch.testing.assert_close(closed_patch_mean(registers, last), captured.mean_normed)
    captured = headless.capture(picture[None], token_layers=[headless.spec.num_blocks - 1])
    torch.testing.assert_close(closed_patch_mean(headless, captured.tokens[:, 0]), captured.mean_normed)


def test_where_the_model_pools_first_the_norm_comes_last(headless):
    """Norm and mean do not commute: the order is checked on tokens of very different lengths."""
    layout = headless.spec.layout
    tokens = torch.randn(1, layout.num_tokens, headless.spec.width, dtype=torch.float64)
    tokens[:, -1] *= 100
    norm, patches = headless.model.fc_norm, tokens[:, layout.num_prefix :]
    assert torch.equal(closed_patch_mean(headless, tokens), norm(patches.mean(1)))
    assert not torch.allclose(closed_patch_mean(headless, tokens), norm(patches).mean(1))
