"""Softmax regression on standardised layers side by side.

n = rows, b = rows of a block, S = chosen layers, W = width of the concatenation, P = strengths, K = classes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.compression import PrincipalAxes, principal_axes
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.exact_axes import exact_axes
from vitgeom.fusion.layerwise import LayerwiseClassifier
from vitgeom.fusion.linear_maps import LinearMaps
from vitgeom.fusion.linear_path import LinearPath, fit_penalised_linear
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.fusion.staged_rows import SHARE, release, staged
from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, fits_in_memory
from vitgeom.probes.objective import cross_entropy
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.selection import choose_strength
from vitgeom.seeding import generator_for

CONCAT_L2_GRID: tuple[float, ...] = tuple(float(f"{10 ** (-3 + 0.75 * step):.6g}") for step in range(8))
"""Eight strengths from 1e-3 to 178: a concatenation has S times the variance of one layer."""

_GRID_TOL, _FINAL_TOL = 1e-3, 1e-6


@dataclass(frozen=True, eq=False)
class LinearConcat:
    """The model that validation chose.

    Attributes:
        weight: On standardised features side by side.
        bias: Intercepts.
        l2: Its strength.
    """

    weight: Float64[Tensor, "W K"]
    bias: Float64[Tensor, " K"]
    l2: float


class ConcatenationClassifier(LayerwiseClassifier):
    """Base: subclasses say which layers.

    Up to ``max_components`` axes the optimum is that of all columns; of more the leading ones are kept, since directions of least
    variance say least under a penalty.
    """

    l2_: float
    _NUMBERS: ClassVar[tuple[str, ...]] = ("l2_",)

    def __init__(
        self, *, l2: Sequence[float] = CONCAT_L2_GRID, max_components: int = 4096, seed: int = 0
    ) -> None:
        """Store parameters.

        Args:
            l2: Strengths that validation chooses from.
            max_components: Most principal axes; with fewer training rows or columns nothing is left out.
            seed: Decides what is held out where no validation rows are given, and the sketch beyond ``max_components``.
        """
        super().__init__(seed=seed)
        self.l2 = l2
        self.max_components = max_components

    def _fit(self, evidence: Evidence) -> None:
        l2 = _strengths(self.l2).tolist()
        layers = self._layers(evidence.data.train.num_layers)
        scalers = tuple(evidence.probe(layer).standardiser for layer in layers)
        ones = torch.ones(len(layers), dtype=torch.float64)
        found = fit_concatenation(
            ScaledRows(evidence.data.train, layers, scalers, ones),
            evidence.data.target,
            val=ScaledRows(evidence.data.val, layers, scalers, ones),
            val_target=evidence.data.val_target,
            num_classes=evidence.data.num_classes,
            l2=l2,
            max_components=self.max_components,
            seed=self.seed,
            byte_budget=evidence.byte_budget,
        )
        self.l2_ = found.l2
        parts = found.weight.split([len(scaler.mean) for scaler in scalers])
        # The sum over layers is the score; which layer holds the bias makes no difference.
        biases = (found.bias, *(torch.zeros_like(found.bias) for _ in layers[1:]))
        self.maps_ = LinearMaps(layers, scalers, tuple(part.clone() for part in parts), biases)

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        return torch.log_softmax(scores.sum(dim=1), dim=1)

    def _own_parameters(self) -> int:
        return -(len(self.maps_.layers) - 1) * self.maps_.num_classes

    def _own_flops(self) -> int:
        return 0

    @abstractmethod
    def _layers(self, num_layers: int) -> tuple[int, ...]:
        """Return which layers stand side by side."""


def fit_concatenation(
    train: ScaledRows,
    target: Int64[Tensor, " n"],
    *,
    val: ScaledRows,
    val_target: Int64[Tensor, " m"],
    num_classes: int,
    l2: Sequence[float],
    max_components: int,
    seed: int,
    byte_budget: int = DEFAULT_BYTE_BUDGET,
) -> LinearConcat:
    """Fit softmax regression with every strength and keep the one with the least validation log-loss.

    Args:
        train: Training rows.
        target: Class indices.
        val: Validation rows.
        val_target: Their class indices; rows of an unknown class are left out, they cost every strength the same.
        num_classes: K.
        l2: Strengths, > 0.
        max_components: Most principal axes.
        seed: Of the sketch beyond ``max_components``.
        byte_budget: Memory to aim for; coordinates are put into files if they do not fit.

    Raises:
        InvalidInput: No strength, one that is not positive, or ``max_components`` < 1.
    """
    strengths = _strengths(l2)
    if max_components < 1:
        raise InvalidInput(f"max_components must be >= 1, got {max_components}.")
    axes = _axes(train, max_components=max_components, seed=seed)
    features = _features(axes, train, problems=len(strengths) * num_classes, byte_budget=byte_budget)

    def path(some: Float64[Tensor, " P"], tol: float, start: LinearPath | None = None) -> LinearPath:
        return fit_penalised_linear(
            features,
            target,
            variances=axes.variances,
            num_classes=num_classes,
            l2=some,
            tol=tol,
            start=start,
            byte_budget=byte_budget,
        )

    rough = path(strengths, _GRID_TOL)
    chosen = choose_strength(_losses(rough, axes, val, val_target))
    final = path(strengths[chosen, None], _FINAL_TOL, rough.of(chosen))
    release(features)
    return LinearConcat(axes.directions.double() @ final.weight[0], final.bias[0], float(strengths[chosen]))


def _axes(rows: ScaledRows, *, max_components: int, seed: int) -> PrincipalAxes:
    if min(rows.num_rows, rows.width) <= max_components:
        return exact_axes(rows)
    return principal_axes(rows, components=max_components, generator=generator_for(seed, "concatenation"))


def _features(
    axes: PrincipalAxes, rows: ScaledRows, *, problems: int, byte_budget: int
) -> Float32[Tensor, "n q"] | RowFile:
    """Return the coordinates with a last column of ones, in a file where solving in memory exceeds the budget."""
    rank, num_rows = axes.directions.shape[1], rows.num_rows
    in_memory = fits_in_memory(
        num_rows=num_rows, width=max(1, rank), num_classes=problems, byte_budget=byte_budget
    )
    return staged(
        (_with_ones(block @ axes.directions) for _, block in rows.blocks()),
        num_rows=num_rows,
        width=rank + 1,
        # All of the budget or nothing of it: this array is what the solver works on.
        byte_budget=SHARE * byte_budget if in_memory else 0,
    )


def _with_ones(x: Float32[Tensor, "b r"]) -> Float32[Tensor, "b q"]:
    return torch.cat([x, torch.ones(len(x), 1)], dim=1)


def _losses(
    path: LinearPath, axes: PrincipalAxes, rows: ScaledRows, target: Int64[Tensor, " m"]
) -> Float64[Tensor, " P"]:
    """Return the mean loss of every strength over rows of a known class; 0 where there is none."""
    known, total = target != UNKNOWN_CLASS, torch.zeros(len(path.l2), dtype=torch.float64)
    for where, block in rows.blocks():
        here = known[where]
        x, truth = (block @ axes.directions)[here], target[where][here]
        # As many scores at a time as a block has features.
        for part in torch.arange(len(x)).split(max(1, len(x) * rows.width // path.bias.numel())):
            total += cross_entropy(path.logits(x[part]), truth[part])[0].sum(dim=0)
    return total / max(1, int(known.sum()))


def _strengths(l2: Any) -> Float64[Tensor, " P"]:
    try:
        strengths = torch.tensor([float(one) for one in l2], dtype=torch.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"l2 must be a list of positive finite strengths, got {l2!r}.") from None
    if not len(strengths) or not bool(((strengths > 0) & torch.isfinite(strengths)).all()):
        raise InvalidInput(f"l2 must hold positive finite strengths, got {list(l2)}.")
    return strengths
