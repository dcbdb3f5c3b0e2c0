from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from vitgeom.errors import InvalidInput

# Loading torch's forward-mode formulas announces a change of torch itself.
forward_mode = pytest.mark.filterwarnings(
    "ignore:.*torch.jit.script:FutureWarning", "ignore:.*torch.jit.script:DeprecationWarning"
)


def relative(ours, theirs):
    return float((ours - theirs).abs().max() / theirs.abs().max())


def test_pieces_compose_to_the_models_own_forward_pass(backbone, images):
    pixels = images(backbone)
    tokens = backbone.blocks(backbone.embed(pixels), 0, backbone.spec.num_blocks)
    features = backbone.model.forward_features(pixels)
    assert relative(backbone.finish(tokens), features) < 1e-5
    assert torch.equal(backbone.pool(features), backbone.model.forward_head(features, pre_logits=True))


def test_blocks_compose(nano, images):
    tokens = nano.embed(images(nano))
    whole = nano.blocks(tokens, 0, 12)
    for cut in (0, 1, 7, 12):
        assert torch.equal(nano.blocks(nano.blocks(tokens, 0, cut), cut, 12), whole)
    assert nano.blocks(tokens, 5, 5) is tokens


def test_blocks_leave_their_input_alone(backbone, images):
    tokens = backbone.embed(images(backbone))
    before = tokens.clone()
    backbone.blocks(tokens, 0, 2)
    assert torch.equal(tokens, before)


@forward_mode
def test_blocks_have_forward_and_backward_derivatives(backbone, images):
    """<u, J v> = <J^T u, v>, by torch.func.jvp and vjp, and J v against a finite difference in float64 for the nano model."""
    tokens = backbone.embed(images(backbone, 1))
    last = backbone.spec.num_blocks

    def tail(value):
        return backbone.finish(backbone.blocks(value, last - 2, last))

    generator = torch.Generator().manual_seed(0)
    direction, probe = (torch.randn(tokens.shape, generator=generator) for _ in range(2))
    pushed = torch.func.jvp(tail, (tokens,), (direction,))[1]
    pulled = torch.func.vjp(tail, tokens)[1](probe)[0]
    torch.testing.assert_close((probe * pushed).sum(), (pulled * direction).sum(), rtol=1e-3, atol=1e-3)


@forward_mode
def test_derivatives_batch_under_vmap(nano, images):
    tokens = nano.embed(images(nano, 1))
    directions = torch.randn(3, *tokens.shape, generator=torch.Generator().manual_seed(0))

    def push(direction):
        return torch.func.jvp(lambda value: nano.blocks(value, 10, 12), (tokens,), (direction,))[1]

    together = torch.func.vmap(push)(directions)
    torch.testing.assert_close(together[1], push(directions[1]), rtol=1e-4, atol=1e-4)


def test_weights_are_frozen_and_the_model_evaluates(backbone):
    assert not backbone.model.training
    assert not any(parameter.requires_grad for parameter in backbone.model.parameters())


def test_check_is_tiny_for_a_sound_model(backbone):
    assert backbone.check() < 1e-5


def test_check_sees_a_model_that_does_more_than_its_blocks(nano):
    own = nano.model.forward_features
    nano.model.forward_features = lambda images: own(images) * 1.001
    assert nano.check() == pytest.approx(1e-3, rel=0.01)


def test_check_gives_nan_for_a_model_that_gives_nan(nano):
    own = nano.model.forward_features
    nano.model.forward_features = lambda images: own(images) * float("nan")
    assert np.isnan(nano.check())


def test_pictures_become_batches_of_the_right_size(nano):
    pictures = [Image.new("RGB", (70, 50), (255, 0, 0)), Image.new("L", (20, 90), 128)]
    batch = nano.preprocess_batch(pictures)
    assert batch.shape == (2, 3, 32, 32)
    assert torch.equal(batch[1], nano.preprocess(pictures[1]))
    assert nano.capture(batch).mean.shape == (2, 12, 96)


def test_images_of_a_legal_other_size_name_the_way_out(nano):
    with pytest.raises(
        InvalidInput,
        match=r"images are 40x32 pixels, but backbone 'nano_selfsup' was loaded for 32x32.*image_size=\(40, 32\)",
    ):
        nano.capture(torch.zeros(1, 3, 40, 32))


def test_images_of_an_illegal_size_name_the_legal_neighbours(nano):
    with pytest.raises(InvalidInput, match=r"33x32 does not fit backbone 'nano_selfsup'.*height 32 or 40"):
        nano.embed(torch.zeros(1, 3, 33, 32))


def test_an_empty_batch_is_refused(nano):
    with pytest.raises(InvalidInput, match="images is an empty batch"):
        nano.capture(torch.zeros(0, 3, 32, 32))
    with pytest.raises(InvalidInput, match="images is an empty list"):
        nano.preprocess_batch([])


def test_the_form_of_a_batch_is_checked_first(nano):
    """Without the checks of jaxtyping, which refuse the same in tests."""
    with pytest.raises(InvalidInput, match=r"got a NumPy array \[1, 3, 32, 32\] of float64"):
        nano._check_batch(np.zeros((1, 3, 32, 32)))
    with pytest.raises(InvalidInput, match=r"got a tensor \[3, 32, 32\]"):
        nano._check_batch(torch.zeros(3, 32, 32))


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 3), (0, 13)])
def test_block_ranges_outside_the_model_are_refused(nano, images, start, stop):
    with pytest.raises(
        InvalidInput, match=rf"start={start}, stop={stop} must satisfy 0 <= start <= stop <= 12"
    ):
        nano.blocks(nano.embed(images(nano)), start, stop)


def test_device_and_dtype_are_told(nano):
    assert nano.device == torch.device("cpu")
    assert nano.dtype == torch.float32


def test_a_model_of_each_kind_can_be_asked_for_its_pooled_output(backbone, images):
    assert backbone.capture(images(backbone)).output.shape == (3, backbone.spec.width)
