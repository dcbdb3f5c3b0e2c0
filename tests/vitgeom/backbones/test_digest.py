from __future__ import annotations

import safetensors.torch
import torch

from vitgeom.backbones import load_backbone
from vitgeom.backbones.digest import weights_digest


def state():
    generator = torch.Generator().manual_seed(0)
    return {
        "b": torch.randn(3, 4, generator=generator),
        "a": torch.randn(5, generator=generator),
        "n": torch.tensor([1, 2]),
    }


def test_order_of_names_does_not_matter():
    tensors = state()
    assert weights_digest(tensors) == weights_digest(dict(sorted(tensors.items())))


def test_half_precision_storage_of_the_same_values_does_not_matter():
    half = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in state().items()}
    wide = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in half.items()}
    assert weights_digest(half) == weights_digest(wide)


def test_memory_layout_does_not_matter():
    tensors = state()
    strided = {**tensors, "b": tensors["b"].t().contiguous().t()}
    assert not strided["b"].is_contiguous()
    assert weights_digest(strided) == weights_digest(tensors)


def test_values_names_and_shapes_matter():
    base = state()
    moved = {**base, "a": base["a"].clone()}
    moved["a"][0] = torch.nextafter(moved["a"][0], torch.tensor(10.0))
    renamed = {("c" if name == "a" else name): tensor for name, tensor in base.items()}
    reshaped = {**base, "b": base["b"].reshape(4, 3)}
    assert len({weights_digest(tensors) for tensors in (base, moved, renamed, reshaped)}) == 4


def test_file_format_prefix_and_classifier_do_not_matter(tmp_path):
    model = load_backbone("test_vit", pretrained=False).model
    tensors = dict(model.state_dict())
    safetensors.torch.save_file(tensors, tmp_path / "plain.safetensors")
    torch.save(
        {"state_dict": {f"module.{name}": tensor for name, tensor in tensors.items()}},
        tmp_path / "wrapped.pth",
    )
    torch.save(
        {**tensors, "head.weight": torch.zeros(10, 64), "head.bias": torch.zeros(10)},
        tmp_path / "classifier.pt",
    )
    digests = {
        load_backbone(file, architecture="test_vit").spec.weights_digest for file in tmp_path.iterdir()
    }
    assert digests == {weights_digest(tensors)}


def test_image_size_does_not_change_the_identity_of_the_weights(tmp_path):
    safetensors.torch.save_file(
        load_backbone("test_vit", pretrained=False).model.state_dict(), tmp_path / "a.safetensors"
    )
    small, large = (
        load_backbone(tmp_path / "a.safetensors", architecture="test_vit", image_size=size)
        for size in (64, 160)
    )
    assert small.spec.weights_digest == large.spec.weights_digest
    assert small.spec.preprocessing != large.spec.preprocessing
