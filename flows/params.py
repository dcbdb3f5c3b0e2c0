"""The parameters of a study as frozen models: one class per block of ``params.yaml``.

Every key is required and every unknown key is refused, so the file says all that a run depends on and nothing else. Numbers carry their
range. Reading the file, choosing a profile and explaining what is wrong with a value is ``flows.profiles``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from flows.direction_params import Diagnose, Metric
from flows.fusion_params import Fusion, Sweep
from flows.param_types import Block, Count, DatasetNames, Device, NonNegativeInt, Real, Scalar, Text, once
from vitgeom.errors import nearest


def _corruption(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a name of vitgeom.data.corruptions.CORRUPTIONS, e.g. contrast")
    from vitgeom.data.corruptions import corruption_named  # brings numpy and Pillow

    return corruption_named(value).name


class Named(Block):
    """A dataset or a backbone, with options of its own where it takes any: ``{name: noise, options: {n: 60}}``."""

    name: Text
    options: dict[str, Scalar] = Field(default_factory=dict)


class NamedBackbone(Named):
    """A backbone; ``file`` names its weights in the folder ``VITGEOM_WEIGHTS``, where they are looked for first."""

    file: Text | None = None


def named(value: Any) -> Any:
    """Read a bare name as an entry without options."""
    return {"name": value} if isinstance(value, str) else value


DatasetChoice = Annotated[Named, BeforeValidator(named)]
BackboneChoice = Annotated[NamedBackbone, BeforeValidator(named)]


class Extract(Block):
    """How features are read off a backbone.

    ``tokens``, ``token_layers``, ``precision``, ``storage`` and ``image_size`` belong to the address of the stored features; the other
    fields say only how the work is cut and where it runs. ``token_layers`` names layers, counted from 1, all of whose tokens are stored,
    too; whether a backbone has them is told when its work is planned.
    """

    tokens: tuple[Literal["cls", "mean"], ...] = Field(min_length=1)
    token_layers: tuple[Count, ...]
    precision: Literal["float32", "bfloat16", "float16"]
    storage: Literal["float32", "float16"]
    batch_size: Count
    rows_per_range: Count
    image_size: Count | None
    device: Device
    threads: Count

    @field_validator("tokens")
    @classmethod
    def _no_token_twice(cls, tokens: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(tokens)) != len(tokens):
            raise ValueError("each kind of token may be named once")
        return tokens

    @field_validator("token_layers")
    @classmethod
    def _first_to_last(cls, layers: tuple[int, ...]) -> tuple[int, ...]:
        if list(layers) != sorted(set(layers)):
            raise ValueError("layers must rise from one to the next")
        return layers


class Probe(Block):
    """How the linear probe of each layer is fitted: penalties to choose from, tolerance, and what counts as the last layer."""

    token: Literal["cls", "mean"]
    last_layer: Literal["normed", "raw"]
    l2: tuple[Annotated[Real, Field(gt=0)], ...] = Field(min_length=1)
    tol: Annotated[Real, Field(gt=0)]
    max_iter: Count
    refit: StrictBool
    threads: Count

    @field_validator("l2")
    @classmethod
    def _rising(cls, l2: tuple[float, ...]) -> tuple[float, ...]:
        if list(l2) != sorted(set(l2)):
            raise ValueError("penalties must rise from one to the next")
        return l2


class Recoverability(Block):
    """How many resamples of the test images stand behind each interval."""

    num_bootstrap: Count


class Shift(Block):
    """On which damaged test pictures fitted classifiers are evaluated: each corruption at each severity. An empty list means none.

    ``datasets`` names those that a whole study evaluates, too; the command of its own takes all.
    """

    datasets: DatasetNames
    corruptions: Annotated[tuple[Annotated[str, BeforeValidator(_corruption)], ...], AfterValidator(once)]
    severities: Annotated[tuple[Annotated[StrictInt, Field(ge=1, le=5)], ...], AfterValidator(once)]


class Engine(Block):
    """Where the work runs; ``address`` is ``local`` (a private Ray) or names a cluster, never "whatever is found"."""

    kind: Literal["serial", "ray"]
    address: Text
    num_cpus: Count | None
    max_in_flight: Count
    retries: NonNegativeInt

    @property
    def is_here(self) -> bool:
        """Whether the work runs on this machine, so that what it lacks can be told at once."""
        return self.kind == "serial" or self.address == "local"


class Tracking(Block):
    """Where MLflow keeps the runs; ``uri: null`` means ``MLFLOW_TRACKING_URI``, or else ``mlflow.db`` in the current folder."""

    experiment: Annotated[StrictStr, Field(min_length=1, max_length=500)]
    uri: Text | None


class Profile(Block):
    """Every number that one study depends on."""

    seed: NonNegativeInt
    datasets: tuple[DatasetChoice, ...] = Field(min_length=1)
    backbones: tuple[BackboneChoice, ...] = Field(min_length=1)
    extract: Extract
    probe: Probe
    recoverability: Recoverability
    fusion: Fusion
    sweep: Sweep
    shift: Shift
    diagnose: Diagnose
    metric: Metric
    engine: Engine
    tracking: Tracking

    @model_validator(mode="after")
    def _steps_on_own_datasets(self) -> Profile:
        own = [choice.name for choice in self.datasets]
        for block, asked in (
            ("sweep", self.sweep.datasets),
            ("shift", self.shift.datasets),
            ("diagnose", self.diagnose.datasets),
            ("metric", self.metric.datasets),
        ):
            for name in asked:
                if name not in own:
                    raise ValueError(
                        f"{block}.datasets names {name!r}, which is no dataset of this profile.{nearest(name, own)} It has: {', '.join(own)}"
                    )
        return self
