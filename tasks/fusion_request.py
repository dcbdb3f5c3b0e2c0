"""Requests for fused classifiers: which features, which methods, and every number that their fit depends on."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tasks.request import LastLayer, Request, Token
from vitgeom.fusion.methods import METHODS, method

VERTICAL = tuple(name for name, entry in METHODS.items() if not entry.several_backbones)
HORIZONTAL = tuple(name for name, entry in METHODS.items() if entry.several_backbones)


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EncoderSettings(_Settings):
    """Of the methods with VFusion's encoder and head; see ``vitgeom.fusion.vfusion.VFusionClassifier``.

    A method that is defined by one of these numbers (``vfusion_no_orth``) keeps its own.
    """

    layer_scaling: str | float = "quality"
    latent_dim: int | None = Field(default=None, ge=1)
    hidden_dim: int = Field(default=256, ge=0)
    orth_weight: float = Field(default=0.1, ge=0)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    l2: float = Field(default=1e-2, ge=0)
    learning_rate: float = Field(default=3e-3, gt=0)
    max_epochs: int = Field(default=60, ge=0)
    patience: int = Field(default=10, ge=1)
    batch_size: int | None = Field(default=None, ge=1)
    components: int = Field(default=512, ge=1)


class GateSettings(_Settings):
    """Of the methods that weigh layers image by image; see ``vitgeom.fusion.gated_layers``."""

    components: int = Field(default=64, ge=1)
    hidden_dim: int = Field(default=64, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    learning_rate: float = Field(default=2e-3, gt=0)
    weight_decay: float = Field(default=1e-2, ge=0)
    batch_size: int = Field(default=256, ge=1)
    max_epochs: int = Field(default=100, ge=1)
    patience: int = Field(default=15, ge=1)


class ConcatenationSettings(_Settings):
    """Of softmax regression on layers side by side; see ``vitgeom.fusion.concatenation``."""

    l2: tuple[float, ...] = Field(min_length=1)
    max_components: int = Field(default=4096, ge=1)


class FusionSettings(Request):
    """What vertical and horizontal fusion share."""

    store: str
    token: Token = "cls"
    last_layer: LastLayer = "normed"
    l2: tuple[float, ...] = Field(min_length=1)
    tol: float = Field(default=1e-6, gt=0)
    fold_tol: float = Field(default=1e-4, gt=0)
    num_folds: int = Field(default=5, ge=2)
    seeds: tuple[int, ...] = Field(default=(0, 1, 2), min_length=1)
    encoder: EncoderSettings = EncoderSettings()
    num_bootstrap: int = Field(default=1000, ge=1)
    seed: int = 0
    device: str = "cpu"
    threads: int = Field(default=1, ge=1)

    @field_validator("seeds")
    @classmethod
    def _no_seed_twice(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"each seed may be named once, got {list(seeds)}")
        return seeds

    def content(self) -> dict[str, Any]:
        """Return what decides the numbers: not where the store and its probes are, nor how many threads compute."""
        return self.model_dump(mode="json", exclude={"store", "address", "addresses", "threads", "probes"})


class FusionRequest(FusionSettings):
    """Every method on the layers of one backbone, at ``address``; ``manifest_digest`` pins their content.

    ``probes`` says where finished probes of the same features and settings lie, if they do: they are then not fitted again.

    ``reference`` is the method that differences are taken to; it need not succeed.
    """

    task: ClassVar[str] = "fit_fusion"

    address: str
    manifest_digest: str
    probes: str | None = None
    methods: tuple[str, ...] = Field(default=VERTICAL, min_length=1)
    gate: GateSettings = GateSettings()
    concatenation: ConcatenationSettings

    @field_validator("methods")
    @classmethod
    def _known(cls, methods: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [name for name in methods if method(name).several_backbones]
        if wrong:
            raise ValueError(f"methods of one backbone are needed here, got {wrong}, which take several")
        if len(set(methods)) < len(methods):
            raise ValueError(f"each method may be named once, got {list(methods)}")
        return methods

    @property
    def key(self) -> str:
        """Address and token: what is fused."""
        return f"{self.address} {self.token} fused"


class HorizontalRequest(FusionSettings):
    """Horizontal fusion of the last layers at ``addresses``, one per backbone of the same dataset.

    ``backbones`` are the labels that a reader sees. ``probes`` says for each backbone where finished probes of the same features
    and settings lie, or None.
    """

    task: ClassVar[str] = "fit_horizontal"

    addresses: tuple[str, ...] = Field(min_length=2)
    manifest_digests: tuple[str, ...]
    backbones: tuple[str, ...]
    probes: tuple[str | None, ...] = ()

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        counts = (len(self.addresses), len(self.manifest_digests), len(self.backbones))
        if len(set(counts)) > 1 or len(set(self.backbones)) < len(self.backbones):
            raise ValueError(
                f"addresses, manifest_digests and backbones must have one entry per backbone, each named once, got {counts} entries"
            )
        if self.probes and len(self.probes) != len(self.addresses):
            raise ValueError(
                f"probes must have one entry per backbone, {len(self.addresses)}, or none, got {len(self.probes)}"
            )
        return self

    @property
    def key(self) -> str:
        """Addresses and token: what is fused."""
        return f"{' + '.join(self.addresses)} {self.token} fused"
