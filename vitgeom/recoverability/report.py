"""The recoverability of one dataset and backbone, as plain numbers.   L = layers, K = classes, E = last-layer errors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput


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
        floor = data["floor_permutation"]
        parts = {
            "accuracy": tuple(Interval.from_json(part) for part in data["accuracy"]),
            "accuracy_per_class": tuple(Interval.from_json(part) for part in data["accuracy_per_class"]),
            "recoverability": tuple(_interval(part) for part in data["recoverability"]),
            "r_any": _interval(data["r_any"]),
            "oracle": Interval.from_json(data["oracle"]),
            "gap": _interval(data["gap"]),
            "gap_last": Interval.from_json(data["gap_last"]),
            "floor_permutation": None if floor is None else PermutationFloor(**floor),
        }
        return cls(**{**data, **parts})


def _interval(data: dict[str, Any] | None) -> Interval | None:
    return None if data is None else Interval.from_json(data)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Interval):
        return value.to_json()
    if isinstance(value, PermutationFloor):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value
