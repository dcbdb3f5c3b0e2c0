"""What a fitted classifier costs on top of the backbone: parameters, operations, measured time.   b = rows of a batch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.fusion.backbone_rows import BackboneRows
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.probes.layers import Features, RowSource, TensorLayers
from vitgeom.probes.row_access import read_rows


@dataclass(frozen=True)
class MethodCost:
    """Cost per image of one classifier.

    Attributes:
        name: Of the method.
        parameters: Fitted weights and biases that a prediction uses.
        flops_per_image: Operations, a multiplication and an addition counted as two; exponentials not counted.
        backbone_passes: Passes that its features took: 1, or one per backbone.
        seconds_per_image: Median over the timed calls, features in memory.
        batch_size: Rows of a call.
        calls: Timed calls, after one that is not timed.
    """

    name: str
    parameters: int
    flops_per_image: int
    backbone_passes: int
    seconds_per_image: float
    batch_size: int
    calls: int

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MethodCost:
        """Rebuild from :meth:`to_json`.

        Args:
            data: The JSON object.

        Raises:
            InvalidInput: Keys are missing or unknown.
        """
        wanted = {item.name for item in fields(cls)}
        if set(data) != wanted:
            raise InvalidInput(
                f"data must hold exactly the fields of MethodCost: missing {sorted(wanted - set(data))}, unknown "
                f"{sorted(set(data) - wanted)}; was it written by another version?"
            )
        return cls(**data)


def measure_cost(
    estimator: LayerClassifier,
    X: Features | Sequence[Features],
    *,
    name: str,
    backbone_passes: int = 1,
    batch_size: int = 256,
    calls: int = 7,
) -> MethodCost:
    """Return what predicting costs.

    The first ``batch_size`` rows (all, if there are fewer) are read into memory before the clock starts.

    Args:
        estimator: Fitted.
        X: What it predicts on: features of one backbone, or a list of several for the horizontal method.
        name: Of the method.
        backbone_passes: Passes behind the features.
        batch_size: Rows per call.
        calls: Timed calls.

    Raises:
        InvalidInput: ``batch_size``, ``calls`` or ``backbone_passes`` is below 1, or features of another backbone.
        NotFittedError: Not fitted yet.
    """
    for argument, value in (
        ("batch_size", batch_size),
        ("calls", calls),
        ("backbone_passes", backbone_passes),
    ):
        if value < 1:
            raise InvalidInput(f"{argument} must be >= 1, got {value}.")
    held = _held(estimator._checked_rows(X), batch_size=batch_size)  # type: ignore[arg-type]
    seconds = [_seconds(estimator, held) for _ in range(calls + 1)][1:]
    return MethodCost(
        name=name,
        parameters=estimator.num_parameters(),
        flops_per_image=estimator.flops_per_row(),
        backbone_passes=backbone_passes,
        seconds_per_image=statistics.median(seconds) / held.num_rows,
        batch_size=held.num_rows,
        calls=calls,
    )


def _held(rows: RowSource, *, batch_size: int) -> BackboneRows:
    """Return the first rows in memory, one block per layer, since widths may differ."""
    count = min(batch_size, rows.num_rows)
    return BackboneRows(
        [
            TensorLayers(read_rows(rows, layer, 0, count, name="X").clone()[:, None])
            for layer in range(rows.num_layers)
        ]
    )


def _seconds(estimator: LayerClassifier, rows: RowSource) -> float:
    start = time.perf_counter()
    for _ in estimator._log_proba_blocks(rows):
        pass
    return time.perf_counter() - start
