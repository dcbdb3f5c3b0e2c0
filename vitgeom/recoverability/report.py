"""The recoverability of one dataset and backbone, as plain numbers.   L = layers, K = classes, E = last-layer errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.recoverability.corrections import Corrections, Credit
from vitgeom.recoverability.diversity import Diversity
from vitgeom.recoverability.geometric_disagreement import GeometricDisagreement


@dataclass(frozen=True)
class PermutationFloor:
    """R_any of layers whose predictions are shuffled over the error set.

    Attributes:
        mean: Mean over the permutations.
        low: Lower end of the 95 % interval of the permutations.
        high: Upper end.
        expected: The exact expectation, in closed form; ``mean`` scatters around it.
        permutations: How many were drawn.
    """

    mean: float
    low: float
    high: float
    expected: float
    permutations: int


@dataclass(frozen=True)
class RecoverabilityReport:
    """Accuracies, recoverability and its floors; None stands for "undefined", never for 0.

    Attributes:
        num_samples: Test samples n.
        num_classes: K of the probes.
        classes_present: Classes that occur in the test split (those of mean-per-class accuracy).
        errors: ``|E|``, samples the last layer gets wrong.
        accuracy: Top-1 of each layer.
        accuracy_per_class: Mean over present classes of the accuracy within the class, each layer.
        recoverability: R_l of layers 1..L-1: share of E that layer l gets right; None when E is empty.
        r_any: Share of E that some layer before the last gets right; None when E is empty or L = 1.
        undefined_resamples: Bootstrap resamples without any error; they are left out of the intervals of R.
        floor_uniform: 1 - (1 - 1/K)^(L-1), R_any of uniform guessing.
        floor_permutation: R_any of shuffled predictions; None when R_any is.
        oracle: Share of samples that at least one layer gets right = acc_L + (1 - acc_L) R_any.
        best_layer: 0-based, as chosen on validation; None if it was not given.
        gap: Oracle minus accuracy of the best layer; None without best_layer.
        gap_last: Oracle minus accuracy of the last layer.
        accuracy_top5: Share of samples whose class is among the five largest logits, each layer; None unless K > 5.
        corrections: How corrections are spread over the earlier layers, by rule of credit; None without any correction.
        geometry: How far the logits of earlier layers point away from the last layer's over E; None when E is empty or L = 1.
        diversity: How differently the layers err over all samples; None when L = 1.
        num_bootstrap: Resamples behind each interval.
    """

    num_samples: int
    num_classes: int
    classes_present: int
    errors: int
    accuracy: tuple[Interval, ...]
    accuracy_per_class: tuple[Interval, ...]
    recoverability: tuple[Interval | None, ...]
    r_any: Interval | None
    undefined_resamples: int
    floor_uniform: float
    floor_permutation: PermutationFloor | None
    oracle: Interval
    best_layer: int | None
    gap: Interval | None
    gap_last: Interval
    accuracy_top5: tuple[Interval, ...] | None
    corrections: Mapping[Credit, Corrections] | None
    geometry: GeometricDisagreement | None
    diversity: Diversity | None
    num_bootstrap: int

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return len(self.accuracy)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RecoverabilityReport:
        """Rebuild a report from :meth:`to_json`.

        Args:
            data: The JSON object.

        Raises:
            InvalidInput: Keys are missing or unknown.
        """
        wanted = {field.name for field in fields(cls)}
        if set(data) != wanted:
            raise InvalidInput(
                f"data must hold exactly the fields of RecoverabilityReport: missing {sorted(wanted - set(data))}, "
                f"unknown {sorted(set(data) - wanted)}; was it written by another version?"
            )
        floor, top5, corrections = (
            data[name] for name in ("floor_permutation", "accuracy_top5", "corrections")
        )
        geometry, diversity = data["geometry"], data["diversity"]
        parts = {
            "accuracy": tuple(Interval.from_json(part) for part in data["accuracy"]),
            "accuracy_per_class": tuple(Interval.from_json(part) for part in data["accuracy_per_class"]),
            "recoverability": tuple(_interval(part) for part in data["recoverability"]),
            "r_any": _interval(data["r_any"]),
            "oracle": Interval.from_json(data["oracle"]),
            "gap": _interval(data["gap"]),
            "gap_last": Interval.from_json(data["gap_last"]),
            "floor_permutation": None if floor is None else PermutationFloor(**floor),
            "accuracy_top5": None if top5 is None else tuple(Interval.from_json(part) for part in top5),
            "corrections": None
            if corrections is None
            else {rule: Corrections.from_json(part) for rule, part in corrections.items()},
            "geometry": None if geometry is None else GeometricDisagreement.from_json(geometry),
            "diversity": None if diversity is None else Diversity.from_json(diversity),
        }
        return cls(**{**data, **parts})


def _interval(data: dict[str, Any] | None) -> Interval | None:
    return None if data is None else Interval.from_json(data)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, Interval | Corrections | GeometricDisagreement | Diversity):
        return value.to_json()
    if isinstance(value, PermutationFloor):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value
