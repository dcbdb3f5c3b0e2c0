from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.training.toy_learner import ToyLearner, toy_examples
from vitgeom.metric.training import InMemoryExamples, figures_per_image, judge
from vitgeom.metric.training.judgement import selection


@pytest.mark.parametrize("batch_size", [1, 2, 50])
def test_figures_are_those_of_each_image_alone(batch_size: int) -> None:
    learner, examples = ToyLearner(), toy_examples(5)
    found = figures_per_image(learner, examples, batch_size=batch_size)["closeness"]
    for row in range(5):
        alone = learner.judge(examples.batch(torch.tensor([row])))["closeness"].detach()
        assert float(found[row]) == pytest.approx(alone.item(), rel=1e-4)
    assert not learner.module.training
    assert not found.requires_grad


def test_undefined_images_are_left_out_of_the_mean() -> None:
    arrays = toy_examples(4).batch(torch.arange(4))
    arrays["wanted"][2] = 0.0  # the toy learner has no figure for it
    learner, examples = ToyLearner(), InMemoryExamples(arrays)
    figure = judge(learner, examples, batch_size=3)["closeness"]
    values = figures_per_image(learner, examples, batch_size=3)["closeness"]
    assert values.isnan().tolist() == [False, False, True, False]
    assert figure.images == 3
    assert selection({"closeness": figure}, learner=learner) == pytest.approx(float(values.nanmean()))
