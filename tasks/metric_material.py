"""The model of a request, untrained, with its loss, and the targets that it is trained on."""

from __future__ import annotations

from tasks.metric_request import MetricRequest
from tasks.pinned_targets import pinned_targets
from tasks.target_examples import DIRECTIONS, LEAST, TargetExamples
from tasks.training_work import Material
from vitgeom.errors import InvalidInput
from vitgeom.metric import ImportanceHead, SpectralPullbackNetwork
from vitgeom.metric.training import ImportanceLearner, Learner, SpnLearner
from vitgeom.store.targets import TargetStore


def material_of(request: MetricRequest) -> Material:
    """Open the targets and build the model.

    Args:
        request: Which targets, which model.

    Raises:
        InvalidInput: The targets are others than those that were pinned, or hold fewer directions than the model has.
    """
    store = pinned_targets(request.store, request.address, manifest_digest=request.manifest_digest)
    return Material(
        learner_of(request, store), examples_of(request, store, "train"), examples_of(request, store, "val")
    )


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
        return ImportanceLearner(head, grid=request.grid)
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
    return SpnLearner(network, beta=request.settings.beta, grid=request.grid)


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
