"""An importance head on real weights: how well it ranks patches of held-out pictures, against the number of pictures that were labelled for it.

Labels: block norms of the class token of DINOv2 ViT-S/14 from layer 10, 48 products with J^T each, for as many pictures as 20 minutes allow. Heads: default settings but for half the
epochs, three seeds per number of pictures; two photographs that are in neither training nor test decide which epoch is kept. The ceiling is what two independent labellings agree on.
``python -m tests.benchmarks.bench_importance`` prints all figures as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.benchmarks.direction_cases import FILE
from tests.benchmarks.importance_labels import LAYER, PROBES, Labelled, labelled
from tests.benchmarks.rows import Row
from vitgeom.bootstrap import bootstrap_interval
from vitgeom.metric import ImportanceHead
from vitgeom.metric.constant_importance import constant_importance
from vitgeom.metric.rank_correlation import rank_correlation
from vitgeom.metric.training import (
    ImportanceLearner,
    InMemoryExamples,
    TrainingSettings,
    figures_per_image,
    train,
)
from vitgeom.reduction import feature_norm
from vitgeom.seeding import generator_for

MINUTES, SIZES, SEEDS = 20, (200, 600), (0, 1, 2)
EPOCHS, PATIENCE = 20, 6
HELD_OUT = {"seen": 78, "unseen": 80}
VALIDATION, PREFIX = 40, 1
BARS = {"seen": 0.97, "unseen": 0.94}
WORDS = {"seen": "other parts of the photographs of training", "unseen": "photographs never seen"}


def rho(one: Tensor, other: Tensor) -> Tensor:
    """Spearman's over patches, image by image."""
    return rank_correlation(one[:, PREFIX:].double(), other[:, PREFIX:].double()).rho


def head_of(train_set: Labelled, count: int, val: Labelled, *, seed: int) -> ImportanceLearner:
    """Train one head on the first pictures."""
    width = train_set.features.shape[2]
    learner = ImportanceLearner(ImportanceHead(width, num_prefix=PREFIX, seed=seed))
    train(
        learner,
        InMemoryExamples(train_set.first(count)),
        InMemoryExamples(val.first(VALIDATION)),
        TrainingSettings(epochs=EPOCHS, patience=PATIENCE, seed=seed),
    )
    return learner


def measured(file: str, *, minutes: float = MINUTES) -> dict[str, Any]:
    """Label, train at every size, and judge.

    Args:
        file: Weights of the backbone.
        minutes: For labelling the training pictures.
    """
    known = labelled(file, "train", most=10**6, seconds=60 * minutes)
    val = labelled(file, "validation", most=VALIDATION)
    tests = {part: labelled(file, part, most=count) for part, count in HELD_OUT.items()}
    again = {part: labelled(file, part, most=count // 2, seed=1) for part, count in HELD_OUT.items()}
    return judged(known, val, tests, again)


def judged(
    known: Labelled, val: Labelled, tests: dict[str, Labelled], again: dict[str, Labelled]
) -> dict[str, Any]:
    """Train heads and compare what they say with labels.

    Args:
        known: Training pictures.
        val: Decide which epoch is kept.
        tests: Held-out pictures by part.
        again: The first of them, labelled once more.
    """
    most = len(known.features)
    sizes = [*(size for size in SIZES if size < most), most]
    found: dict[str, Any] = {"pictures": most, "seconds": known.seconds, "by_size": {}}
    for size in sizes:
        heads = [head_of(known, size, val, seed=seed) for seed in SEEDS]
        found["by_size"][size] = {part: list(_of_heads(heads, one)) for part, one in tests.items()}
    constant = constant_importance([known.first(most)])
    for part, one in tests.items():
        found[part] = {
            "ceiling": float(
                rho(one.block_norms[: len(again[part].block_norms)], again[part].block_norms).mean()
            ),
            "one map for all images": float(
                rho(constant.expand(len(one.features), -1), one.block_norms).mean()
            ),
            "feature norm": float(rho(feature_norm(one.features.float()), one.block_norms).mean()),
        }
    return found


def _of_heads(heads: list[ImportanceLearner], one: Labelled) -> Iterator[list[float]]:
    examples = InMemoryExamples(one.first(len(one.features)))
    for head in heads:
        yield figures_per_image(head, examples, batch_size=8)["rho"].tolist()


def measure() -> list[Row]:
    """Two rows: one per kind of held-out pictures."""
    torch.set_num_threads(2)
    file = Path(os.environ.get("VITGEOM_WEIGHTS", "../shared/data")) / FILE
    if not file.exists():
        return []
    found = measured(str(file))
    return [row(part, found) for part in HELD_OUT]


def row(part: str, found: dict[str, Any]) -> Row:
    """Return what the table says of one kind of held-out pictures."""
    by_size = {int(size): torch.tensor(values[part]) for size, values in found["by_size"].items()}
    last = by_size[max(by_size)]
    interval = bootstrap_interval(
        last.mean(dim=0).double(), num_resamples=1000, generator=generator_for(0, part)
    )
    curve = ", ".join(f"{size}: {values.mean():.3f}" for size, values in by_size.items())
    return Row(
        name=f"importance head, DINOv2 ViT-S/14, class token from layer {LAYER}: rho over patches, {last.shape[1]} pictures, {WORDS[part]}",
        bar=f">= {BARS[part]}",
        peer=f"{found[part]['one map for all images']:.3f} (one map for all images), {found[part]['feature norm']:.3f} (feature norm)",
        ours=f"{interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f}), deviation {last.mean(dim=0).std():.3f}",
        ratio=float(last.mean()),
        passed=float(last.mean()) >= BARS[part],
        runs=len(SEEDS),
        note=f"by number of training pictures {curve}; ceiling {found[part]['ceiling']:.3f}; labels: {PROBES} products with J^T, {found['seconds'] / 60:.0f} minutes; "
        f"seeds {', '.join(f'{value:.3f}' for value in last.mean(dim=1).tolist())}",
    )


if __name__ == "__main__":
    torch.set_num_threads(2)
    print(json.dumps(measured(str(Path(os.environ.get("VITGEOM_WEIGHTS", "../shared/data")) / FILE))))
