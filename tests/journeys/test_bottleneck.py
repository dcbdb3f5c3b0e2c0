"""From pictures to fewer directions: the embedded point-map decoder, a bottleneck learnt from a few scenes, a file, and figures on others."""

from __future__ import annotations

import pytest
import torch
from PIL import Image

from vitgeom.backbones import load_backbone
from vitgeom.data.scenes import render_scene
from vitgeom.decoders import load_decoder
from vitgeom.decoders.training.objectives import points_figures
from vitgeom.metric import save
from vitgeom.metric.bottleneck import (
    BottleneckLearner,
    FromLatents,
    JoinedTaps,
    ThroughBottleneck,
    TokenExamples,
    before_after,
    bottleneck_for,
    load_bottleneck,
)
from vitgeom.metric.training import TrainingSettings, train

pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning"),
]


def test_directions_fall_and_errors_stand_beside_them(tmp_path):
    backbone = load_backbone("nano_supervised")
    joined = JoinedTaps(load_decoder("scenes_points", backbone, layer=6))

    def pixels(stream: str, count: int):
        for index in range(count):
            yield backbone.preprocess(Image.fromarray(render_scene(0, index, stream=stream).image))

    learner = BottleneckLearner(bottleneck_for(joined, principal=64), joined)
    examples = TokenExamples(joined, pixels("bottleneck", 120))
    held_out = TokenExamples(joined, pixels("bottleneck validation", 10))
    trained = train(
        learner, examples, held_out, TrainingSettings(epochs=1, batch_size=40, learning_rate=1e-4)
    )
    assert trained.best is not None
    vae = load_bottleneck(save(learner.module, tmp_path / "bottleneck.safetensors"), joined)
    through = ThroughBottleneck(joined, vae)
    points = render_scene(0, 0, stream="test").points_camera.transpose(2, 0, 1)
    found = before_after(
        through,
        pixels("test", 1),
        truths=[torch.from_numpy(points).float()],
        truth_figures=points_figures,
        budget=120,
        generator=torch.Generator().manual_seed(0),
    )
    assert found.after.diagnosis.figures["norm"] is not None
    assert found.fall["entropy_rank"].value > 3
    assert found.fall["participation_ratio"].value > 3
    assert found.rebuild_error.mean.value < 0.6
    assert found.task_error.mean.value < 0.6
    original, rebuilt = found.truth["relative error"]
    assert rebuilt.mean.value < 3 * original.mean.value
    assert FromLatents(through).features_shape == (32, 128)


def test_a_picture_of_another_size_goes_through_the_same_bottleneck():
    """8 x 8 patches in training, 6 x 10 afterwards: the backbone and the bottleneck both take them."""
    small = JoinedTaps(load_decoder("scenes_points", load_backbone("nano_supervised"), layer=12))
    wide_backbone = load_backbone("nano_supervised", image_size=(48, 80))
    wide = JoinedTaps(load_decoder("scenes_points", wide_backbone, layer=12))
    through = ThroughBottleneck(wide, bottleneck_for(small))
    bound = through.at(torch.zeros(3, 48, 80))
    assert bound.features.shape == (1 + 60, 384)
    assert bound(bound.features).shape == (3, 48, 80)
