"""From parameters to what is asked of the tasks that learn metrics: targets, models, and a sweep over ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True)
class Places:
    """What tokens are: how many at the start are no patches, and how the others lie (rows, columns); latents lie nowhere."""

    num_prefix: int = 0
    grid: tuple[int, int] | None = None


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


def latents_settings(wanted: Resolved, *, again: bool) -> TargetSettings:
    """Return how targets of a bottleneck's latents are made: no more directions than there are latents.

    Args:
        wanted: The study.
        again: Whether it is the second estimate.
    """
    settings, shape = target_settings(wanted, again=again), wanted.params.metric.bottleneck
    return settings.model_copy(update={"rank": min(settings.rank, shape.registers * shape.latent)})


def request_for(
    sealed: Receipt, learner: LearnerName, places: Places, *, seed: int, wanted: Resolved
) -> MetricRequest:
    """Return the request of one model.

    Args:
        sealed: Seal of its targets.
        learner: Which model.
        places: What its tokens are.
        seed: Of weights and batches.
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
        rank=min(params.rank, sealed.detail["rank"]),
        **asdict(places),
        model=ModelSettings(**params.model.model_dump()),
        training=training,
        seed=seed,
        trainer="ray" if on_ray else "here",
        workers=params.workers if on_ray else 1,
        threads=params.threads,
    )


def rank_request_for(sealed: Receipt, places: Places, *, wanted: Resolved) -> RankSweepRequest:
    """Return the request of a sweep over ranks.

    Args:
        sealed: Seal of its targets.
        places: What its tokens are.
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
        **asdict(places),
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
    params, own = wanted.params.metric, {"epochs", "learning_rate"}
    images = {**params.images.model_dump(), "train": params.bottleneck.images}
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
        images={split: spread_images(sizes[split], count=count) for split, count in images.items()},
        **params.bottleneck.model_dump(exclude=own | {"images"}),
        **params.model_dump(include={"rank", "recipe", "num_bootstrap", "threads"}),
        training={
            **params.training.model_dump(),
            **params.bottleneck.model_dump(include=own),
            "device": params.device,
        },
        seed=params.seeds[0],
        trainer="ray" if on_ray else "here",
        workers=params.workers if on_ray else 1,
    )
