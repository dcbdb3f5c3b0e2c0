"""What all fused classifiers have in common: the conventions of scikit-learn on features ``[n, L, D]``.

n = rows, L = layers, D = width, K = classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.evidence import Evidence, gather_evidence
from vitgeom.fusion.far_rows import refuse_overflow
from vitgeom.fusion.fit_data import require_same_layers
from vitgeom.probes.labels import Labels
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.row_access import as_rows
from vitgeom.seeding import checked_seed

Fitted = TypeVar("Fitted", bound="LayerClassifier")


class LayerClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier on the features of all layers of one backbone.

    Subclasses give ``_fit`` and ``_log_proba_blocks``. Fitted attributes, as scikit-learn names them: ``classes_`` (original ids),
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
        with gather_evidence(X, y, X_val, y_val, seed=checked_seed(getattr(self, "seed", 0))) as evidence:
            return self.fit_evidence(evidence)

    def fit_evidence(self: Fitted, evidence: Evidence) -> Fitted:
        """Fit on evidence that other methods share: same rows, same folds, same probes.

        Args:
            evidence: From :func:`vitgeom.fusion.gather_evidence`.
        """
        checked_seed(getattr(self, "seed", 0))
        with self._being_fitted(evidence):
            self._fit(evidence)
        return self

    def fit_evidence_seeds(self: Fitted, seeds: Sequence[int], evidence: Evidence) -> tuple[Fitted, ...]:
        """Return one fitted classifier per seed, with these parameters otherwise; this one is left as it is.

        Args:
            seeds: At least one; each stands for the parameter ``seed``.
            evidence: From :func:`vitgeom.fusion.gather_evidence`.

        Raises:
            InvalidInput: No seed, or what ``fit`` refuses.
        """
        if not len(seeds):
            raise InvalidInput("seeds must name at least 1 seed, got none.")
        return self._fit_seeds([checked_seed(seed) for seed in seeds], evidence)

    def predict_log_proba(self, X: Features) -> np.ndarray:
        """Return log probabilities ``[n, K]``, columns in the order of ``classes_``.

        Args:
            X: Features of the layers of training.

        Raises:
            NotFittedError: Not fitted yet.
            InvalidInput: Other layers or widths than in training, a NaN or infinite value, or a row so far from those of training that
                its probabilities overflow.
        """
        return self._checked_log_proba(X).numpy()

    def predict_proba(self, X: Features) -> np.ndarray:
        """Return probabilities ``[n, K]``; see :meth:`predict_log_proba`."""
        return self._checked_log_proba(X).exp().numpy()

    def predict(self, X: Features) -> np.ndarray:
        """Return the most probable class of each row, in the original ids; see :meth:`predict_log_proba`."""
        chosen = torch.cat([block.argmax(dim=1) for block in self._known_log_proba(self._checked_rows(X))])
        return np.asarray(self.classes_[chosen.numpy()])

    def log_proba_blocks(self, X: Features) -> Iterator[np.ndarray]:
        """Return an iterator over the log probabilities of consecutive rows ``[b, K]``, so that they need not be in memory together.

        Args:
            X: Features; see :meth:`predict_log_proba`.
        """
        rows = self._checked_rows(X)
        return (block.numpy() for block in self._known_log_proba(rows))

    def tensors(self) -> dict[str, Tensor]:
        """Return every fitted array by name: the part for safetensors."""
        raise NotImplementedError(f"{type(self).__name__} has no file form.")

    @contextmanager
    def _being_fitted(self, evidence: Evidence) -> Iterator[None]:
        """Describe the rows, and forget them again if fitting fails: what could not be fitted must not look fitted."""
        self._describe(evidence)
        try:
            yield
        except BaseException:
            del self.classes_, self.widths_, self.n_features_in_
            raise

    def _describe(self, evidence: Evidence) -> None:
        """Remember what the rows look like."""
        self.classes_ = evidence.data.classes
        self.widths_ = evidence.data.widths
        self.n_features_in_ = sum(self.widths_)

    def meta(self) -> dict[str, Any]:
        """Return fitted numbers that are no arrays, as plain JSON."""
        return {}

    def num_parameters(self) -> int:
        """Return how many fitted weights and biases a prediction uses; standardisation folds into the first of them."""
        raise NotImplementedError(f"{type(self).__name__} does not count its parameters.")

    def flops_per_row(self) -> int:
        """Return the operations of one prediction on top of the backbone; a multiplication and an addition count as two."""
        raise NotImplementedError(f"{type(self).__name__} does not count its operations.")

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether ``fit`` has run, and did not fail."""
        return hasattr(self, "classes_")

    def _restore(self, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
        """Set fitted attributes from :meth:`tensors` and :meth:`meta`; ``classes_`` and ``widths_`` are there already."""
        raise NotImplementedError(f"{type(self).__name__} has no file form.")

    def _checked_log_proba(self, X: Features) -> Float[Tensor, "n K"]:
        return torch.cat(list(self._known_log_proba(self._checked_rows(X))))

    def _known_log_proba(self, rows: RowSource) -> Iterator[Float[Tensor, "b K"]]:
        """Yield log probabilities block by block; a row that has none is refused by its number."""
        start = 0
        for block in self._log_proba_blocks(rows):
            refuse_overflow(block, first_row=start)
            start += len(block)
            yield block

    def _checked_rows(self, X: Features) -> RowSource:
        if not hasattr(self, "classes_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(X, y) first.")
        source = as_rows(X, name="X")
        require_same_layers(source, self.widths_)
        return source

    def summary(self) -> Mapping[str, Any]:
        """Return what was chosen in fitting, as plain JSON."""
        return {}

    def _fit_seeds(self: Fitted, seeds: Sequence[int], evidence: Evidence) -> tuple[Fitted, ...]:
        """Fit one after the other; subclasses that can share work do."""
        parameters = self.get_params(deep=False)
        return tuple(type(self)(**{**parameters, "seed": seed}).fit_evidence(evidence) for seed in seeds)

    @abstractmethod
    def _fit(self, evidence: Evidence) -> None:
        """Set fitted attributes."""

    @abstractmethod
    def _log_proba_blocks(self, rows: RowSource) -> Iterator[Float[Tensor, "b K"]]:
        """Yield log probabilities of consecutive rows, all rows in the end."""
