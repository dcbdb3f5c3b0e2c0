"""What every worker of a training does: open the targets, build the model, train from where it stands, and keep each epoch in the store.

The first worker writes: the state of the training (``state.safetensors``) and one small file that says how far it is (``progress.json``). Whoever
comes next, after whatever killed this one, goes on after the last epoch that is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tasks.extract_features import torch_threads
from tasks.metric_request import MetricRequest
from tasks.pinned_targets import pinned_targets
from tasks.target_examples import DIRECTIONS, LEAST, TargetExamples
from vitgeom.errors import CorruptData, InvalidInput
from vitgeom.metric import ImportanceHead, SpectralPullbackNetwork
from vitgeom.metric.training import (
    EpochReport,
    ImportanceLearner,
    Learner,
    SpnLearner,
    TrainingState,
    WorkerGroup,
    train,
)
from vitgeom.store.targets import TargetStore
from vitgeom.store.uri import Root

STATE = "state.safetensors"
PROGRESS = "progress.json"

OnReport = Callable[[EpochReport], None]


def work(
    request: MetricRequest, *, group: WorkerGroup | None = None, on_report: OnReport | None = None
) -> TrainingState:
    """Train to the end, from the state in the store if there is one, and leave the last state there.

    Args:
        request: Which targets, which model.
        group: The workers that share each batch; None: this one alone.
        on_report: Told of every epoch, on every worker.

    Returns:
        The state after the last epoch; the same on all workers.

    Raises:
        InvalidInput: The targets are others than those that were pinned, or hold fewer directions than the model has.
        NumericalFailure: Loss or gradient left the finite numbers.
    """
    target = Root(request.store).join(request.path)
    store = pinned_targets(request.store, request.address, manifest_digest=request.manifest_digest)
    examples = {split: examples_of(request, store, split) for split in ("train", "val")}
    learner = learner_of(request, store)
    writes = group is None or group.rank == 0

    def keep(report: EpochReport, state: TrainingState) -> bool:
        if writes:
            target.write_bytes(STATE, state.to_bytes())
            target.write_bytes(PROGRESS, progress_bytes(request, learner, state))
        if on_report is not None:
            on_report(report)
        return True

    with torch_threads(request.threads):
        trained = train(
            learner,
            examples["train"],
            examples["val"],
            request.settings,
            state=read_state(target),
            on_epoch=keep,
            group=group,
        )
    return trained.state


def learner_of(request: MetricRequest, store: TargetStore) -> Learner:
    """Return the untrained model of a request with its loss.

    Args:
        request: Which one.
        store: Its targets; they say how wide tokens are.

    Raises:
        InvalidInput: A size that the model cannot have.
    """
    width = store.layout.width
    if request.learner == "importance":
        head = ImportanceHead(width, num_prefix=request.num_prefix, seed=request.seed)
        return ImportanceLearner(head)
    if request.rank > store.layout.num_tokens * width:
        raise InvalidInput(
            f"rank must be at most {store.layout.num_tokens * width}, tokens x width, got {request.rank}."
        )
    network = SpectralPullbackNetwork(
        width,
        request.rank,
        num_prefix=request.num_prefix,
        seed=request.seed,
        **request.model.model_dump(),
    )
    return SpnLearner(network, beta=request.settings.beta)


def examples_of(request: MetricRequest, store: TargetStore, split: str) -> TargetExamples:
    """Return one split as the model of a request needs it.

    Args:
        request: Which model.
        store: Its targets.
        split: Which split.

    Raises:
        InvalidInput: Fewer directions are stored than the model has.
    """
    if request.learner == "importance":
        names = {**LEAST, "importance": request.target}
    elif request.rank <= store.layout.rank:
        names = {**LEAST, **DIRECTIONS}
    else:
        raise InvalidInput(
            f"rank must be at most {store.layout.rank}, the directions stored at {store.root.uri}, got {request.rank}. Make targets of a higher rank."
        )
    return TargetExamples(store, split, names=names, keep_bytes=request.keep_bytes)


def read_state(target: Root) -> TrainingState | None:
    """Return the state that was left there; None where there is none, or one that a killed writer left damaged.

    Args:
        target: Place of the results.
    """
    content = target.get(STATE)
    if content is None:
        return None
    try:
        return TrainingState.from_bytes(content, place=f"{target.uri}/{STATE}")
    except CorruptData:
        return None


def progress_bytes(request: MetricRequest, learner: Learner, state: TrainingState) -> bytes:
    """Return how far a training is, for those who watch.

    Args:
        request: Which one.
        learner: Its figure decides.
        state: After the last epoch.
    """
    best = state.best
    content: dict[str, Any] = {
        "epoch": state.epoch,
        "epochs": request.settings.epochs,
        "figure": learner.figure,
        "value": state.history[-1].selection,
        "best": None if best is None else best.selection,
        "finished": state.finished,
    }
    return json.dumps(content, sort_keys=True).encode("ascii")
