"""Task: one learnt metric on a set of targets (B8, B9 of the methods), trained, judged on test images, and stored.

The same training runs in this process or on the workers of Ray Train (``tasks.cluster.training``); it goes on after the last finished epoch whoever was
killed meanwhile.
"""

from __future__ import annotations

import time

from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.metric_judgement import judged, seconds_per_image
from tasks.metric_material import learner_of
from tasks.metric_request import MetricRequest
from tasks.pinned_targets import pinned_targets
from tasks.receipt import Receipt
from tasks.stored_results import finished_results, json_bytes, receipt_of, write_results
from tasks.target_examples import split_bytes
from tasks.training_work import TrainingRequest, forget_state, train_to_the_end
from vitgeom.metric.saving import packed_model
from vitgeom.store.targets import open_targets
from vitgeom.store.uri import Root

MODEL, HISTORY, TEST = "model.safetensors", "history.json", "test.json"

TRAINING_COPIES = 12
"""Of a batch's directions at once: projections, orthonormal forms, their gradients, in float32 and the small part of it in float64."""


def run(request: MetricRequest) -> Receipt:
    """Train, judge, time and store one model unless it is there already.

    Written to ``request.path``: the model, its history (an entry per epoch), its figures on each test image, and ``done.json`` last. The
    state of the training lies beside them until then.

    Args:
        request: Which targets, which model.

    Returns:
        Digest over the files; ``detail`` holds the figures, epochs and parameters.

    Raises:
        InvalidInput: Targets or sizes that do not fit.
        NumericalFailure: Loss or gradient left the finite numbers.
    """
    target = Root(request.store).join(request.path)
    record = finished_results(target, required=(MODEL, HISTORY, TEST))
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    store = pinned_targets(request.store, request.address, manifest_digest=request.manifest_digest)
    began = time.perf_counter()
    state = train_to_the_end(request)
    learner = learner_of(request, store)
    learner.module.load_state_dict(dict(state.best_weights or state.weights))
    with torch_threads(request.threads):
        figures, taken = judged(request, learner, store), seconds_per_image(request, learner, store)
    history = [report.to_json() for report in state.history]
    record = write_results(
        target,
        {
            MODEL: packed_model(learner.module),
            HISTORY: json_bytes({"epochs": history, "request": request.content()}),
            TEST: json_bytes(figures),
        },
        rows=sum(store.splits.values()),
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        detail={
            "learner": request.learner,
            "seed": request.seed,
            "epochs": len(history),
            "best_epoch": state.best.epoch if state.best else None,
            "parameters": sum(weights.numel() for weights in learner.module.parameters()),
            "figures": figures["means"],
            "seconds_per_image": taken,
        },
    )
    forget_state(target)
    return receipt_of(request, target, record, cached=False)


def memory(request: MetricRequest) -> int:
    """Return an upper estimate of the peak bytes of one worker: the targets that are kept, and a batch with its gradients."""
    store = open_targets(Root(request.store), request.address)
    names = ["features", "importance", "num_found"]
    if request.learner == "spn":
        names += ["right_vectors", "singular_values"]
    splits = {split: split_bytes(store, split, names) for split in ("train", "val", "test")}
    kept = sum(size for size in splits.values() if size <= request.keep_bytes)
    layout = store.layout
    columns = request.rank if request.learner == "spn" else 1
    tokens = layout.num_tokens * (
        layout.width * (columns + 4) + 16 * request.model.hidden + 8 * layout.num_tokens
    )
    return PROCESS_BYTES + kept + TRAINING_COPIES * 4 * tokens * request.settings.batch_size


def own_cpus(request: TrainingRequest) -> float:
    """Return the CPUs of the unit itself; where Ray Train has workers of its own, they ask for theirs."""
    return 0.0 if request.trainer == "ray" else float(request.threads)


def own_gpus(request: TrainingRequest) -> float:
    """Return the GPUs of the unit itself, likewise."""
    return 1.0 if request.trainer == "here" and request.settings.device.startswith("cuda") else 0.0
