"""How far the register bottleneck lowers the effective rank (exp of the entropy of the shares of sigma²) of the embedded point-map decoder, and what it costs.

Trained on rendered scenes of a stream of its own; epochs are chosen on another, figures come from the test split of ``scenes``.
``python -m tests.benchmarks.bench_bottleneck`` prints everything that was measured as JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from PIL import Image
from torch import Tensor

from tests.benchmarks.rows import Row
from vitgeom.backbones import Backbone, load_backbone
from vitgeom.data.scenes import render_scene
from vitgeom.decoders import load_decoder
from vitgeom.decoders.training.objectives import points_figures
from vitgeom.metric.bottleneck import (
    BeforeAfter,
    BottleneckLearner,
    JoinedTaps,
    ThroughBottleneck,
    TokenExamples,
    before_after,
    bottleneck_for,
)
from vitgeom.metric.training import TrainingSettings, train
from vitgeom.seeding import generator_for

BACKBONES = ("nano_supervised", "nano_selfsup")
TRAINING, VALIDATION, TEST, BUDGET = 2000, 100, 20, 400
SETTINGS = TrainingSettings(epochs=4, batch_size=16, learning_rate=5e-4)
BAR = 4.0


@dataclass(frozen=True)
class Measured:
    """One backbone.

    Attributes:
        figures: On the test scenes.
        seconds: CPU time of tokens and training, one thread, without rendering.
    """

    figures: BeforeAfter
    seconds: float


def scenes(backbone: Backbone, stream: str, count: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield (pixels, points in camera coordinates) of the first scenes of a stream."""
    for index in range(count):
        scene = render_scene(0, index, stream=stream)
        points = torch.from_numpy(scene.points_camera.transpose(2, 0, 1)).float()
        yield backbone.preprocess(Image.fromarray(scene.image)), points


def measured(name: str) -> Measured:
    """Train a bottleneck for one backbone's point-map decoder and diagnose it."""
    backbone = load_backbone(name)
    joined = JoinedTaps(load_decoder("scenes_points", backbone, layer=backbone.spec.num_blocks))
    pictures = [
        [pixels for pixels, _ in scenes(backbone, stream, count)]
        for stream, count in (("bottleneck", TRAINING), ("bottleneck validation", VALIDATION))
    ]
    start = time.process_time()
    examples, held_out = (TokenExamples(joined, part) for part in pictures)
    learner = BottleneckLearner(bottleneck_for(joined), joined)
    train(learner, examples, held_out, SETTINGS)
    seconds = time.process_time() - start
    tested = list(scenes(backbone, "test", TEST))
    figures = before_after(
        ThroughBottleneck(joined, learner.module),
        [pixels for pixels, _ in tested],
        truths=[points for _, points in tested],
        truth_figures=points_figures,
        budget=BUDGET,
        generator=generator_for(0, "bottleneck benchmark", name),
    )
    return Measured(figures, seconds)


def measure() -> list[Row]:
    """Return the fall of the entropy rank for each backbone."""
    torch.set_num_threads(1)
    return [_row(name, measured(name)) for name in BACKBONES]


def _row(name: str, found: Measured) -> Row:
    figures = found.figures
    fall = figures.fall["entropy_rank"]
    assert fall is not None
    before, after = (stage.diagnosis.figures["entropy_rank"] for stage in (figures.before, figures.after))
    assert before is not None
    assert after is not None
    original, rebuilt = figures.truth["relative error"]
    return Row(
        name=f"register bottleneck, scenes_points on {name}: entropy rank of the Jacobian, {figures.images} test scenes",
        bar=f">= {BAR:g}",
        peer=f"{before.mean.value:.1f} before",
        ours=f"{after.mean.value:.1f} after",
        ratio=fall.value,
        passed=fall.value >= BAR,
        runs=figures.images,
        note=f"share of variance not rebuilt {figures.rebuild_error.mean.value:.3f}, of the output {figures.task_error.mean.value:.3f}; "
        f"relative point error {original.mean.value:.3f} -> {rebuilt.mean.value:.3f}; {found.seconds / 60:.1f} min of one CPU thread",
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for backbone_name in BACKBONES:
        one = measured(backbone_name)
        print(
            json.dumps({"backbone": backbone_name, "seconds": one.seconds, **one.figures.to_json()}),
            flush=True,
        )
