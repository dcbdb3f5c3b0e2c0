from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from vitgeom.backbones import load_backbone
from vitgeom.backbones.pretraining.figures import Figures, as_markdown, class_tokens, measure, probe_accuracy
from vitgeom.data import ImageDataset, Split


def colour_split(count: int, seed: int) -> Split:
    """Two classes: reddish and bluish noise."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 120, (count, 64, 64, 3), dtype=np.uint8)
    labels = np.arange(count) % 2
    for row, label in enumerate(labels):
        pixels[row, ..., 2 * label] += 100
    return Split(
        [f"{seed}-{row}" for row in range(count)],
        labels.astype(np.int64),
        np.full(count, -1),
        lambda row: Image.fromarray(pixels[row]),
    )


@pytest.fixture
def dataset(monkeypatch):
    splits = {"train": colour_split(40, 0), "val": colour_split(20, 1), "test": colour_split(20, 2)}
    dataset = ImageDataset("colours", "0" * 64, ("red", "blue"), splits, (), "test")
    monkeypatch.setattr("vitgeom.backbones.pretraining.figures.open_dataset", lambda ref: dataset)
    return dataset


def test_every_layer_of_even_a_random_backbone_tells_red_from_blue(dataset):
    figures = measure(load_backbone("nano_selfsup", pretrained=False), ["colours"])
    assert [row.dataset for row in figures] == ["colours"]
    assert len(figures[0].accuracy) == 12
    assert max(figures[0].accuracy) > 0.9


def test_tokens_are_the_raw_layers_and_the_last_one_normed(dataset):
    backbone = load_backbone("nano_selfsup", pretrained=False)
    split = dataset.splits["val"]
    tokens = class_tokens(backbone, split)
    capture = backbone.capture(backbone.preprocess_batch([split.read(row) for row in range(20)]))
    np.testing.assert_allclose(tokens[:, :-1], capture.cls[:, :-1], atol=1e-6)
    np.testing.assert_allclose(tokens[:, -1], capture.cls_normed, atol=1e-6)


def test_a_probe_without_signal_is_at_chance_and_with_signal_perfect():
    rng = np.random.default_rng(0)
    labels = {name: np.arange(600) % 3 for name in ("train", "val", "test")}
    noise = {name: rng.standard_normal((600, 5)) for name in labels}
    signal = {name: noise[name] + 20 * np.eye(5)[labels[name]] for name in labels}
    assert abs(probe_accuracy(noise, labels) - 1 / 3) < 5 * (2 / 9 / 600) ** 0.5
    assert probe_accuracy(signal, labels) == 1.0


def test_the_table_has_a_column_per_layer():
    table = as_markdown([Figures("digits", (0.5, 0.9876)), Figures("photos", (0.1, 0.2))])
    assert table.splitlines() == [
        "| test accuracy, % | 1 | 2 |",
        "|---|---|---|",
        "| digits | 50.0 | 98.8 |",
        "| photos | 10.0 | 20.0 |",
    ]


def test_tokens_are_finite(dataset):
    assert torch.isfinite(
        torch.from_numpy(
            class_tokens(load_backbone("nano_supervised", pretrained=False), dataset.splits["test"])
        )
    ).all()
