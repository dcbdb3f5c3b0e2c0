"""How methods compare on the same test samples.   n = samples, R = seeds, L = layers, M = methods, C = classes present."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from vitgeom.bootstrap import Interval, bootstrap_intervals
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.recoverability.gap import gap_closure
from vitgeom.seeding import generator_for
from vitgeom.significance import mcnemar

Indices = Tensor | np.ndarray | Sequence[Any]


@dataclass(frozen=True)
class MethodScore:
    """One row of the table; a method that was fitted with several seeds counts by its mean over them.

    Attributes:
        name: Of the method.
        accuracy: Test accuracy with its bootstrap 95 % interval over samples.
        accuracy_per_class: Mean over present classes of the accuracy within the class.
        difference: Accuracy minus the reference's, with a paired bootstrap 95 % interval; None for the reference itself.
        mcnemar_p: Exact two-sided p of the first seeds' predictions; None for the reference itself.
        gap_closure: (acc - acc_best_layer) / (acc_oracle - acc_best_layer); None where the two agree.
        seed_accuracies: Accuracy of each seed; one entry for a method without randomness.
        seed_deviation: Sample standard deviation over seeds; None with a single one.
    """

    name: str
    accuracy: Interval
    accuracy_per_class: float
    difference: Interval | None
    mcnemar_p: float | None
    gap_closure: float | None
    seed_accuracies: tuple[float, ...]
    seed_deviation: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain JSON."""
        return {**asdict(self), "seed_accuracies": list(self.seed_accuracies)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MethodScore:
        """Rebuild from :meth:`to_json`.

        Args:
            data: The JSON object.

        Raises:
            InvalidInput: Keys are missing or unknown.
        """
        _check_fields(cls, data)
        difference = data["difference"]
        parts = {
            "accuracy": Interval.from_json(data["accuracy"]),
            "difference": None if difference is None else Interval.from_json(difference),
            "seed_accuracies": tuple(data["seed_accuracies"]),
        }
        return cls(**{**data, **parts})


@dataclass(frozen=True)
class Comparison:
    """The table.

    Attributes:
        num_samples: n.
        reference: Name of the method that differences are taken to.
        oracle: Share of samples that at least one layer's probe gets right.
        best_layer_accuracy: Test accuracy of the layer that validation chose.
        num_bootstrap: Resamples behind each interval.
        rows: In the order given.
    """

    num_samples: int
    reference: str
    oracle: float
    best_layer_accuracy: float
    num_bootstrap: int
    rows: tuple[MethodScore, ...]

    def row(self, name: str) -> MethodScore:
        """Return the row of one method.

        Args:
            name: Of the method.

        Raises:
            UnknownName: No such row.
        """
        found = {row.name: row for row in self.rows}
        if name not in found:
            raise UnknownName("method", name, found)
        return found[name]

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain JSON."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**plain, "rows": [row.to_json() for row in self.rows]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Comparison:
        """Rebuild from :meth:`to_json`.

        Args:
            data: The JSON object.

        Raises:
            InvalidInput: Keys are missing or unknown.
        """
        _check_fields(cls, data)
        return cls(**{**data, "rows": tuple(MethodScore.from_json(row) for row in data["rows"])})


def compare(
    predictions: Mapping[str, Indices],
    target: Indices,
    *,
    layer_predictions: Indices,
    best_layer: int,
    reference: str = "vfusion",
    seed: int,
    num_resamples: int = 1000,
) -> Comparison:
    """Return accuracies, paired differences and gap closure of all methods.

    All methods share the resamples, so that what they have in common cancels in the differences.

    Args:
        predictions: Class indices on the test samples, by method, ``[R, n]``: one line per seed; tensors, arrays or lists of integers.
        target: Class indices ``[n]``, -1 for a class that training never showed.
        layer_predictions: Those of each layer's probe, ``[L, n]``.
        best_layer: Chosen on validation, from 0.
        reference: Which method differences are taken to.
        seed: Decides the resamples.
        num_resamples: How many.

    Raises:
        UnknownName: The reference is none of the methods.
        InvalidInput: Something else than integers, predictions for another number of samples, no samples, or a layer that is not there.
    """
    if reference not in predictions:
        raise UnknownName("reference method", reference, predictions)
    target = _indices(target, name="target", dims="n")
    layer_predictions = _indices(layer_predictions, name="layer_predictions", dims="L, n")
    found = {name: _indices(given, name=name, dims="seeds, n") for name, given in predictions.items()}
    _check_sizes(found, target, layer_predictions=layer_predictions, best_layer=best_layer)
    right = {name: given == target for name, given in found.items()}
    mean = torch.stack([part.double().mean(dim=0) for part in right.values()], dim=1)
    base = list(predictions).index(reference)
    columns = torch.cat([mean, mean - mean[:, base : base + 1]], dim=1)
    intervals = bootstrap_intervals(
        columns, num_resamples=num_resamples, generator=generator_for(seed, "comparison")
    )
    layers_right = layer_predictions == target
    oracle = float(layers_right.any(dim=0).double().mean())
    best = float(layers_right[best_layer].double().mean())
    rows = []
    for number, (name, part) in enumerate(right.items()):
        same, seeds = name == reference, part.double().mean(dim=1).tolist()
        rows.append(
            MethodScore(
                name=name,
                accuracy=intervals[number],
                accuracy_per_class=_per_class(mean[:, number], target),
                difference=None if same else intervals[len(right) + number],
                mcnemar_p=None if same else mcnemar(part[0], right[reference][0]).p,
                gap_closure=gap_closure(intervals[number].value, best, oracle),
                seed_accuracies=tuple(seeds),
                seed_deviation=statistics.stdev(seeds) if len(seeds) > 1 else None,
            )
        )
    return Comparison(len(target), reference, oracle, best, num_resamples, tuple(rows))


def _per_class(right: Float64[Tensor, " n"], target: Int64[Tensor, " n"]) -> float:
    _, place, counts = torch.unique(target, return_inverse=True, return_counts=True)
    sums = torch.zeros(len(counts), dtype=torch.float64).index_add_(0, place, right)
    return float((sums / counts).mean())


def _indices(given: object, *, name: str, dims: str) -> Int64[Tensor, ...]:
    """Return class indices as a tensor on the CPU."""
    try:
        found = given if isinstance(given, Tensor) else torch.from_numpy(np.array(given))
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name} must hold integers, got a {type(given).__name__} of something else; np.searchsorted(classes_, labels) gives class indices."
        ) from None
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        raise InvalidInput(f"{name} must hold integers, got {found.dtype}.")
    if found.ndim != len(dims.split(",")):
        raise InvalidInput(
            f"{name} must have shape [{dims}], got {list(found.shape)}; one line alone is {name}[None]."
        )
    return found.detach().cpu().long()


def _check_sizes(
    predictions: Mapping[str, Tensor], target: Tensor, *, layer_predictions: Tensor, best_layer: int
) -> None:
    for name, given in (*predictions.items(), ("layer_predictions", layer_predictions)):
        if given.shape[1] != len(target) or not len(given):
            raise InvalidInput(
                f"predictions must have shape [seeds, {len(target)}], one column per label, got {list(given.shape)} for {name}."
            )
    if not 0 <= best_layer < len(layer_predictions):
        raise InvalidInput(f"best_layer must lie in 0..{len(layer_predictions) - 1}, got {best_layer}.")


def _check_fields(cls: type, data: Mapping[str, Any]) -> None:
    wanted = {item.name for item in fields(cls)}
    if set(data) != wanted:
        raise InvalidInput(
            f"data must hold exactly the fields of {cls.__name__}: missing {sorted(wanted - set(data))}, unknown "
            f"{sorted(set(data) - wanted)}; was it written by another version?"
        )
