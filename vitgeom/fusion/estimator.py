"""What all fused classifiers have in common: the conventions of scikit-learn on features ``[n, L, D]``.

n = rows, L = layers, D = width, K = classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor

from vitgeom.fusion.evidence import Evidence, gather_evidence
from vitgeom.fusion.fit_data import require_same_layers
from vitgeom.probes.labels import Labels
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.row_access import as_rows

Fitted = TypeVar("Fitted", bound="LayerClassifier")


class LayerClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier on the features of all layers of one backbone.

    Subclasses give ``_fit`` and ``_log_proba``. Fitted attributes, as scikit-learn names them: ``classes_`` (original ids),
    ``n_features_in_`` (sum of widths), ``widths_`` (per layer).
    """

    def fit(
        self: Fitted, X: Features, y: Labels, X_val: Features | None = None, y_val: Labels | None = None
    ) -> Fitted:
        """Fit on training rows; every choice is made on validation rows.

        Args:
            X: Training features ``[n, L, D]``, a tensor, an array or a source of rows.
            y: n labels, integers or strings.
            X_val: Validation features; None to hold out a stratified part of the training rows.
            y_val: Their labels.

        Raises:
            InvalidInput: One class only, empty validation rows, a NaN or infinite value (row named), or shapes that do not
                match.
        """
        return self.fit_evidence(gather_evidence(X, y, X_val, y_val, seed=getattr(self, "seed", 0)))

    def fit_evidence(self: Fitted, evidence: Evidence) -> Fitted:
        """Fit on evidence that other methods share: same rows, same folds, same probes.

        Args:
            evidence: From :func:`vitgeom.fusion.gather_evidence`.
        """
        self._describe(evidence)
        self._fit(evidence)
        return self

    def predict_log_proba(self, X: Features) -> np.ndarray:
        """Return log probabilities ``[n, K]``, columns in the order of ``classes_``.

        Args:
            X: Features of the layers of training.

        Raises:
            NotFittedError: Not fitted yet.
            InvalidInput: Other layers or widths than in training, or a NaN or infinite value.
        """
        return self._checked_log_proba(X).numpy()

    def predict_proba(self, X: Features) -> np.ndarray:
        """Return probabilities ``[n, K]``; see :meth:`predict_log_proba`."""
        return self._checked_log_proba(X).exp().numpy()

    def predict(self, X: Features) -> np.ndarray:
        """Return the most probable class of each row, in the original ids; see :meth:`predict_log_proba`."""
        chosen: np.ndarray = self._checked_log_proba(X).argmax(dim=1).numpy()
        return np.asarray(self.classes_[chosen])

    def tensors(self) -> dict[str, Tensor]:
        """Return every fitted array by name: the part for safetensors."""
        raise NotImplementedError(f"{type(self).__name__} has no file form.")

    def _describe(self, evidence: Evidence) -> None:
        """Remember what the rows look like."""
        self.classes_ = evidence.data.classes
        self.widths_ = evidence.data.widths
        self.n_features_in_ = sum(self.widths_)

    def _checked_log_proba(self, X: Features) -> Float[Tensor, "n K"]:
        return self._log_proba(self._checked_rows(X))

    def _checked_rows(self, X: Features) -> RowSource:
        if not hasattr(self, "classes_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(X, y) first.")
        source = as_rows(X, name="X")
        require_same_layers(source, self.widths_)
        return source

    def summary(self) -> Mapping[str, Any]:
        """Return what was chosen in fitting, as plain JSON."""
        return {}

    @abstractmethod
    def _fit(self, evidence: Evidence) -> None:
        """Set fitted attributes."""

    @abstractmethod
    def _log_proba(self, rows: RowSource) -> Float[Tensor, "n K"]:
        """Return log probabilities of all rows."""
