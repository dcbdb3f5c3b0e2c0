"""How well a plain linear probe reads each layer of a backbone: the figures of the model cards."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from vitgeom.backbones.backbone import Backbone
from vitgeom.data import DatasetRef, ImageDataset, Split, open_dataset

STRENGTHS = (0.003, 0.03, 0.3)
BATCH = 128


@dataclass(frozen=True)
class Figures:
    """Test accuracy by layer on one dataset: class token after each block, the last one after the final norm."""

    dataset: str
    accuracy: tuple[float, ...]


def measure(backbone: Backbone, datasets: Sequence[str]) -> list[Figures]:
    """Fit a logistic probe on every layer's class token; its strength is chosen on the validation split.

    Args:
        backbone: With a class token.
        datasets: Names of built-in datasets.
    """
    return [_on_dataset(backbone, open_dataset(DatasetRef(name))) for name in datasets]


def _on_dataset(backbone: Backbone, dataset: ImageDataset) -> Figures:
    features = {name: class_tokens(backbone, split) for name, split in dataset.splits.items()}
    labels = {name: np.asarray(split.labels) for name, split in dataset.splits.items()}
    layers = [
        probe_accuracy({name: array[:, layer] for name, array in features.items()}, labels)
        for layer in range(backbone.spec.num_blocks)
    ]
    return Figures(dataset.name, tuple(layers))


def class_tokens(backbone: Backbone, split: Split) -> np.ndarray:
    """Return [n, L, D] class tokens of a split, the last layer after the final norm.

    Args:
        backbone: With a class token.
        split: Its pictures are read one by one.
    """
    parts = []
    for start in range(0, len(split), BATCH):
        rows = range(start, min(start + BATCH, len(split)))
        capture = backbone.capture(backbone.preprocess_batch([split.read(row) for row in rows]))
        assert capture.cls is not None
        assert capture.cls_normed is not None
        parts.append(torch.cat([capture.cls[:, :-1], capture.cls_normed[:, None]], dim=1).numpy())
    return np.concatenate(parts)


def probe_accuracy(features: dict[str, np.ndarray], labels: dict[str, np.ndarray]) -> float:
    """Return the test accuracy of a logistic probe on standardised features.

    Args:
        features: [n, D] by split.
        labels: [n] by split.
    """
    centre, scale = features["train"].mean(0), features["train"].std(0) + 1e-6
    scaled = {name: (array - centre) / scale for name, array in features.items()}
    probes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for strength in STRENGTHS:
            probe = LogisticRegression(C=strength, max_iter=300).fit(scaled["train"], labels["train"])
            probes.append((probe.score(scaled["val"], labels["val"]), probe))
    return float(max(probes, key=lambda pair: pair[0])[1].score(scaled["test"], labels["test"]))


def as_markdown(figures: Sequence[Figures]) -> str:
    """Return a table: one row per dataset, one column per layer, per cent.

    Args:
        figures: Of one backbone.
    """
    layers = len(figures[0].accuracy)
    lines = [
        "| test accuracy, % | " + " | ".join(str(layer + 1) for layer in range(layers)) + " |",
        "|---" * (layers + 1) + "|",
    ]
    lines += [
        f"| {row.dataset} | " + " | ".join(f"{100 * value:.1f}" for value in row.accuracy) + " |"
        for row in figures
    ]
    return "\n".join(lines)
