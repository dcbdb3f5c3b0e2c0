from __future__ import annotations

import numpy as np
import pytest
import safetensors.torch
import torch
from PIL import Image
from skimage import data
from torch.func import jvp

from tests.contracts.decoder import DecoderContract, directions
from tests.oracles.central_differences import central_difference
from vitgeom.backbones import load_backbone
from vitgeom.decoders import UpconvConfig, UpconvHead, head_decoder, random_head, read_upconv_head
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput, UnknownName


def small_head() -> UpconvHead:
    head = random_head(lambda: UpconvHead(UpconvConfig(96, (6, 4), out_channels=2)), seed=0)
    for number in (1, 2):  # trained batch norms are not the identity
        norm = head.get_submodule(f"bn{number}")
        norm.running_mean.uniform_(-0.2, 0.2)
        norm.running_var.uniform_(0.5, 2)
    return head


class TestContract(DecoderContract):
    @pytest.fixture
    def bound(self, nano, picture):
        torch.manual_seed(0)
        return head_decoder(nano, small_head(), layer=9, taps=(12,), name="upconv").at(picture)


def test_three_stages_enlarge_the_grid_eightfold_and_the_map_has_image_size():
    head = random_head(lambda: UpconvHead(UpconvConfig(12)), seed=0).eval()
    geometry = PatchGeometry(1, 1, (2, 3), (28, 42))
    sizes = []
    head.final_conv.register_forward_pre_hook(lambda _, given: sizes.append(tuple(given[0].shape)))
    found = head([torch.randn(2, 7, 12)], geometry=geometry)
    assert sizes == [(2, 64, 16, 24)]
    assert found.shape == (2, 1, 28, 42)
    assert bool(((found > 0) & (found < 1)).all())


def test_a_file_of_nothing_but_weights_tells_the_shape(tmp_path):
    head = small_head().eval()
    state = {key: value.half() for key, value in head.state_dict().items() if "num_batches" not in key}
    safetensors.torch.save_file(state, tmp_path / "h.safetensors")
    found = read_upconv_head(tmp_path / "h.safetensors").eval()
    assert found.config == UpconvConfig(96, (6, 4), out_channels=2)
    tap, geometry = torch.randn(1, 65, 96), PatchGeometry(1, 1, (8, 8), (64, 64))
    torch.testing.assert_close(
        found([tap], geometry=geometry), head([tap], geometry=geometry), rtol=5e-3, atol=5e-3
    )


def test_other_files_are_refused(tmp_path):
    safetensors.torch.save_file({"conv.weight": torch.ones(2)}, tmp_path / "h")
    with pytest.raises(InvalidInput, match=r"does not hold an upconvolution head \(upconv1, bn1"):
        read_upconv_head(tmp_path / "h")
    with pytest.raises(InvalidInput, match="does not hold an upconvolution head"):
        read_upconv_head(tmp_path / "none")


def test_shapes_that_make_no_sense_are_refused():
    with pytest.raises(InvalidInput, match=r"widths=\(\) must be at least 1, with at least one stage"):
        UpconvConfig(8, ())
    with pytest.raises(UnknownName, match="Did you mean 'sigmoid'"):
        UpconvConfig(8, final="sigmod")


@pytest.fixture(scope="module")
def dinov2(weights_dir):
    backbone = load_backbone(
        weights_dir / "dinov2_vits14_518.fp16.safetensors",
        architecture="vit_small_patch14_dinov2",
        image_size=224,
        dtype=torch.float64,
    )
    embedding = safetensors.torch.load_file(weights_dir / "dinov2_vits14_pos_embed_224.fp32.safetensors")
    with torch.no_grad():  # the head was trained with positions resampled without anti-aliasing
        backbone.model.pos_embed.copy_(embedding["pos_embed"])
    return backbone


@pytest.fixture(scope="module")
def astronaut(dinov2):
    return dinov2.preprocess(Image.fromarray(data.astronaut()))


def saliency(dinov2, weights_dir, layer):
    head = read_upconv_head(weights_dir / "dinov2_vits14_saliency_head.fp16.safetensors")
    return head_decoder(dinov2, head, layer=layer, taps=(12,), name="saliency")


def saliency_map(dinov2, weights_dir, pixels):
    bound = saliency(dinov2, weights_dir, 11).at(pixels)
    return bound(bound.features)[0]


@pytest.mark.weights
def test_the_real_saliency_head_finds_what_a_picture_shows(dinov2, astronaut, weights_dir):
    """The astronaut's face against the background above her; a cup in the middle against the borders of the table."""
    face = saliency_map(dinov2, weights_dir, astronaut)
    assert face.shape == (224, 224)
    assert float(face[28:84, 84:112].mean()) > 0.9
    assert float(face[:56, :56].mean()) < 0.15
    cup = saliency_map(dinov2, weights_dir, dinov2.preprocess(Image.fromarray(data.coffee())))
    assert float(cup[56:112, 56:140].mean()) > 0.8
    assert float(torch.cat([cup[:20], cup[-20:]]).mean()) < 0.5


@pytest.mark.weights
def test_the_real_saliency_is_one_function_from_every_layer(dinov2, astronaut, weights_dir):
    maps = []
    for layer in (0, 6, 12):
        bound = saliency(dinov2, weights_dir, layer).at(astronaut)
        maps.append(bound(bound.features))
    torch.testing.assert_close(maps[0], maps[2], rtol=1e-8, atol=1e-9)
    torch.testing.assert_close(maps[1], maps[2], rtol=1e-8, atol=1e-9)


@pytest.mark.weights
def test_the_real_jacobian_agrees_with_differences(dinov2, astronaut, weights_dir):
    bound = saliency(dinov2, weights_dir, 11).at(astronaut)
    (v,) = directions(bound.features, 1, "real")
    exact = jvp(bound, (bound.features,), (v,))[1]
    measured = central_difference(bound, bound.features, v, step=1e-8)  # a hundred thousand ReLUs
    assert float((exact - measured).norm() / exact.norm()) < 1e-5
    assert np.isfinite(float(exact.norm()))
