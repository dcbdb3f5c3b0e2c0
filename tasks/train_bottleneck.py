"""Task: a register bottleneck in front of a head (B10 of the methods), trained, and what it does to the directions on test images."""

from __future__ import annotations

import time

from tasks.bottleneck_material import joined_of, learner_of, pictures
from tasks.bottleneck_request import BottleneckRequest
from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.receipt import Receipt
from tasks.stored_results import finished_results, json_bytes, receipt_of, write_results
from tasks.training_work import forget_state, train_to_the_end
from vitgeom.metric.bottleneck import ThroughBottleneck, before_after
from vitgeom.metric.saving import packed_model
from vitgeom.seeding import generator_for
from vitgeom.store.uri import Root

MODEL, HISTORY, FIGURES = "model.safetensors", "history.json", "before_after.json"

PASSES = 40
"""Copies of a batch's tokens alive at once: activations of encoder, decoder and head with their gradients, in float32s."""
BASES = 6
"""Bases of the diagnosis alive at once."""


def run(request: BottleneckRequest) -> Receipt:
    """Train, diagnose before and after, and store, unless it is there already.

    Written to ``request.path``: the model, its history, its figures on the test images, and ``done.json`` last.

    Args:
        request: Which images, which head.

    Returns:
        Digest over the files; ``detail`` holds the main figures.

    Raises:
        InvalidInput: Data, weights or sizes do not fit.
        NumericalFailure: Loss, gradient or a product left the finite numbers.
    """
    target = Root(request.store).join(request.path)
    record = finished_results(target, required=(MODEL, HISTORY, FIGURES))
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    began = time.perf_counter()
    state = train_to_the_end(request)
    joined = joined_of(request)
    learner = learner_of(request, joined)
    learner.module.load_state_dict(dict(state.best_weights or state.weights))
    learner.module.eval()
    with torch_threads(request.threads):
        found = before_after(
            ThroughBottleneck(joined, learner.module),
            pictures(request, joined, "test"),
            metric=request.metric,
            rank=request.rank,
            recipe=request.recipe,
            budget=request.budget,
            num_resamples=request.num_bootstrap,
            generator=generator_for(request.seed, "before and after"),
        )
    history = [report.to_json() for report in state.history]
    record = write_results(
        target,
        {
            MODEL: packed_model(learner.module),
            HISTORY: json_bytes({"epochs": history, "request": request.content()}),
            FIGURES: json_bytes(found.to_json()),
        },
        rows=sum(len(rows) for rows in request.images.values()),
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        detail={
            "learner": "bottleneck",
            "seed": request.seed,
            "epochs": len(history),
            "best_epoch": state.best.epoch if state.best else None,
            "parameters": sum(weights.numel() for weights in learner.module.parameters()),
            "figures": {
                "rebuild_error": found.rebuild_error.mean.value,
                "task_error": found.task_error.mean.value,
                **{f"fall.{name}": None if each is None else each.value for name, each in found.fall.items()},
            },
        },
    )
    forget_state(target)
    return receipt_of(request, target, record, cached=False)


def memory(request: BottleneckRequest) -> int:
    """Return an upper estimate of the peak bytes of one worker: activations of a batch, or the bases of a diagnosis."""
    joined = joined_of(request)
    count, width = joined.features_shape
    batch = PASSES * 4 * request.settings.batch_size * (count * width + 16 * 128 * count)
    pixels = joined.backbone.spec.image_size[0] * joined.backbone.spec.image_size[1]
    bases = BASES * 4 * max(request.budget, request.rank) * (count * width + 3 * pixels)
    return PROCESS_BYTES + batch + bases
