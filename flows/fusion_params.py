"""The blocks ``fusion`` and ``sweep`` of ``params.yaml``: which ways to use all layers are compared, and which settings are tried."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictInt, field_validator

from flows.param_types import Block, Count, DatasetNames, Device, NonNegativeInt, Real, Text

ANY_DEPTH = 1000
"""More layers than any backbone has: with it a selection is checked by its form alone."""

Layers = Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]


def _layer_scaling(value: Any) -> Any:
    is_temperature = (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    )
    if value not in ("quality", "none") and not is_temperature:
        raise ValueError("must be quality, none, or a temperature of at least 0")
    return value


def _methods(value: Any) -> Any:
    if value == "all":
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be all, or a list of methods, e.g. [best_layer, vfusion]")
    from vitgeom.fusion.methods import method  # brings torch, which takes seconds to import

    several = [name for name in value if method(name).several_backbones]
    if several:
        raise ValueError(f"{several[0]} takes several backbones and is compared by itself; leave it out")
    if len(set(value)) < len(value):
        raise ValueError("each method may be named once")
    return tuple(value)


class Encoder(Block):
    """VFusion's encoder and head; a method that is defined by one of these numbers keeps its own."""

    layer_scaling: Annotated[str | float, BeforeValidator(_layer_scaling)]
    latent_dim: Count | None
    hidden_dim: NonNegativeInt
    orth_weight: Annotated[Real, Field(ge=0)]
    dropout: Annotated[Real, Field(ge=0, lt=1)]
    l2: Annotated[Real, Field(ge=0)]
    learning_rate: Annotated[Real, Field(gt=0)]
    max_epochs: NonNegativeInt
    patience: Count
    batch_size: Count | None
    components: Count


class Gate(Block):
    """The nets that weigh layers image by image."""

    components: Count
    hidden_dim: Count
    dropout: Annotated[Real, Field(ge=0, lt=1)]
    learning_rate: Annotated[Real, Field(gt=0)]
    weight_decay: Annotated[Real, Field(ge=0)]
    batch_size: Count
    max_epochs: Count
    patience: Count


class Concatenation(Block):
    """Softmax regression on layers side by side."""

    l2: tuple[Annotated[Real, Field(gt=0)], ...] = Field(min_length=1)
    max_components: Count


class Fusion(Block):
    """Which methods are compared, and how they are fitted; token, penalties and tolerance of the probes are those of ``probe``.

    ``methods: all`` takes every method of ``vitgeom.fusion.methods`` for one backbone.
    """

    methods: Annotated[str | tuple[str, ...], BeforeValidator(_methods)]
    seeds: tuple[NonNegativeInt, ...] = Field(min_length=1)
    num_folds: Annotated[StrictInt, Field(ge=2)]
    fold_tol: Annotated[Real, Field(gt=0)]
    num_bootstrap: Count
    device: Device
    threads: Count
    encoder: Encoder
    gate: Gate
    concatenation: Concatenation

    @field_validator("seeds")
    @classmethod
    def _no_seed_twice(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) != len(seeds):
            raise ValueError("each seed may be named once")
        return seeds


def _selection(value: Any) -> Any:
    if not isinstance(value, str):
        return value  # layers by number; whether a backbone has them is told when it is known
    from vitgeom.fusion.selection import select_layers  # brings torch, which takes seconds to import

    select_layers(value, num_layers=ANY_DEPTH)
    return value


class SweepSpace(Block):
    """Values of VFusion's settings that a sweep combines; see ``vitgeom.fusion.vfusion.VFusionClassifier``."""

    selection: tuple[Annotated[Text | Layers, BeforeValidator(_selection)], ...] = Field(min_length=1)
    layer_scaling: tuple[Literal["quality", "none"] | Annotated[Real, Field(ge=0)], ...] = Field(min_length=1)
    latent_dim: tuple[Count | None, ...] = Field(min_length=1)
    orth_weight: tuple[Annotated[Real, Field(ge=0)], ...] = Field(min_length=1)
    hidden_dim: tuple[NonNegativeInt, ...] = Field(min_length=1)


class Sweep(Block):
    """Which settings of VFusion are tried, and when a trial is given up; see ``tasks.sweep_request.SweepRequest``.

    All other settings, such as epochs and folds, are those of ``fusion``, and those of the probes are those of ``probe``. ``datasets`` names
    those that a whole study sweeps, too; the command of its own takes all.
    """

    datasets: DatasetNames
    space: SweepSpace
    num_samples: Count | None
    early_stopping: Literal["asha", "none"]
    grace_epochs: Count
    reduction_factor: Annotated[StrictInt, Field(ge=2)]
    metric: Literal["log_loss", "accuracy"]
    threads: Count
