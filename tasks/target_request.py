"""What a unit of diagnosis needs: decoders and settings of a whole set, and the images of one range."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.request import Request, Storage
from vitgeom.decoders.output_metrics import EUCLIDEAN

Recipe = Literal["auto", "exact", "krylov", "reference"]


class TrainedBottleneck(BaseModel):
    """Results of the task ``train_bottleneck``: their place below the root of the store, and the digest that says which they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1)
    digest: str = Field(min_length=1)


class DecoderRef(BaseModel):
    """A decoder by its name in ``vitgeom.decoders.DECODERS``, the blocks that have run before its features, and how its output is measured.

    With ``behind``, its features are the latents of that bottleneck, not the tokens of a layer; ``layer`` is that of its last tap.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    layer: int = Field(ge=0)
    metric: str = EUCLIDEAN
    behind: TrainedBottleneck | None = None

    @classmethod
    def spelled(cls, text: str, *, layer: int) -> DecoderRef:
        """Return the decoder that ``name`` or ``name:metric`` means.

        Args:
            text: As in ``params.yaml``.
            layer: Blocks that have run before its features.
        """
        name, _, metric = text.partition(":")
        return cls(name=name, layer=layer, metric=metric or EUCLIDEAN)

    @property
    def label(self) -> str:
        """A path-safe name."""
        name = self.name if self.metric == EUCLIDEAN else f"{self.name}-{self.metric}"
        return f"{name}-layer{self.layer}" if self.behind is None else f"{name}-latents"

    def to_json(self) -> dict[str, Any]:
        """Return its fields; a bottleneck that there is not is none of them."""
        return self.model_dump(mode="json", exclude_none=True)


class TargetSettings(BaseModel):
    """How targets are made; the part of ``params.yaml`` that they depend on.

    ``images`` counts those of each split, spread evenly over it, or names a number for each. ``storage`` is that of tokens and directions.
    ``checks`` adds the bounds of the theorems to the figures of each image. ``rows_per_range``, ``max_bytes``, ``device`` and ``threads`` say
    how, not what.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    splits: tuple[str, ...] = ("test",)
    images: int | dict[str, int] = 8
    rank: int = Field(default=20, ge=1)
    recipe: Recipe = "auto"
    budget: int = Field(default=200, ge=1)
    seed: int = Field(default=0, ge=0)
    checks: bool = True
    storage: Storage = "float32"
    rows_per_range: int = Field(default=4, ge=1)
    image_size: int | None = Field(default=None, ge=1)
    max_bytes: int = Field(default=2**30, ge=1)
    device: str = "cpu"
    threads: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _a_number_for_each_split(self) -> TargetSettings:
        for split in self.splits:
            if self.images_of(split) < 1:
                raise ValueError(f"images of split {split!r} must be >= 1, got {self.images_of(split)}.")
        return self

    def images_of(self, split: str) -> int:
        """Return how many images of a split are wanted; 0 where it is not named.

        Args:
            split: One of ``splits``.
        """
        return self.images if isinstance(self.images, int) else self.images.get(split, 0)


class TargetFootprint(BaseModel):
    """Sizes that decide the memory of one unit; known when the work is planned."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_layers: int = Field(ge=1)
    num_tokens: int = Field(ge=1)
    width: int = Field(ge=1)
    image_pixels: int = Field(ge=1)
    weight_bytes: int = Field(ge=1)


class TargetRequest(Request):
    """Targets of rows [start, stop) of one split of the store at ``address``: images ``images`` of that split of the dataset."""

    task: ClassVar[str] = "make_targets"

    store: str
    address: str
    split: str
    start: int = Field(ge=0)
    stop: int = Field(ge=1)
    images: tuple[int, ...]
    dataset: dict[str, Any]
    backbone: dict[str, Any]
    decoder: DecoderRef
    rank: int = Field(ge=1)
    recipe: Recipe
    budget: int = Field(ge=1)
    seed: int = Field(ge=0)
    checks: bool = True
    max_bytes: int = Field(default=2**30, ge=1)
    device: str = "cpu"
    threads: int = Field(default=1, ge=1)
    footprint: TargetFootprint

    @model_validator(mode="after")
    def _one_image_per_row(self) -> TargetRequest:
        if len(self.images) != self.stop - self.start or not self.images:
            raise ValueError(
                f"images must be one per row of {self.start}:{self.stop}, got {len(self.images)} of them."
            )
        return self

    @property
    def key(self) -> str:
        """Address, split and rows: where the result lies."""
        return f"{self.address} {self.split}[{self.start}:{self.stop}]"
