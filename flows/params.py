"""The parameters of a study as frozen models: one class per block of ``params.yaml``.

Every key is required and every unknown key is refused, so the file says all that a run depends on and nothing else. Numbers carry their
range. Reading the file, choosing a profile and explaining what is wrong with a value is ``flows.profiles``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from vitgeom.errors import nearest

Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=1)]
NonNegativeInt = Annotated[StrictInt, Field(ge=0)]


def _number(value: Any) -> Any:
    """Refuse text and booleans where a real number is meant; pydantic would read ``"1"`` and ``true`` as 1."""
    if isinstance(value, bool | str):
        raise ValueError("a finite number is needed, written without quotes, e.g. 1.0e-5")
    return value


def _scalar(value: Any) -> Any:
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError("an option is text, a number, true, false or null")
    return value


Scalar = Annotated[Any, BeforeValidator(_scalar)]
Real = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]


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


def _corruption(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a name of vitgeom.data.corruptions.CORRUPTIONS, e.g. contrast")
    from vitgeom.data.corruptions import corruption_named  # brings numpy and Pillow

    return corruption_named(value).name


def _once(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(value)) != len(value):
        raise ValueError("each one may be named once")
    return value


class Block(BaseModel):
    """Common ground of all blocks: frozen, and closed against keys that nobody reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(Block):
    """A dataset or a backbone, with options of its own where it takes any: ``{name: noise, options: {n: 60}}``."""

    name: Text
    options: dict[str, Scalar] = {}


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
    device: Annotated[StrictStr, Field(pattern=r"^(cpu|cuda(:[0-9]+)?)$")]
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
    device: Annotated[StrictStr, Field(pattern=r"^(cpu|cuda(:[0-9]+)?)$")]
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


DatasetNames = Annotated[tuple[Text, ...], AfterValidator(_once)]
Layers = Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]


class SweepSpace(Block):
    """Values of VFusion's settings that a sweep combines; see ``vitgeom.fusion.vfusion.VFusionClassifier``."""

    selection: tuple[Text | Layers, ...] = Field(min_length=1)
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


class Shift(Block):
    """On which damaged test pictures fitted classifiers are evaluated: each corruption at each severity. An empty list means none.

    ``datasets`` names those that a whole study evaluates, too; the command of its own takes all.
    """

    datasets: DatasetNames
    corruptions: Annotated[tuple[Annotated[str, BeforeValidator(_corruption)], ...], AfterValidator(_once)]
    severities: Annotated[tuple[Annotated[StrictInt, Field(ge=1, le=5)], ...], AfterValidator(_once)]


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
        tuple[Annotated[str, BeforeValidator(_decoder)], ...], AfterValidator(_once), Field(min_length=1)
    ]
    layers: Annotated[tuple[NonNegativeInt, ...], AfterValidator(_once), Field(min_length=1)]
    images: Count
    rank: Count
    recipe: Literal["auto", "exact", "krylov", "reference"]
    budget: Count
    storage: Literal["float32", "float16"]
    rows_per_range: Count
    num_bootstrap: Count
    device: Annotated[StrictStr, Field(pattern=r"^(cpu|cuda(:[0-9]+)?)$")]
    threads: Count


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
    engine: Engine
    tracking: Tracking

    @model_validator(mode="after")
    def _steps_on_own_datasets(self) -> Profile:
        own = [choice.name for choice in self.datasets]
        for block, asked in (
            ("sweep", self.sweep.datasets),
            ("shift", self.shift.datasets),
            ("diagnose", self.diagnose.datasets),
        ):
            for name in asked:
                if name not in own:
                    raise ValueError(
                        f"{block}.datasets names {name!r}, which is no dataset of this profile.{nearest(name, own)} It has: {', '.join(own)}"
                    )
        return self
