"""From parameters to what is asked of the tasks that learn metrics: targets, models, and a sweep over ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flows.cell import Cell
from flows.study import Resolved
from tasks.bottleneck_request import BottleneckRequest
from tasks.metric_request import LearnerName, MetricRequest, ModelSettings
from tasks.rank_sweep_request import RankSweepRequest
from tasks.receipt import Receipt
from tasks.target_images import spread_images
from tasks.target_request import DecoderRef, TargetSettings

SPLITS = ("train", "val", "test")


def target_settings(wanted: Resolved, *, again: bool) -> TargetSettings:
    """Return how targets are made; a second, independent estimate is of the test images alone.

    Args:
        wanted: The study.
        again: Whether it is the second estimate.
    """
    params = wanted.params
    splits = ("test",) if again else SPLITS
    return TargetSettings(
        splits=splits,
        images={split: getattr(params.metric.images, split) for split in splits},
        seed=params.seed + again,
        checks=False,
        image_size=params.extract.image_size,
        **params.metric.model_dump(
            include={"rank", "recipe", "budget", "storage", "rows_per_range", "device", "threads"}
        ),
    )


def request_for(
    sealed: Receipt, learner: LearnerName, *, seed: int, num_prefix: int, wanted: Resolved
) -> MetricRequest:
    """Return the request of one model.

    Args:
        sealed: Seal of its targets.
        learner: Which model.
        seed: Of weights and batches.
        num_prefix: Tokens that are no patches.
        wanted: The study.
    """
    params = wanted.params.metric
    on_ray = wanted.params.engine.kind == "ray"
    training: dict[str, Any] = {**params.training.model_dump(), "device": params.device}
    return MetricRequest(
        store=wanted.store,
        address=sealed.detail["address"],
        manifest_digest=sealed.digest,
        learner=learner,
        target=params.target,
        rank=params.rank,
        num_prefix=num_prefix,
        model=ModelSettings(**params.model.model_dump()),
        training=training,
        seed=seed,
        trainer="ray" if on_ray else "here",
        workers=params.workers if on_ray else 1,
        threads=params.threads,
    )


def rank_request_for(sealed: Receipt, *, num_prefix: int, wanted: Resolved) -> RankSweepRequest:
    """Return the request of a sweep over ranks.

    Args:
        sealed: Seal of its targets.
        num_prefix: Tokens that are no patches.
        wanted: The study.
    """
    params = wanted.params.metric
    return RankSweepRequest(
        store=wanted.store,
        address=sealed.detail["address"],
        manifest_digest=sealed.digest,
        ranks=tuple(sorted(params.sweep.ranks)),
        hidden=tuple(sorted(params.sweep.hidden)),
        heads=params.model.heads,
        blocks=params.model.blocks,
        num_prefix=num_prefix,
        training={**params.training.model_dump(), "device": params.device},
        seed=params.seeds[0],
        grace_epochs=params.sweep.grace_epochs,
        reduction_factor=params.sweep.reduction_factor,
        threads=params.threads,
    )


def bottleneck_request_for(
    cell: Cell,
    decoder: DecoderRef,
    *,
    dataset_digest: str,
    weights_digest: str,
    sizes: Mapping[str, int],
    wanted: Resolved,
) -> BottleneckRequest:
    """Return the request of a bottleneck.

    Args:
        cell: Which dataset and backbone.
        decoder: Which head.
        dataset_digest: Of the images.
        weights_digest: Of the backbone.
        sizes: Images of each split of the dataset.
        wanted: The study.
    """
    params = wanted.params.metric
    on_ray = wanted.params.engine.kind == "ray"
    return BottleneckRequest(
        store=wanted.store,
        label=cell.path,
        dataset=cell.dataset_ref.to_json(),
        dataset_digest=dataset_digest,
        backbone=cell.backbone_ref.at_size(wanted.params.extract.image_size).to_json(),
        weights_digest=weights_digest,
        decoder=decoder.name,
        metric=decoder.metric,
        images={split: spread_images(sizes[split], count=getattr(params.images, split)) for split in SPLITS},
        **params.bottleneck.model_dump(),
        **params.model_dump(include={"rank", "recipe", "num_bootstrap", "threads"}),
        training={**params.training.model_dump(), "device": params.device},
        seed=params.seeds[0],
        trainer="ray" if on_ray else "here",
        workers=params.workers if on_ray else 1,
    )
