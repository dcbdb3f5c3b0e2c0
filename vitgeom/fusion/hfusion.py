"""HFusion: horizontal fusion, the encoder and head of VFusion over the last tokens of several backbones.

n = rows, B = backbones, L = layers of a backbone, D = width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from vitgeom.fusion.backbone_rows import BackboneRows, backbone_rows
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.probes.labels import Labels
from vitgeom.probes.layers import RowSource

Fitted = TypeVar("Fitted", bound="HFusionClassifier")


class HFusionClassifier(VFusionClassifier):
    """Fuse the last layers of at least two backbones; every image passes through all of them.

    Features come as a list with one entry per backbone: ``[n, D]``, ``[n, L, D]`` or a source of layers, whose last layer is taken.
    ``selection`` and ``widths_`` are of backbones here. One backbone alone is refused: its last layer under the same
    encoder and head is ``VFusionClassifier(selection="last")``.
    """

    def fit(self: Fitted, X: object, y: Labels, X_val: object = None, y_val: Labels | None = None) -> Fitted:
        """Fit on training rows; every choice is made on validation rows.

        Args:
            X: Training features of each backbone, rows in the same order.
            y: n labels, integers or strings.
            X_val: Validation features of each backbone; None to hold out a stratified part of the training rows.
            y_val: Their labels.

        Raises:
            InvalidInput: Fewer than two backbones, different numbers of rows, or what VFusion refuses.
        """
        return super().fit(backbone_rows(X, name="X"), y, _optional(X_val), y_val)

    def fit_seeds(
        self, seeds: Sequence[int], X: object, y: Labels, X_val: object = None, y_val: Labels | None = None
    ) -> tuple[VFusionClassifier, ...]:
        """Return one fitted classifier per seed; see ``VFusionClassifier.fit_seeds``.

        Args:
            seeds: Each decides hidden units, order of rows and dropout of one classifier.
            X: Training features of each backbone.
            y: Labels.
            X_val: Validation features of each backbone; None to hold out a part of the training rows.
            y_val: Their labels.

        Raises:
            InvalidInput: See :meth:`fit`.
        """
        return super().fit_seeds(seeds, backbone_rows(X, name="X"), y, _optional(X_val), y_val)

    def predict_log_proba(self, X: object) -> np.ndarray:
        """Return log probabilities ``[n, K]``, columns in the order of ``classes_``.

        Args:
            X: Features of each backbone, as in training.

        Raises:
            NotFittedError: Not fitted yet.
            InvalidInput: Other backbones or widths than in training, or a NaN or infinite value.
        """
        return super().predict_log_proba(backbone_rows(X, name="X"))

    def predict_proba(self, X: object) -> np.ndarray:
        """Return probabilities ``[n, K]``; see :meth:`predict_log_proba`."""
        return super().predict_proba(backbone_rows(X, name="X"))

    def predict(self, X: object) -> np.ndarray:
        """Return the most probable class of each row, in the original ids; see :meth:`predict_log_proba`."""
        return super().predict(backbone_rows(X, name="X"))

    def log_proba_blocks(self, X: object) -> Iterator[np.ndarray]:
        """Return an iterator over the log probabilities of consecutive rows; see :meth:`predict_log_proba`."""
        return super().log_proba_blocks(backbone_rows(X, name="X"))

    def transform(self, X: object) -> np.ndarray:
        """Return the fused tokens z ``[n, d]``; see :meth:`predict_log_proba`."""
        return super().transform(backbone_rows(X, name="X"))

    def _checked_rows(self, X: object) -> RowSource:
        return super()._checked_rows(backbone_rows(X, name="X"))


def _optional(x: object) -> BackboneRows | None:
    return None if x is None else backbone_rows(x, name="X_val")
