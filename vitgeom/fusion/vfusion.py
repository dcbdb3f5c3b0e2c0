"""VFusion: one token from the whole depth of a frozen backbone, and a classifier on it (A10 of the methods).

n = rows, L = layers, S = chosen layers, D = width, r = principal coordinates, d = latents, K = classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from vitgeom.fusion.encoder import EncoderHead, initial_models
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.evidence import Evidence, gather_evidence
from vitgeom.fusion.far_rows import refuse_overflow
from vitgeom.fusion.fused_inputs import FusedInputs, start_of_training
from vitgeom.fusion.joint_training import OnEpoch, Trained, TrainingSettings, train_jointly
from vitgeom.fusion.quality import TEMPERATURES
from vitgeom.fusion.selection import select_layers
from vitgeom.fusion.vfusion_settings import checked_device, checked_settings, latent_count
from vitgeom.probes.labels import Labels
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.row_file import RowFile
from vitgeom.seeding import checked_seed, generator_for

Fitted = TypeVar("Fitted", bound="VFusionClassifier")


class VFusionClassifier(LayerClassifier):
    """Fuse standardised layers into one token z by an encoder, and classify z by a linear head; both trained jointly.

    Training starts from a linear stage that needs no gradient descent (:mod:`vitgeom.fusion.linear_stage`) and adds hidden
    units to it; the state with the least validation log-loss is kept, and the start is one of them. The loss is cross-entropy +
    ``orth_weight`` times the mean squared correlation between latents + L2 (:mod:`vitgeom.fusion.joint_training`).

    Wrong to use when validation rows are of another distribution than those to be predicted: every choice is theirs.

    Args:
        selection: Which layers; see :func:`vitgeom.fusion.select_layers`.
        layer_scaling: ``"quality"`` (temperature by validation), ``"none"`` (plain concatenation), or a temperature T >= 0.
        latent_dim: d; None for K - 1, but at least 32 and at most 512, as far as the rows reach.
        hidden_dim: Hidden units; 0 for a linear encoder.
        orth_weight: Weight of the orthogonality term, >= 0.
        dropout: Share of hidden units that are dropped in training.
        l2: Penalty on what departs from the linear stage.
        learning_rate: Of AdamW.
        max_epochs: Most passes over the training rows; 0 keeps the linear stage.
        patience: Epochs without improvement after which training ends.
        batch_size: Rows; None for max(256, 10 d).
        components: Most principal axes of the concatenation that the encoder sees.
        seed: Decides folds, hidden units, order of rows and dropout.
        device: Where encoder and head are trained and applied.
    """

    def __init__(
        self,
        *,
        selection: str | Sequence[int] = "holistic",
        layer_scaling: str | float = "quality",
        latent_dim: int | None = None,
        hidden_dim: int = 256,
        orth_weight: float = 0.1,
        dropout: float = 0.1,
        l2: float = 1e-2,
        learning_rate: float = 3e-3,
        max_epochs: int = 60,
        patience: int = 10,
        batch_size: int | None = None,
        components: int = 512,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self.selection = selection
        self.layer_scaling = layer_scaling
        self.latent_dim = latent_dim
        self.hidden_dim = hidden_dim
        self.orth_weight = orth_weight
        self.dropout = dropout
        self.l2 = l2
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.components = components
        self.seed = seed
        self.device = device

    def fit_seeds(
        self,
        seeds: Sequence[int],
        X: Features,
        y: Labels,
        X_val: Features | None = None,
        y_val: Labels | None = None,
    ) -> tuple[VFusionClassifier, ...]:
        """Return one fitted classifier per seed; folds are those of this classifier's own seed, the trainings run as one batched model.

        Args:
            seeds: Each decides hidden units, order of rows and dropout of one classifier.
            X: Training features.
            y: Labels.
            X_val: Validation features; None to hold out a part of the training rows.
            y_val: Their labels.

        Raises:
            InvalidInput: See ``fit``.
        """
        with gather_evidence(X, y, X_val, y_val, seed=checked_seed(self.seed)) as evidence:
            return self.fit_evidence_seeds(seeds, evidence)

    def _fit_seeds(self: Fitted, seeds: Sequence[int], evidence: Evidence) -> tuple[Fitted, ...]:
        """Train all seeds as one batched model."""
        inputs, trained = self._train(evidence, seeds=seeds)
        fitted = []
        for number, seed in enumerate(seeds):
            one = type(self)(**{**self.get_params(), "seed": seed})
            one._describe(evidence)
            one._keep(inputs, trained, number=number)
            fitted.append(one)
        return tuple(fitted)

    def fit_watched(self, evidence: Evidence, *, on_epoch: OnEpoch) -> VFusionClassifier:
        """Fit like :meth:`fit_evidence`, telling where training stands after each epoch.

        Args:
            evidence: From :func:`vitgeom.fusion.gather_evidence`.
            on_epoch: Told the epoch (0 for the linear stage) and the validation figures; returns whether to go on.
        """
        with self._being_fitted(evidence):
            inputs, trained = self._train(evidence, seeds=[self.seed], on_epoch=on_epoch)
            self._keep(inputs, trained, number=0)
        return self

    def transform(self, X: Features) -> np.ndarray:
        """Return the fused tokens z ``[n, d]``.

        Args:
            X: Features of the layers of training.

        Raises:
            NotFittedError: Not fitted yet.
            InvalidInput: Other layers or widths than in training, a NaN or infinite value, or a row so far from those of training that
                its token overflows.
        """
        return self._latents(self._checked_rows(X)).numpy()

    def summary(self) -> Mapping[str, Any]:
        """Return what was chosen in fitting: layers (0-based), temperature, shares, epoch, losses (None without a known class)."""
        return dict(self.summary_)

    def tensors(self) -> dict[str, Tensor]:
        """Return every fitted array by name."""
        weights = dict(zip(EncoderHead.__dataclass_fields__, self.model_.parameters(), strict=True))
        return {**self.inputs_.tensors(), **{name: tensor.contiguous() for name, tensor in weights.items()}}

    def meta(self) -> dict[str, Any]:
        """Return the chosen layers and the summary."""
        return {"layers": list(self.inputs_.layers), "summary": dict(self.summary_)}

    def num_parameters(self) -> int:
        """Return the weights of readouts, principal axes, encoder and head."""
        return self.inputs_.num_parameters() + sum(tensor.numel() for tensor in self.model_.parameters())

    def flops_per_row(self) -> int:
        """Return two per weight that a row is multiplied with."""
        return 2 * self.num_parameters()

    def _restore(self, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
        names = tuple(EncoderHead.__dataclass_fields__)
        self.model_ = EncoderHead(*(tensors[name] for name in names))
        rest = {name: tensor for name, tensor in tensors.items() if name not in names}
        self.inputs_ = FusedInputs.from_tensors(rest, layers=meta["layers"], widths=self.widths_)
        self.summary_ = dict(meta["summary"])

    def _fit(self, evidence: Evidence) -> None:
        inputs, trained = self._train(evidence, seeds=[self.seed])
        self._keep(inputs, trained, number=0)

    def _train(
        self, evidence: Evidence, *, seeds: Sequence[int], on_epoch: OnEpoch | None = None
    ) -> tuple[FusedInputs, Trained]:
        checked_settings(self)
        device = checked_device(self.device)
        layers = select_layers(self.selection, num_layers=evidence.data.train.num_layers)
        start = evidence.shared(
            ("start of training", layers, self._temperatures(), self.components, self.seed),
            lambda: start_of_training(
                evidence,
                layers,
                temperatures=self._temperatures(),
                components=self.components,
                seed=self.seed,
            ),
        )
        latent_dim = latent_count(
            self.latent_dim, num_classes=evidence.data.num_classes, rank=start.rank, num_rows=len(start.train)
        )
        generators = [generator_for(seed, "encoder") for seed in seeds]
        models = initial_models(
            start.factors(latent_dim), start.bias, hidden_dim=self.hidden_dim, generators=generators
        )
        trained = train_jointly(
            models.to(device),
            _on(device, start.train),
            evidence.data.target.to(device),
            u_val=_on(device, start.val),
            val_target=evidence.data.val_target.to(device),
            settings=TrainingSettings(
                orth_weight=self.orth_weight,
                l2=self.l2,
                dropout=self.dropout,
                learning_rate=self.learning_rate,
                max_epochs=self.max_epochs if self.hidden_dim else 0,
                patience=self.patience,
                batch_size=self.batch_size or max(256, 10 * latent_dim),
            ),
            generators=generators,
            on_epoch=on_epoch,
        )
        return start.inputs, trained

    def _temperatures(self) -> tuple[float, ...]:
        if self.layer_scaling == "quality":
            return TEMPERATURES
        return (0.0,) if self.layer_scaling == "none" else (float(self.layer_scaling),)

    def _keep(self, inputs: FusedInputs, trained: Trained, *, number: int) -> None:
        """Take one of the trained models."""
        self.inputs_ = inputs
        self.model_ = trained.models.model(number).to(torch.device("cpu"))
        self.summary_ = {
            **inputs.summary,
            "latent_dim": self.model_.direct.shape[2],
            "epoch": int(trained.epoch[number]),
            "val_loss": _known(trained.val_loss[number]),
            "val_loss_of_linear_stage": _known(trained.start_loss[number]),
        }

    def _latents(self, rows: RowSource) -> Float32[Tensor, "n d"]:
        parts, start = [], 0
        for u in self.inputs_.blocks(rows):
            z = self.model_.latents(u[None])[0]
            refuse_overflow(z, first_row=start)
            start += len(z)
            parts.append(z)
        return torch.cat(parts)

    def _log_proba_blocks(self, rows: RowSource) -> Iterator[Float32[Tensor, "b K"]]:
        for u in self.inputs_.blocks(rows):
            logits = self.model_.logits(self.model_.latents(u[None]))[0]
            yield torch.log_softmax(logits, dim=1)


def _known(loss: Tensor) -> float | None:
    """Return a loss, or None where there was nothing to judge by."""
    return None if bool(loss.isnan()) else float(loss)


def _on(device: torch.device, rows: Tensor | RowFile) -> Tensor | RowFile:
    """Return rows on a device; those in a file go there batch by batch."""
    return rows.to(device) if isinstance(rows, Tensor) else rows
