"""One method under comparison: fitted with each of its seeds, asked about the test split, costed; or the reason why not.

n = test rows, R = seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int64
from torch import Tensor

from tasks.stored_results import json_bytes
from vitgeom.fusion.cost import MethodCost, measure_cost
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.methods import Method
from vitgeom.probes.layers import RowSource


@dataclass(frozen=True, eq=False)
class FittedMethod:
    """A method that could be fitted.

    Attributes:
        entry: What it is.
        seeds: One per classifier; a single None where the method has no randomness.
        classifiers: Fitted, in the order of the seeds.
        predicted: Class indices on the test rows, a line per seed.
        cost: Of the first one.
    """

    entry: Method
    seeds: tuple[int | None, ...]
    classifiers: tuple[LayerClassifier, ...]
    predicted: Int64[Tensor, "R n"]
    cost: MethodCost

    def describe(self) -> dict[str, Any]:
        """Return what it is, what was chosen in fitting and what a prediction costs, as plain JSON without any time."""
        return {
            "name": self.entry.name,
            "title": self.entry.title,
            "family": self.entry.family,
            "description": self.entry.description,
            "seeds": [seed for seed in self.seeds if seed is not None],
            "summaries": [dict(one.summary()) for one in self.classifiers],
            "parameters": self.cost.parameters,
            "flops_per_image": self.cost.flops_per_image,
            "backbone_passes": self.cost.backbone_passes,
        }


@dataclass(frozen=True)
class FailedMethod:
    """A method that could not be fitted or asked, and why."""

    entry: Method
    error: str

    def describe(self) -> dict[str, Any]:
        """Return the row that a table shows in place of numbers."""
        return {
            "name": self.entry.name,
            "title": self.entry.title,
            "family": self.entry.family,
            "error": self.error,
        }


def fit_method(
    entry: Method,
    unfitted: LayerClassifier,
    evidence: Evidence,
    *,
    test: RowSource,
    seeds: Sequence[int],
    backbone_passes: int = 1,
) -> FittedMethod | FailedMethod:
    """Fit, predict and measure; what is wrong with one method is its own affair.

    Args:
        entry: What it is.
        unfitted: With its parameters.
        evidence: What all methods share.
        test: Test rows.
        seeds: For a method with randomness.
        backbone_passes: Passes behind the features.

    Raises:
        StoreError: The features cannot be read, which concerns every method; likewise any other failure of files.
        MemoryError: This process has too little memory for the work; likewise ``torch.OutOfMemoryError`` for its device.
    """
    try:
        used, classifiers = _fitted(entry, unfitted, evidence, seeds=seeds)
        fitted = FittedMethod(
            entry=entry,
            seeds=used,
            classifiers=classifiers,
            predicted=torch.stack([predicted_classes(one, test) for one in classifiers]),
            cost=measure_cost(classifiers[0], test, name=entry.name, backbone_passes=backbone_passes),
        )
        json_bytes(fitted.describe())  # a number that is not finite must not spoil the table of the others
    except (OSError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        return FailedMethod(entry, f"{type(error).__name__}: {' '.join(str(error).split()) or 'no message'}")
    return fitted


def first_error(fits: Sequence[FittedMethod | FailedMethod]) -> str:
    """Return why the first method that failed did so."""
    return next(fit.error for fit in fits if isinstance(fit, FailedMethod))


def _fitted(
    entry: Method, unfitted: LayerClassifier, evidence: Evidence, *, seeds: Sequence[int]
) -> tuple[tuple[int | None, ...], tuple[LayerClassifier, ...]]:
    if not entry.stochastic:
        return (None,), (unfitted.fit_evidence(evidence),)
    return tuple(seeds), unfitted.fit_evidence_seeds(seeds, evidence)


def predicted_classes(classifier: LayerClassifier, test: RowSource) -> Int64[Tensor, " n"]:
    """Return the class index that a fitted classifier gives each row.

    Args:
        classifier: Fitted.
        test: Rows to ask it about.

    Raises:
        InvalidInput: A row has no probabilities, because they overflow.
    """
    return torch.from_numpy(classifier.predict_log_proba(test).argmax(axis=1))
