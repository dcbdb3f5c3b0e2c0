"""Backbones in float64, and pictures for them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from PIL import Image

from vitgeom.backbones import Backbone, load_backbone
from vitgeom.data.scenes import render_scene

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """torch itself uses torch.jit.script the first time a forward derivative is taken in a process."""
    ignored = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning")
    ignored_too = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(ignored)
            item.add_marker(ignored_too)


@cache
def nano64(name: str = "nano_supervised") -> Backbone:
    """An embedded backbone in float64; frozen, so shared between tests."""
    return load_backbone(name, dtype=torch.float64)


def scene_pixels(backbone: Backbone, index: int = 0) -> torch.Tensor:
    """Return [3, H, W] preprocessed pixels of a rendered scene."""
    return backbone.preprocess(Image.fromarray(render_scene(0, index, stream="test").image))


@pytest.fixture(scope="session")
def nano() -> Backbone:
    return nano64()


@pytest.fixture(scope="session")
def registers() -> Backbone:
    return nano64("nano_selfsup")


@pytest.fixture(scope="session")
def picture(nano) -> torch.Tensor:
    return scene_pixels(nano)


@pytest.fixture(scope="session")
def headless() -> Backbone:
    """No class token; the patches are averaged before the norm."""
    return load_backbone("test_vit2", pretrained=False, image_size=64, dtype=torch.float64)


@pytest.fixture(scope="session")
def attention_pool() -> Backbone:
    """No class token; a learned query pools the patches."""
    return load_backbone("test_vit3", pretrained=False, image_size=64, dtype=torch.float64)
