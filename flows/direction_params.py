"""The blocks ``diagnose`` and ``metric`` of ``params.yaml``: to what decoders react, and what is learnt of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, model_validator

from flows.param_types import Block, Count, DatasetNames, Device, NonNegativeInt, Real, once
from vitgeom.errors import nearest

Rank = Annotated[StrictInt, Field(ge=1, le=1024)]
"""So many directions are stored for every image, found or not: more would be no low-rank metric, only memory."""


def _decoder(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a name of vitgeom.decoders.DECODERS, e.g. cls")
    from vitgeom.decoders import DECODERS, OUTPUT_METRICS  # brings torch, which takes seconds to import

    name, colon, metric = value.partition(":")
    if name not in DECODERS:
        raise ValueError(
            f"is no decoder.{nearest(name, sorted(DECODERS))} Known: {', '.join(sorted(DECODERS))}"
        )
    if colon and metric not in OUTPUT_METRICS:
        raise ValueError(
            f"names no output metric after the colon.{nearest(metric, sorted(OUTPUT_METRICS))} Known: {', '.join(sorted(OUTPUT_METRICS))}"
        )
    return value


class Diagnose(Block):
    """Of which decoders, at which layers, on how many test images directions and tokens are looked at; see ``tasks.target_request``.

    ``layers`` counts the blocks that have run before the features. ``datasets`` names those that a whole study diagnoses, too; the command of
    its own takes all.
    """

    datasets: DatasetNames
    decoders: Annotated[
        tuple[Annotated[str, BeforeValidator(_decoder)], ...], AfterValidator(once), Field(min_length=1)
    ]
    layers: Annotated[tuple[NonNegativeInt, ...], AfterValidator(once), Field(min_length=1)]
    images: Count
    rank: Rank
    recipe: Literal["auto", "exact", "krylov", "reference"]
    budget: Count
    storage: Literal["float32", "float16"]
    rows_per_range: Count
    num_bootstrap: Count
    device: Device
    threads: Count


class MetricImages(Block):
    """How many images of each split targets are made of, spread evenly: to learn from, to decide by, to judge on."""

    train: Count
    val: Count
    test: Count


class MetricModel(Block):
    """Sizes of the Spectral Pullback Network."""

    hidden: Count
    heads: Count
    blocks: Count

    @model_validator(mode="after")
    def _heads_divide(self) -> MetricModel:
        if self.hidden % self.heads:
            raise ValueError(f"heads must divide hidden, got {self.heads} and {self.hidden}")
        return self


class MetricTraining(Block):
    """How one model is trained; see ``vitgeom.metric.training.TrainingSettings``."""

    epochs: Count
    batch_size: Count
    learning_rate: Annotated[Real, Field(gt=0)]
    weight_decay: Annotated[Real, Field(ge=0)]
    warm_up: Annotated[Real, Field(ge=0, lt=1)]
    clip_norm: Annotated[Real, Field(gt=0)]
    patience: Count
    beta: Annotated[Real, Field(ge=0)]
    precision: Literal["float32", "bfloat16"]


class BottleneckModel(Block):
    """Sizes and loss of the registers between taps and head, the products of each diagnosis before and after, and what differs from other trainings."""

    registers: Count
    latent: Count
    kl_weight: Annotated[Real, Field(ge=0)]
    task_weight: Annotated[Real, Field(ge=0)]
    budget: Count
    images: Count
    epochs: Count
    learning_rate: Annotated[Real, Field(gt=0)]


class RankSweep(Block):
    """Ranks and widths of the network that are tried, on targets of the highest rank; trials of one rank are compared with each other alone.

    An empty list of ranks means no sweep.
    """

    ranks: Annotated[tuple[Rank, ...], AfterValidator(once)]
    hidden: Annotated[tuple[Count, ...], AfterValidator(once), Field(min_length=1)]
    grace_epochs: Count
    reduction_factor: Annotated[StrictInt, Field(ge=2)]


def _learners(value: Any) -> Any:
    if value == "by_regime":
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be by_regime, or a list of models, e.g. [importance, spn]")
    from vitgeom.metric.choice import LEARNERS  # brings torch, which takes seconds to import

    for name in value:
        if name not in LEARNERS:
            raise ValueError(f"names {name!r}.{nearest(str(name), LEARNERS)} Known: {', '.join(LEARNERS)}")
    return once(tuple(value))


class Metric(Block):
    """Which models learn to what decoders react, from how many images; see ``tasks.metric_request``.

    ``learn: by_regime`` lets the regime that validation images are in decide what is trained. ``datasets`` names those that a whole study trains on,
    too; the command of its own takes all. ``rank`` is that of the targets and of the network.
    """

    datasets: DatasetNames
    decoders: Annotated[
        tuple[Annotated[str, BeforeValidator(_decoder)], ...], AfterValidator(once), Field(min_length=1)
    ]
    layers: Annotated[tuple[NonNegativeInt, ...], AfterValidator(once), Field(min_length=1)]
    images: MetricImages
    rank: Rank
    recipe: Literal["auto", "exact", "krylov", "reference"]
    budget: Count
    storage: Literal["float32", "float16"]
    rows_per_range: Count
    learn: Annotated[str | tuple[str, ...], BeforeValidator(_learners)]
    target: Literal["importance", "block_norms"]
    seeds: Annotated[tuple[NonNegativeInt, ...], AfterValidator(once), Field(min_length=1)]
    model: MetricModel
    training: MetricTraining
    bottleneck: BottleneckModel
    sweep: RankSweep
    num_bootstrap: Count
    workers: Count
    device: Device
    threads: Count
