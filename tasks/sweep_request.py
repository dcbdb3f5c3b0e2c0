"""The request of a sweep: which features, which settings of VFusion, and when a trial is given up."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from tasks.fusion_request import EncoderSettings
from tasks.halving import Halving
from tasks.request import LastLayer, Request, Token
from vitgeom.store.fingerprint import fingerprint

SWEEP_VERSION = 1
"""Part of every address: raise it when the meaning or the layout of the files changes."""

Value = bool | int | float | str | tuple[int, ...] | None


class SweepRequest(Request):
    """VFusion with every combination of ``space`` on the features at ``address``, the best one by validation (A10).

    ``space`` lists values of selection, layer_scaling, latent_dim, orth_weight and hidden_dim; see ``tasks.search_space``.
    ``early_stopping="asha"`` compares trials after ``grace_epochs``, then ``reduction_factor`` times as many, and so on; ``"none"`` trains
    each one to its end. ``metric`` is the validation figure that decides in the end.

    ``encoder`` holds the settings that ``space`` does not name; ``probes`` says where finished probes of the same features and settings
    lie, if they do: they are then not fitted again.
    """

    task: ClassVar[str] = "sweep_fusion"

    store: str
    address: str
    manifest_digest: str
    token: Token = "cls"
    last_layer: LastLayer = "normed"
    l2: tuple[float, ...] = Field(min_length=1)
    tol: float = Field(default=1e-6, gt=0)
    fold_tol: float = Field(default=1e-4, gt=0)
    num_folds: int = Field(default=5, ge=2)
    probes: str | None = None
    encoder: EncoderSettings = EncoderSettings()
    space: dict[str, tuple[Value, ...]]
    num_samples: int | None = Field(default=None, ge=1)
    early_stopping: Literal["asha", "none"] = "asha"
    grace_epochs: int = Field(default=4, ge=1)
    reduction_factor: int = Field(default=3, ge=2)
    metric: Literal["log_loss", "accuracy"] = "log_loss"
    seed: int = 0
    threads: int = Field(default=1, ge=1)

    @property
    def key(self) -> str:
        """Address and token: what is fused."""
        return f"{self.address} {self.token} sweep"

    @property
    def rule(self) -> Halving:
        """When trials are compared; never without early stopping."""
        last = self.encoder.max_epochs
        grace = self.grace_epochs if self.early_stopping == "asha" else last
        return Halving(grace=grace, factor=self.reduction_factor, last=last)

    def content(self) -> dict[str, Any]:
        """Return what decides the result: not where the store and its probes are, nor how many threads compute."""
        return self.model_dump(mode="json", exclude={"store", "threads", "probes"})

    @property
    def path(self) -> str:
        """Place of the results below the store's root: ``sweeps/<data set>/<backbone>/<fingerprint>``."""
        _, dataset, backbone, _ = self.address.split("/")
        content = {**self.content(), "version": SWEEP_VERSION}
        content.pop("address")  # the manifest's digest says which features; a moved store keeps its results
        return f"sweeps/{dataset}/{backbone}/{fingerprint(content)[:16]}"
