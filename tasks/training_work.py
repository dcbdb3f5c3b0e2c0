"""What every worker of a training does: build the model, train from where it stands, and keep each epoch in the store.

The first worker writes: the state of the training (``state.safetensors``) and one small file that says how far it is (``progress.json``). Whoever
comes next, after whatever killed this one, goes on after the last epoch that is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tasks.extract_features import torch_threads
from tasks.request import Request
from vitgeom.errors import CorruptData, UnknownName
from vitgeom.metric.training import (
    EpochReport,
    Examples,
    Learner,
    TrainingSettings,
    TrainingState,
    WorkerGroup,
    train,
)
from vitgeom.store.uri import Root

STATE = "state.safetensors"
PROGRESS = "progress.json"

OnReport = Callable[[EpochReport], None]


class TrainingRequest(Protocol):
    """What every request for a training has; see ``tasks.metric_request``."""

    @property
    def task(self) -> str:
        """Name in the catalogue."""
        ...

    @property
    def key(self) -> str:
        """Readable name of the unit."""
        ...

    @property
    def store(self) -> str:
        """URI of the store's root."""
        ...

    @property
    def path(self) -> str:
        """Place of the results below it."""
        ...

    @property
    def threads(self) -> int:
        """Of each worker."""
        ...

    @property
    def workers(self) -> int:
        """That share each batch."""
        ...

    @property
    def trainer(self) -> str:
        """``here`` or ``ray``."""
        ...

    @property
    def settings(self) -> TrainingSettings:
        """How the model is trained."""
        ...

    def model_dump_json(self) -> str:
        """Return the request as JSON."""
        ...


@dataclass(frozen=True)
class Material:
    """A model with its loss, and what it is trained on.

    Attributes:
        learner: Untrained.
        train: Images to learn from.
        val: Held-out images, which decide which epoch was best.
    """

    learner: Learner
    train: Examples
    val: Examples


@dataclass(frozen=True)
class TrainingKind:
    """One kind of training.

    Attributes:
        request: Its requests.
        material: What is trained, from a request.
        memory: Peak bytes of one worker, from a request.
    """

    request: type[Request]
    material: Callable[[Any], Material]
    memory: Callable[[Any], int]


def kind_of(task: str) -> TrainingKind:
    """Return the kind of training that a task is.

    Args:
        task: Its name in the catalogue.

    Raises:
        UnknownName: It is no training.
    """
    # Only here: these modules need this one.
    from tasks import bottleneck_material, metric_material, train_bottleneck, train_metric
    from tasks.bottleneck_request import BottleneckRequest
    from tasks.metric_request import MetricRequest

    kinds = {
        MetricRequest.task: TrainingKind(MetricRequest, metric_material.material_of, train_metric.memory),
        BottleneckRequest.task: TrainingKind(
            BottleneckRequest, bottleneck_material.material_of, train_bottleneck.memory
        ),
    }
    if task not in kinds:
        raise UnknownName("training", task, kinds)
    return kinds[task]


def work(
    request: TrainingRequest, *, group: WorkerGroup | None = None, on_report: OnReport | None = None
) -> TrainingState:
    """Train to the end, from the state in the store if there is one, and leave the last state there.

    Args:
        request: Which model, on what.
        group: The workers that share each batch; None: this one alone.
        on_report: Told of every epoch, on every worker.

    Returns:
        The state after the last epoch; the same on all workers.

    Raises:
        InvalidInput: What the request names cannot be had, or does not fit.
        NumericalFailure: Loss or gradient left the finite numbers.
    """
    target = Root(request.store).join(request.path)
    writes = group is None or group.rank == 0
    with torch_threads(request.threads):
        material = kind_of(request.task).material(request)

        def keep(report: EpochReport, state: TrainingState) -> bool:
            if writes:
                target.write_bytes(STATE, state.to_bytes())
                target.write_bytes(PROGRESS, progress_bytes(request, material.learner, state))
            if on_report is not None:
                on_report(report)
            return True

        trained = train(
            material.learner,
            material.train,
            material.val,
            request.settings,
            state=read_state(target),
            on_epoch=keep,
            group=group,
        )
    return trained.state


def train_to_the_end(request: TrainingRequest) -> TrainingState:
    """Train here or with Ray Train, as the request says, and return the state at the end.

    Args:
        request: Which model, on what.

    Raises:
        VitgeomError: What a worker raised.
    """
    if request.trainer == "ray":
        # Only here, so that whoever trains here never loads Ray.
        from tasks.cluster.training import train_on_ray

        train_on_ray(request, worker_bytes=kind_of(request.task).memory(request))
    else:
        work(request)
    state = read_state(Root(request.store).join(request.path))
    assert state is not None, "a training that came to its end left its state"
    return state


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


def forget_state(target: Root) -> None:
    """Remove what only an unfinished training needs.

    Args:
        target: Place of the results.
    """
    for name in (STATE, PROGRESS):
        target.remove(name)


def progress_bytes(request: TrainingRequest, learner: Learner, state: TrainingState) -> bytes:
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
