"""VFusion's encoder and head on the best single layer: is it the depth, or the head?   n = rows, K = classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from jaxtyping import Float32
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.best_layer import best_layer
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.probes.layers import RowSource

Fitted = TypeVar("Fitted", bound="BestLayerHeadClassifier")


class BestLayerHeadClassifier(LayerClassifier):
    """VFusion with the layer of best validation accuracy as its only one."""

    def __init__(
        self,
        *,
        latent_dim: int | None = None,
        hidden_dim: int = 256,
        orth_weight: float = 0.1,
        dropout: float = 0.1,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        """Store parameters, each with the meaning that it has in VFusionClassifier.

        Args:
            latent_dim: Latents.
            hidden_dim: Hidden units.
            orth_weight: Weight of the orthogonality term.
            dropout: Share of hidden units that are dropped in training.
            seed: Decides folds, hidden units, order of rows and dropout.
            device: Where encoder and head are trained and applied.
        """
        self.latent_dim = latent_dim
        self.hidden_dim = hidden_dim
        self.orth_weight = orth_weight
        self.dropout = dropout
        self.seed = seed
        self.device = device

    def tensors(self) -> dict[str, Tensor]:
        """Return every fitted array by name: the part for safetensors."""
        return self.head_.tensors()

    def meta(self) -> dict[str, Any]:
        """Return the layer, counted from 0, and what the head has to say."""
        return {"layer": self.layer_, "head": self.head_.meta()}

    def summary(self) -> Mapping[str, Any]:
        """Return what was chosen in fitting, as plain JSON."""
        return self.head_.summary()

    def num_parameters(self) -> int:
        """Return how many fitted weights and biases a prediction uses."""
        return self.head_.num_parameters()

    def flops_per_row(self) -> int:
        """Return the operations of one prediction on top of the backbone."""
        return self.head_.flops_per_row()

    def _fit_seeds(self: Fitted, seeds: Sequence[int], evidence: Evidence) -> tuple[Fitted, ...]:
        """Train the heads of all seeds as one batched model."""
        fitted = []
        head = VFusionClassifier(selection=[best_layer(evidence)], **self.get_params())
        for seed, trained in zip(seeds, head.fit_evidence_seeds(seeds, evidence), strict=True):
            one = type(self)(**{**self.get_params(), "seed": seed})
            one._describe(evidence)
            one.layer_, one.head_ = best_layer(evidence), trained
            fitted.append(one)
        return tuple(fitted)

    def _fit(self, evidence: Evidence) -> None:
        self.layer_ = best_layer(evidence)
        self.head_ = self._head().fit_evidence(evidence)

    def _restore(self, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
        if set(meta) != {"layer", "head"}:
            raise InvalidInput(
                f"meta must hold layer and head, got {sorted(meta)}; was it written by another version?"
            )
        self.layer_ = int(meta["layer"])
        self.head_ = self._head()
        self.head_.classes_, self.head_.widths_ = self.classes_, self.widths_
        self.head_.n_features_in_ = self.n_features_in_
        self.head_._restore(tensors, meta["head"])

    def _head(self) -> VFusionClassifier:
        return VFusionClassifier(selection=[self.layer_], **self.get_params())

    def _log_proba_blocks(self, rows: RowSource) -> Iterator[Float32[Tensor, "b K"]]:
        return self.head_._log_proba_blocks(rows)
