from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn

from tests.oracles.tokens_by_hooks import tokens_by_hooks
from tests.vitgeom.backbones.conftest import backbone_of
from vitgeom.backbones import load_backbone
from vitgeom.backbones.capture import LayerCapture, capture_layers, patch_mean
from vitgeom.backbones.timm_models import anatomy_of
from vitgeom.errors import InvalidInput


def reference(backbone, pixels):
    """All layers the slow, obvious way: keep every token of every layer, then pick."""
    model = backbone.model
    layers = model.forward_intermediates(
        pixels, return_prefix_tokens=True, output_fmt="NLC", intermediates_only=True
    )
    pairs = [layer if isinstance(layer, tuple) else (layer, None) for layer in layers]
    mean = torch.stack([patches.mean(1) for patches, _ in pairs], dim=1)
    has_cls = model.cls_token is not None
    cls = torch.stack([prefix[:, 0] for _, prefix in pairs], dim=1) if has_cls else None
    return cls, mean


def test_every_layer_is_what_timm_has_there(backbone, images):
    pixels = images(backbone)
    cls, mean = reference(backbone, pixels)
    capture = backbone.capture(pixels)
    torch.testing.assert_close(capture.mean, mean, rtol=1e-5, atol=1e-6)
    assert (capture.cls is None) == (cls is None)
    if cls is not None:
        torch.testing.assert_close(capture.cls, cls, rtol=0, atol=0)


def test_last_layer_and_output_are_the_models_own(backbone, images):
    pixels, model = images(backbone), backbone.model
    capture = backbone.capture(pixels)
    features = model.forward_features(pixels)
    pooled = model.forward_head(features, pre_logits=True)
    torch.testing.assert_close(
        capture.output, pooled if pooled.ndim == 2 else features[:, 0], rtol=1e-5, atol=1e-6
    )
    if not isinstance(model.norm, nn.Identity):
        patches = features[:, model.num_prefix_tokens :]
        torch.testing.assert_close(capture.mean_normed, patches.mean(1), rtol=1e-5, atol=1e-6)
        if capture.cls_normed is not None:
            torch.testing.assert_close(capture.cls_normed, features[:, 0], rtol=0, atol=0)


def test_where_a_model_pools_first_the_norm_comes_after_the_mean(headless, images):
    pixels = images(headless)
    capture = headless.capture(pixels)
    assert isinstance(headless.model.norm, nn.Identity)
    torch.testing.assert_close(capture.mean_normed, headless.model.fc_norm(capture.mean[:, -1]))
    torch.testing.assert_close(capture.mean_normed, capture.output)


def test_registers_and_distillation_tokens_stay_out_of_the_mean(images):
    for kind in ("registers", "distillation token"):
        backbone = backbone_of(kind)
        pixels = images(backbone)
        tokens = next(iter(anatomy_of(backbone.model).walk(backbone.embed(pixels), start=0, stop=1)))
        prefix = backbone.spec.layout.num_prefix
        loud = tokens.clone()
        loud[:, :prefix] += 1e3
        assert torch.equal(patch_mean(loud, num_prefix=prefix), patch_mean(tokens, num_prefix=prefix))
        torch.testing.assert_close(backbone.capture(pixels).mean[:, 0], tokens[:, prefix:].mean(1))


def test_all_tokens_of_chosen_layers_are_what_leaves_these_blocks_in_timm(backbone, images):
    pixels, last = images(backbone), backbone.spec.num_blocks - 1
    expected = tokens_by_hooks(backbone.model, pixels)
    capture = backbone.capture(pixels, token_layers=(0, last))
    assert capture.token_layers == (0, last)
    assert capture.tokens.shape[2] == backbone.spec.layout.num_tokens
    torch.testing.assert_close(capture.tokens, expected[:, [0, last]], rtol=1e-5, atol=1e-6)


def test_every_other_feature_is_the_same_bits_with_and_without_tokens(nano, images):
    pixels = images(nano)
    without, with_tokens = nano.capture(pixels), nano.capture(pixels, token_layers=(3, 7))
    assert without.tokens is None
    assert with_tokens.tensors().keys() == {*without.tensors(), "tokens"}
    for name, tensor in without.tensors().items():
        assert torch.equal(tensor, with_tokens.tensors()[name]), name


def test_the_other_features_follow_from_the_tokens(nano, images):
    capture = nano.capture(images(nano), token_layers=(4, 11))
    prefix = nano.spec.layout.num_prefix
    assert torch.equal(capture.tokens[:, :, 0], capture.cls[:, [4, 11]])
    torch.testing.assert_close(capture.tokens[:, :, prefix:].mean(2), capture.mean[:, [4, 11]])
    torch.testing.assert_close(nano.finish(capture.tokens[:, 1])[:, 0], capture.cls_normed)


def test_tokens_of_layers_that_were_not_chosen_are_gone_two_blocks_later(nano, images):
    left: list[weakref.ref[torch.Tensor]] = []

    def watch(block, inputs, output):
        assert [index for index, tokens in enumerate(left[:-1]) if tokens() is not None] == []
        left.append(weakref.ref(output))

    for block in nano.model.blocks:
        block.register_forward_hook(watch)
    nano.capture(images(nano), token_layers=(2, 5))
    assert len(left) == 12
    assert not any(tokens() is not None for tokens in left)


@pytest.mark.parametrize("layers", [(12,), (-1,), (True,)])
def test_tokens_of_a_layer_that_is_not_there_are_refused(nano, images, layers):
    with pytest.raises(
        InvalidInput, match=r"names layer .*12 blocks: choose from 0\.\.11 \(counted from 0\)"
    ):
        nano.capture(images(nano), token_layers=layers)


def test_images_do_not_influence_each_other(backbone, images):
    pixels = images(backbone)
    together = backbone.capture(pixels, token_layers=(1,)).tensors()
    alone = backbone.capture(pixels[1:2], token_layers=(1,)).tensors()
    for name, tensor in alone.items():
        torch.testing.assert_close(tensor[0], together[name][1], rtol=2e-4, atol=2e-4)


def test_nothing_of_the_token_tensors_stays_alive(nano, images):
    """A slice of the last layer would hold all its tokens in memory as long as the capture lives."""
    for name, tensor in nano.capture(images(nano), token_layers=(11,)).tensors().items():
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size(), name


def test_pixels_and_weights_are_left_alone(nano, images):
    pixels = images(nano)
    before, state = pixels.clone(), {name: tensor.clone() for name, tensor in nano.model.state_dict().items()}
    capture = nano.capture(pixels)
    assert torch.equal(pixels, before)
    assert all(torch.equal(tensor, state[name]) for name, tensor in nano.model.state_dict().items())
    assert not any(tensor.requires_grad for tensor in capture.tensors().values())


def test_captured_features_can_enter_a_trained_probe(nano, images):
    features = nano.capture(images(nano)).mean[:, -1]
    probe = nn.Linear(nano.spec.width, 2)
    probe(features).sum().backward()
    assert torch.isfinite(probe.weight.grad).all()


def test_float64_models_give_float64_features(images):
    backbone = load_backbone("test_vit", pretrained=False, image_size=32, dtype=torch.float64)
    capture = capture_layers(
        anatomy_of(backbone.model), images(backbone).double(), layout=backbone.spec.layout
    )
    assert {tensor.dtype for tensor in capture.tensors().values()} == {torch.float64}


def test_a_model_that_pools_nothing_gives_its_class_token_as_output(nano, images):
    nano.model.global_pool = ""
    capture = nano.capture(images(nano))
    assert torch.equal(capture.output, capture.cls_normed)


def test_rows_can_be_replaced_by_a_second_capture():
    def constant(value, count):
        return LayerCapture(
            torch.full((count, 2, 3), value),
            torch.full((count, 2, 3), value),
            None,
            torch.full((count, 3), value),
            torch.full((count, 3), value),
        )

    mixed = constant(0.0, 4).with_images(torch.tensor([1, 3]), constant(5.0, 2))
    assert mixed.mean[:, 0, 0].tolist() == [0, 5, 0, 5]
    assert mixed.cls_normed is None
    assert mixed.recomputed == 2


@pytest.mark.parametrize("name", ["cls", "mean", "mean_normed", "output"])
def test_an_image_counts_as_finite_only_if_all_its_features_are(name):
    tensors = {
        "cls": torch.zeros(3, 2, 4),
        "mean": torch.zeros(3, 2, 4),
        "mean_normed": torch.zeros(3, 4),
        "output": torch.zeros(3, 4),
    }
    tensors[name].view(3, -1)[1, -1] = float("nan")
    capture = LayerCapture(tensors["cls"], tensors["mean"], None, tensors["mean_normed"], tensors["output"])
    assert capture.finite_images().tolist() == [True, False, True]
