from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors import safe_open

from vitgeom.backbones import EMBEDDED, load_backbone
from vitgeom.backbones.embedded import WEIGHTS_FOLDER, weights_file


@pytest.mark.parametrize("name", EMBEDDED)
def test_weights_are_small_enough_to_ship_and_say_what_they_are(name):
    assert weights_file(name).stat().st_size <= 4e6
    with safe_open(weights_file(name), framework="pt") as file:
        metadata = file.metadata()
    assert metadata["architecture"] == name
    assert metadata["licence"] == "Apache-2.0"
    assert name.removeprefix("nano_") in ("supervised", "selfsup")
    assert "python -m vitgeom.backbones.pretraining" in metadata["command"]


@pytest.mark.parametrize(("name", "registers"), [("nano_supervised", 0), ("nano_selfsup", 4)])
def test_each_loads_by_name_and_by_path(name, registers):
    spec = load_backbone(name).spec
    assert (spec.num_blocks, spec.width, spec.image_size, spec.patch_size) == (12, 96, (64, 64), (8, 8))
    assert (spec.layout.num_cls, spec.layout.num_registers) == (1, registers)
    assert spec.source == "embedded in vitgeom"
    assert load_backbone(weights_file(name)).spec.weights_digest == spec.weights_digest


@pytest.mark.parametrize("name", EMBEDDED)
def test_weights_are_trained(name):
    """Trained features of one picture differ less from those of the same picture, shifted by a pixel, than from another's."""
    backbone = load_backbone(name)
    rng = np.random.default_rng(0)
    pictures = [
        Image.fromarray(rng.integers(0, 256, (5, 5, 3), dtype=np.uint8)).resize(
            (64, 64), Image.Resampling.BICUBIC
        )
        for _ in range(4)
    ]
    still = backbone.capture(backbone.preprocess_batch(pictures)).cls_normed
    moved = backbone.capture(
        backbone.preprocess_batch([picture.rotate(0, translate=(1, 1)) for picture in pictures])
    ).cls_normed
    assert torch.equal(torch.cdist(still, moved).argmin(1), torch.arange(4))
    random = load_backbone(name, pretrained=False)
    assert random.spec.weights_digest != backbone.spec.weights_digest


@pytest.mark.parametrize("name", EMBEDDED)
def test_each_has_a_model_card(name):
    card = (WEIGHTS_FOLDER / f"{name}.md").read_text()
    for heading in ("Architecture", "Data", "Recipe", "Command", "Figures", "Licence", "Limits"):
        assert re.search(rf"^#+ {heading}", card, re.MULTILINE), heading
    assert load_backbone(name).spec.weights_digest in card
