"""What a trained model says of test images: its figures image by image, and the importance that it gives to every token.   n = images, N = tokens."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

import torch
from torch import Tensor

from tasks.metric_material import examples_of
from tasks.metric_request import MetricRequest
from vitgeom.metric.training import Learner, figures_per_image
from vitgeom.store.targets import TargetStore

SPLIT = "test"
TIMED = 20
"""Images whose time is taken."""


def judged(request: MetricRequest, learner: Learner, store: TargetStore) -> dict[str, Any]:
    """Return the figures of a trained model on the test images, as plain JSON.

    ``figures`` holds one value per image and figure, None where it is undefined; ``means`` their means; ``importance`` what the model says of every
    token of every image (six digits: more than ranks and pictures need).

    Args:
        request: Which model.
        learner: Its module is trained.
        store: Targets with a test split.
    """
    examples = examples_of(request, store, SPLIT)
    values = figures_per_image(learner, examples, batch_size=request.settings.batch_size)
    return {
        "samples": list(examples.sample_ids),
        "figures": {name: [_plain(value) for value in each.tolist()] for name, each in values.items()},
        "means": {name: _plain(float(each.nanmean())) for name, each in values.items()},
        "importance": [
            [float(f"{value:.6g}") for value in image]
            for rows in torch.arange(examples.num_images).split(request.settings.batch_size)
            for image in importance_of(learner, examples.batch(rows)["features"], grid=request.grid).tolist()
        ],
    }


@torch.no_grad()
def importance_of(learner: Learner, features_BND: Tensor, *, grid: tuple[int, int] | None) -> Tensor:
    """Return the importance [B, N] that a model gives to every token.

    Args:
        learner: Its module returns importance, or a metric that has one.
        features_BND: Tokens.
        grid: Rows and columns of their patches.
    """
    learner.module.eval()
    said = learner.module(features_BND, grid=grid)
    return said if isinstance(said, Tensor) else said.token_importance()


def seconds_per_image(request: MetricRequest, learner: Learner, store: TargetStore) -> float:
    """Return what one answer for one image takes, the median over the first test images; their tokens are there already.

    Args:
        request: Which model.
        learner: Its module is trained.
        store: Targets with a test split.
    """
    rows = torch.arange(min(TIMED, store.splits[SPLIT]))
    tokens = examples_of(request, store, SPLIT).batch(rows)["features"]
    times = []
    for each in (tokens[:1], *tokens.split(1)):  # the first one warms up
        began = time.perf_counter()
        importance_of(learner, each, grid=request.grid)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
